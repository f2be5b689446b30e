/* The equations of pyqref.numerics, in float32.

Math.fround rounds a double to float32. A sum, a product or a quotient of two float32 numbers that
is worked out in double and then rounded is the one that float32 arithmetic gives. Every function
names the label of its equation; tests compare all of them with Python. */
"use strict";
window.pyqrefFigures = window.pyqrefFigures || {};
(function (P) {
  const f32 = Math.fround;
  const EPS = 2 ** -23;
  const view = new DataView(new ArrayBuffer(8));

  /* eq-round-half-even: a sum of this size has no room for a fraction, and ties go to even. */
  function roundHalfEven(x) {
    const large = 1.5 * 2 ** 52;
    return Math.abs(x) < 2 ** 51 ? x + large - large : x;
  }

  /* eq-round-half-away */
  function roundHalfAway(x) {
    const size = Math.abs(x), whole = Math.floor(size);
    return Math.sign(x) * (whole + (size - whole >= 0.5 ? 1 : 0)) + 0;
  }

  /* eq-fma: the sum in double is rounded to odd, then once to float32. */
  function fma(a, b, c) {
    const product = f32(a) * f32(b), addend = f32(c), total = product + addend;
    const back = total - product;
    const error = (product - (total - back)) + (addend - back);
    if (!Number.isFinite(total) || error === 0) return f32(total);
    view.setFloat64(0, total);
    const bits = view.getBigInt64(0);
    if ((bits & 1n) === 0n) view.setBigInt64(0, (error > 0) === (total > 0) ? bits + 1n : bits - 1n);
    return f32(view.getFloat64(0));
  }

  /* eq-saturate; adding 0 leaves no negative zero. */
  function saturate(v, low, high) {
    return Math.min(Math.max(v, low), high) + 0;
  }

  /* eq-reciprocal */
  function reciprocal(scale) {
    return f32(1 / f32(scale));
  }

  /* eq-affine-quantize */
  function quantize(x, scale, zeroPoint, low, high) {
    return saturate(roundHalfEven(fma(x, reciprocal(scale), zeroPoint)), low, high);
  }

  /* eq-affine-quantize-channel */
  function quantizeChannel(x, scale, zeroPoint, low, high) {
    return saturate(roundHalfEven(f32(f32(x * reciprocal(scale)) + zeroPoint)), low, high);
  }

  /* eq-affine-dequantize */
  function dequantize(q, scale, zeroPoint) {
    return f32((q - zeroPoint) * f32(scale));
  }

  /* eq-symmetric-scale */
  function symmetricScale(low, high, quantMin, quantMax) {
    const largest = Math.max(-Math.min(f32(low), 0), Math.max(f32(high), 0));
    return Math.max(f32(largest / f32((quantMax - quantMin) / 2)), EPS);
  }

  /* eq-affine-qparams */
  function affineQparams(low, high, quantMin, quantMax) {
    const below = Math.min(f32(low), 0), above = Math.max(f32(high), 0);
    const scale = Math.max(f32(f32(above - below) / f32(quantMax - quantMin)), EPS);
    const steps = roundHalfEven(f32(below / scale));
    return { scale, zeroPoint: saturate(quantMin - steps, quantMin, quantMax) };
  }

  /* eq-choose-qparams, as the documentation has it: a range of one point gives 1 and 0. */
  function chooseQparams(low, high, quantMin, quantMax, symmetric) {
    if (f32(low) >= f32(high)) return { scale: 1, zeroPoint: 0 };
    if (!symmetric) return affineQparams(low, high, quantMin, quantMax);
    return { scale: symmetricScale(low, high, quantMin, quantMax), zeroPoint: 0 };
  }

  /* eq-accumulator-scale, eq-multiplier-fbgemm, eq-multiplier-qnnpack, eq-bias-integer,
  eq-requantize-bias and eq-requantize, one after the other. */
  function requantize(accumulator, given) {
    const { inputScale, weightScale, outputScale, outputZeroPoint, bias, arithmetic, relu } = given;
    const unit = f32(f32(inputScale) * f32(weightScale));
    let multiplier, term, sum;
    if (arithmetic === "qnnpack") {
      multiplier = f32(unit * reciprocal(outputScale));
      term = roundHalfEven(f32(f32(bias) * reciprocal(inputScale * weightScale)));
      term = saturate(term, -(2 ** 31), 2 ** 31 - 1);
      sum = f32(accumulator + term);
    } else {
      multiplier = f32(unit / f32(outputScale));
      if (arithmetic === "channel") {
        term = f32(f32(bias) / unit);
        sum = f32(f32(accumulator) + term);
      } else {
        term = f32(1 / unit);
        sum = fma(bias, term, accumulator);
      }
    }
    const value = f32(sum * multiplier);
    const rounded = roundHalfEven(value) + 0;
    const lower = relu ? Math.max(0, outputZeroPoint) : 0;
    const shifted = rounded + outputZeroPoint;
    const q = saturate(shifted, lower, 255);
    return { unit, multiplier, term, sum, value, rounded, shifted, lower, q };
  }

  /* eq-fake-quantize and eq-fake-quantize-mask, as the documentation has them. */
  function fakeQuantize(x, scale, zeroPoint, low, high) {
    const v = roundHalfEven(fma(x, reciprocal(scale), zeroPoint));
    const y = f32((saturate(v, low, high) - zeroPoint) * f32(scale)) + 0;
    return { y, inside: v >= low && v <= high };
  }

  P.numerics = {
    f32, EPS, roundHalfEven, roundHalfAway, fma, saturate, reciprocal, quantize, quantizeChannel,
    dequantize, symmetricScale, affineQparams, chooseQparams, requantize, fakeQuantize,
  };
})(window.pyqrefFigures);
