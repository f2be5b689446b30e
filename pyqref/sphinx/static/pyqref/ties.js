/* A number half-way between two integers, and the zero point before or after rounding. */
"use strict";
(function (P) {
  const { f32, fma, reciprocal, roundHalfEven, roundHalfAway, quantize, saturate } = P.numerics;
  const { line, rect, circle, text, arrow, few, say } = P.drawing;

  function numbers(state) {
    const { x, scale, zeroPoint } = state;
    const inverse = reciprocal(scale);
    const product = f32(f32(x) * inverse);
    const sum = fma(x, inverse, zeroPoint);
    const rounded = roundHalfEven(product) + 0;
    const first = quantize(x, scale, zeroPoint, -128, 127);
    const after = saturate(rounded + zeroPoint, -128, 127);
    const away = saturate(roundHalfAway(sum), -128, 127);
    return { ...state, inverse, product, sum, rounded, first, after, away,
      tie: Math.abs(sum - Math.floor(sum)) === 0.5 };
  }

  /* One rule: a number line, the way that the number takes, and where it ends. */
  function lane(top, width, title, from, stops, result, differs) {
    const left = 14, inner = width - 2 * left - 60;
    const all = [from, ...stops], low = Math.floor(Math.min(...all)) - 1;
    const high = Math.max(Math.ceil(Math.max(...all)) + 1, low + (width < 500 ? 5 : 6));
    const X = (v) => left + ((v - low) / (high - low)) * inner;
    const y = top + 62;
    let svg = text(left, top + 16, title, "pq-strong");
    svg += line(left, y, left + inner, y, "pq-axis");
    for (let k = low; k <= high; k++) {
      const even = k % 2 === 0;
      svg += line(X(k), y - 5, X(k), y + 5, "pq-axis");
      if ((high - low) * 26 < inner || even) {
        svg += text(X(k), y + 21, few(k), even ? "pq-tick pq-strong" : "pq-tick", "middle");
      }
    }
    let before = from;
    stops.forEach((stop, place) => {
      const height = y - 12 - 14 * (stops.length - 1 - place);
      svg += arrow(X(before), height, X(stop), height, place ? "pq-c" : "pq-b");
      if (place && before !== stop) {
        const end = stop > before ? [X(stop) + 6, "start"] : [X(stop) - 6, "end"];
        svg += text(end[0], height + 4, "+ z", "pq-small pq-c", end[1]);
      }
      before = stop;
    });
    svg += line(X(from), y - 12 - 14 * (stops.length - 1), X(from), y, "pq-thin pq-b");
    svg += circle(X(from), y, 5, "pq-dot pq-b") + circle(X(result), y, 8, "pq-ring pq-a");
    svg += rect(width - 60, y - 24, 48, 40, differs ? "pq-box pq-differs" : "pq-box", 'rx="6"');
    return svg + text(width - 36, y + 3, few(result), "pq-big", "middle");
  }

  function draw(n, width) {
    const differs = (q) => q !== n.first;
    const svg =
      lane(0, width, say`add z = ${few(n.zeroPoint)}, ties to even: quantize`, n.sum, [n.first],
        n.first, false) +
      lane(104, width, say`ties to even, add z: fake_quantize`, n.product,
        [n.rounded, n.after], n.after, differs(n.after)) +
      lane(208, width, say`add z, ties away from 0: round() in C`, n.sum, [n.away], n.away,
        differs(n.away));
    return { svg, height: 304, describe: say`Three number lines, whose middle one adds the zero point after
      rounding. Adding the zero point first gives ${few(n.first)}; rounding first gives ${few(n.after)};
      rounding ties away from zero gives ${few(n.away)}.` };
  }

  function sentence(n) {
    const results = [n.first, n.after, n.away];
    const same = results.every((each) => each === n.first);
    const place = n.tie ? say`x / s + z is ${few(n.sum, 9)}, a tie: half-way between two integers. `
      : say`x / s + z is ${few(n.sum, 9)}, not a tie. `;
    const end = same ? say`All three rules give ${few(n.first)}.`
      : say`The rules give ${results.map((each) => few(each)).join(", ")}.`;
    return place + end + (n.tie && same
      ? say` The zero point is even, or rounding away from zero meets the even one.` : "");
  }

  P.figures = P.figures || {};
  P.figures.ties = {
    controls: [
      { name: "x", label: say`number x`, min: -4, max: 4, step: 0.125, value: 0.5 },
      { name: "zeroPoint", label: say`zero point z`, min: -5, max: 5, step: 1, value: 1 },
      { name: "scale", label: say`scale s`, value: "1", numeric: true,
        options: ["0.1", "0.25", "0.3", "0.5", "1", "2"].map((each) => [each, each]) },
    ],
    numbers, draw, sentence,
    rows: (n) => [
      ["1 / s", "inverse", [n.inverse]],
      ["x · (1 / s)", "product", [n.product]],
      [say`x · (1 / s) + z, rounded once`, "sum", [n.sum]],
      [say`z first, ties to even`, "first", [n.first]],
      [say`rounded first, then z`, "after", [n.after]],
      [say`z first, ties away from zero`, "away", [n.away]],
    ],
  };
})(window.pyqrefFigures);
