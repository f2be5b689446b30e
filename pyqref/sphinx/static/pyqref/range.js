/* A range, the integers that cover it, and the error of every number. */
"use strict";
(function (P) {
  const { f32, chooseQparams, quantize, dequantize } = P.numerics;
  const { line, path, rect, circle, text, axes, panel, few, say } = P.drawing;
  const ENDS = [-4, 4];

  /* Forty-one numbers, close together around zero. */
  const data = Array.from({ length: 41 }, (_, k) => {
    const t = (k - 20) / 20;
    return f32(1.5 * t * (0.5 + t * t));
  });

  function numbers(state) {
    const { low, high, bits, scheme, outlier, x } = state;
    const symmetric = scheme === "symmetric";
    const quantMin = symmetric ? -(2 ** (bits - 1)) : 0;
    const quantMax = quantMin + 2 ** bits - 1;
    const largest = Math.max(high, outlier);
    const { scale, zeroPoint } = chooseQparams(low, largest, quantMin, quantMax, symmetric);
    const q = quantize(x, scale, zeroPoint, quantMin, quantMax);
    const stands = dequantize(q, scale, zeroPoint);
    let sum = 0;
    for (const each of data) {
      const back = dequantize(quantize(each, scale, zeroPoint, quantMin, quantMax), scale, zeroPoint);
      sum += (back - each) * (back - each);
    }
    const ends = [dequantize(quantMin, scale, zeroPoint), dequantize(quantMax, scale, zeroPoint)];
    const rms = Math.sqrt(sum / data.length);
    return { ...state, quantMin, quantMax, largest, scale, zeroPoint, q, stands, error: stands - f32(x),
      rms, ends };
  }

  function draw(n, width) {
    const left = 44, inner = width - left - 12;
    const { scale, zeroPoint, quantMin, quantMax } = n;
    const back = (x) => dequantize(quantize(x, scale, zeroPoint, quantMin, quantMax), scale, zeroPoint);
    const upper = axes({ left, top: 30, width: inner, height: 240, across: ENDS, up: ENDS,
      xTicks: [], yTicks: [-4, -2, 0, 2, 4], yLabel: say`the number that its integer stands for` });
    const most = Math.max(0.5, 0.6 * scale);
    const lower = axes({ left, top: 320, width: inner, height: 110, across: ENDS, up: [-most, most],
      xTicks: [-4, -2, 0, 2, 4],
      yTicks: most > 0.5 ? undefined : [-0.5, 0, 0.5], yLabel: say`error`, xLabel: say`real number x` });
    let svg = upper.svg + lower.svg;
    for (const { top, height, X } of [{ top: 30, height: 240, ...upper }, { top: 320, height: 110, ...lower }]) {
      const [a, b] = n.ends.map((each) => Math.min(Math.max(each, ENDS[0]), ENDS[1]));
      svg += rect(left, top, X(a) - left, height, "pq-clipped");
      svg += rect(X(b), top, X(ENDS[1]) - X(b), height, "pq-clipped");
    }
    svg += line(upper.X(-4), upper.Y(-4), upper.X(4), upper.Y(4), "pq-dash");
    for (const side of [-0.5, 0.5]) {
      const y = lower.Y(side * scale);
      svg += line(left, y, left + inner, y, "pq-dash");
    }
    const stairs = [], teeth = [];
    const clip = (y, most) => Math.min(Math.max(y, -most), most);
    for (let pixel = 0; pixel <= 2 * inner; pixel++) {
      const x = ENDS[0] + ((ENDS[1] - ENDS[0]) * pixel) / (2 * inner), y = back(x);
      const before = stairs[stairs.length - 1];
      if (before && before[2] !== y) {
        stairs.push([upper.X(x), before[1], y]);
      }
      stairs.push([upper.X(x), upper.Y(y), y]);
      teeth.push([lower.X(x), lower.Y(y - x)]);
    }
    svg += panel(left, 320, inner, 110, path(teeth, "pq-line pq-c"));
    svg += panel(left, 30, inner, 240, path(stairs, "pq-line pq-a"));
    if (upper.X(scale) - upper.X(0) > 18) {
      for (let q = quantMin; q <= quantMax; q++) {
        const y = dequantize(q, scale, zeroPoint);
        if (Math.abs(y) <= 3.9) svg += text(upper.X(y), upper.Y(y) - 6, few(q), "pq-small pq-a", "middle");
      }
    }
    for (const each of data) {
      svg += line(lower.X(each), 430, lower.X(each), 422, "pq-rug");
    }
    if (n.outlier > 0) {
      const place = Math.min(n.outlier, 4), beyond = n.outlier > 4;
      svg += text(lower.X(place) - 8, 416, beyond ? say`outlier ${n.outlier} →` : say`outlier`,
        "pq-small pq-b", "end");
      svg += line(lower.X(place), 430, lower.X(place), 408, "pq-line pq-b");
    }
    const [px, py] = [upper.X(n.x), upper.Y(clip(n.stands, 4))];
    svg += line(px, 270, px, py, "pq-line pq-b") + line(px, py, left, py, "pq-line pq-b");
    svg += line(px, lower.Y(0), px, lower.Y(clip(n.error, most)), "pq-line pq-b");
    svg += circle(px, py, 5, "pq-dot pq-b") + circle(px, lower.Y(clip(n.error, most)), 5, "pq-dot pq-b");
    return { svg, height: 474, describe: say`Staircase of ${n.quantMax - n.quantMin + 1} integers, each
      ${few(scale)} wide, and below it the error, between minus and plus ${few(scale / 2)} inside of
      ${few(n.ends[0])} to ${few(n.ends[1])}.` };
  }

  function sentence(n) {
    const kind = f32(n.x) < n.ends[0] - n.scale / 2 || f32(n.x) > n.ends[1] + n.scale / 2
      ? say` It lies outside of the range and is clipped.` : "";
    return say`${few(n.x)} becomes the integer ${few(n.q)}, which stands for ${few(n.stands)}: an error of
      ${few(n.error, 3)}, where a step is ${few(n.scale)}.${kind} Over the 41 numbers marked below, the
      root mean square error is ${few(n.rms, 3)}.`;
  }

  P.figures = P.figures || {};
  P.figures.range = {
    controls: [
      { name: "x", label: say`number x`, min: -4, max: 4, step: 0.01, value: 0.8 },
      { name: "bits", label: say`bits`, min: 2, max: 8, step: 1, value: 3 },
      { name: "low", label: say`smallest number seen`, min: -4, max: 0, step: 0.05, value: -2.25 },
      { name: "high", label: say`largest number seen`, min: 0, max: 4, step: 0.05, value: 2.25 },
      { name: "outlier", label: say`one outlier`, min: 0, max: 40, step: 0.5, value: 0,
        words: (value) => (value ? String(value) : say`none`) },
      { name: "scheme", label: say`scheme`, value: "affine",
        options: [["affine", say`affine, unsigned`], ["symmetric", say`symmetric, signed`]] },
    ],
    numbers, draw, sentence,
    drag: (n, x, y, width) => ({ x: Math.min(Math.max(-4 + (8 * (x - 44)) / (width - 56), -4), 4).toFixed(2) }),
    rows: (n) => [
      [say`range of the integers`, "range", [n.quantMin, n.quantMax]],
      [say`scale s`, "scale", [n.scale]],
      [say`zero point z`, "zero_point", [n.zeroPoint]],
      [say`real numbers at both ends`, "ends", n.ends],
      [say`integer q of x`, "q", [n.q]],
      [say`it stands for s (q − z)`, "stands", [n.stands]],
      [say`error`, "error", [n.error]],
      [say`root mean square error of 41 numbers`, "rms", [n.rms]],
    ],
  };
})(window.pyqrefFigures);
