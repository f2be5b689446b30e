// A linear layer in hardware: read the golden vectors, compute, compare, write what came out.
module layer_tb;
  parameter ROWS = 1, LENGTH = 1, COLUMNS = 1;
  parameter X_ZERO_POINT = 0, Y_ZERO_POINT = 0, LOW = 0, HIGH = 255;

  reg [7:0] x[0:ROWS*LENGTH-1], weight[0:COLUMNS*LENGTH-1];
  reg [7:0] expected[0:ROWS*COLUMNS-1], got[0:ROWS*COLUMNS-1];
  reg signed [31:0] bias[0:COLUMNS-1], multiplier[0:COLUMNS-1], exponent[0:COLUMNS-1];
  reg [31:0] sums[0:ROWS*COLUMNS-1];

  reg clock = 0, clear = 0;
  reg [7:0] element;
  reg [8*COLUMNS-1:0] weights;
  wire [32*COLUMNS-1:0] accumulators;
  mac_array #(
      .COLUMNS(COLUMNS)
  ) array (
      clock,
      clear,
      element,
      X_ZERO_POINT,
      weights,
      accumulators
  );

  wire [8*COLUMNS-1:0] outputs;
  genvar n;
  generate
    for (n = 0; n < COLUMNS; n = n + 1) begin : column
      wire signed [31:0] accumulator = accumulators[32*n+:32];
      requantize requantize (
          accumulator + bias[n],
          multiplier[n],
          exponent[n],
          Y_ZERO_POINT,
          LOW,
          HIGH,
          outputs[8*n+:8]
      );
    end
  endgenerate

  reg [8*512-1:0] path;
  integer row, place, channel, equal;
  initial begin
    if ($value$plusargs("input=%s", path)) $readmemh(path, x);
    if ($value$plusargs("weight=%s", path)) $readmemh(path, weight);
    if ($value$plusargs("bias=%s", path)) $readmemh(path, bias);
    if ($value$plusargs("multiplier=%s", path)) $readmemh(path, multiplier);
    if ($value$plusargs("exponent=%s", path)) $readmemh(path, exponent);
    if ($value$plusargs("output=%s", path)) $readmemh(path, expected);
    equal = 0;
    for (row = 0; row < ROWS; row = row + 1) begin
      clear = 1;
      #1 clock = 1;
      #1 clock = 0;
      clear = 0;
      for (place = 0; place < LENGTH; place = place + 1) begin
        element = x[row*LENGTH+place];
        for (channel = 0; channel < COLUMNS; channel = channel + 1)
        weights[8*channel+:8] = weight[channel*LENGTH+place];
        #1 clock = 1;
        #1 clock = 0;
      end
      #1;
      for (channel = 0; channel < COLUMNS; channel = channel + 1) begin
        sums[row*COLUMNS+channel] = accumulators[32*channel+:32];
        got[row*COLUMNS+channel]  = outputs[8*channel+:8];
        if (got[row*COLUMNS+channel] === expected[row*COLUMNS+channel]) equal = equal + 1;
      end
    end
    if ($value$plusargs("got_accumulator=%s", path)) $writememh(path, sums);
    if ($value$plusargs("got_output=%s", path)) $writememh(path, got);
    $display("%0s: %0d of %0d outputs are equal", equal == ROWS * COLUMNS ? "PASS" : "FAIL", equal,
             ROWS * COLUMNS);
    $finish;
  end
endmodule
