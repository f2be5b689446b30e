// COLUMNS accumulators side by side. Each clock, one input meets one weight of each column:
// a[n] += (x - z_x) * w[n]   (eq-linear-accumulator; the zero points of the weights are 0)
module mac_array #(
    parameter COLUMNS = 8
) (
    input  wire                  clock,
    input  wire                  clear,
    input  wire [           7:0] x,
    input  wire signed [31:0]    x_zero_point,
    input  wire [ 8*COLUMNS-1:0] weights,
    output reg  [32*COLUMNS-1:0] accumulators
);
  wire signed [8:0] centred = $signed({1'b0, x}) - x_zero_point;

  genvar n;
  generate
    for (n = 0; n < COLUMNS; n = n + 1) begin : column
      wire signed [ 7:0] weight = weights[8*n+:8];
      wire signed [31:0] before = accumulators[32*n+:32];
      always @(posedge clock) accumulators[32*n+:32] <= clear ? 32'sd0 : before + centred * weight;
    end
  endgenerate
endmodule
