// One accumulator becomes one stored integer: the arithmetic "tflite" of pyqref, without reals.
//
// Equation eq-multiply-rounded-twice: the upper half of a product, its ties rounded up, then a
// shift to the right, its ties rounded away from zero. Then zero point and clamp.
module requantize (
    input  wire signed [31:0] total,       // accumulator and bias
    input  wire signed [31:0] multiplier,  // 31 bits, from 2**30 up
    input  wire signed [31:0] exponent,    // at most 0: places to the right
    input  wire signed [31:0] zero_point,
    input  wire signed [31:0] low,
    input  wire signed [31:0] high,
    output wire        [ 7:0] q
);
  wire signed [63:0] product = total * multiplier;
  wire signed [63:0] nudged = product + 64'sd1073741824;
  wire signed [63:0] upper = nudged >>> 31;

  wire [5:0] places = -exponent;
  wire signed [63:0] half = (64'sd1 <<< places) >>> 1;
`ifdef HALF_UP
  // The planted fault: ties go up, as they do in the first rounding.
  wire signed [63:0] rounded = (upper + half) >>> places;
`else
  wire signed [63:0] magnitude = upper < 0 ? -upper : upper;
  wire signed [63:0] shifted = (magnitude + half) >>> places;
  wire signed [63:0] rounded = upper < 0 ? -shifted : shifted;
`endif

  wire signed [63:0] moved = rounded + zero_point;
  wire signed [63:0] clamped = moved < low ? low : moved > high ? high : moved;
  assign q = clamped[7:0];
endmodule
