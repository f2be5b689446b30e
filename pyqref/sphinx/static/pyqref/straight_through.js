/* The gradient that training sees through rounding, and where it leads. */
"use strict";
(function (P) {
  const { f32, fakeQuantize } = P.numerics;
  const { line, path, rect, circle, text, axes, panel, few, say } = P.drawing;
  const STEPS = 12;

  function numbers(state) {
    const { start, target, scale, zeroPoint, bits, rate } = state;
    const quantMax = 2 ** bits - 1;
    const fake = (x) => fakeQuantize(x, scale, zeroPoint, 0, quantMax);
    const xs = [f32(start)], ys = [], gradients = [], masks = [];
    for (let k = 0; k <= STEPS; k++) {
      const { y, inside } = fake(xs[k]);
      const gradient = inside ? f32(y - f32(target)) : 0;
      ys.push(y);
      masks.push(inside ? 1 : 0);
      gradients.push(gradient);
      if (k < STEPS) xs.push(f32(xs[k] - f32(f32(rate) * gradient)));
    }
    const ends = [f32((0 - zeroPoint) * f32(scale)) + 0, f32((quantMax - zeroPoint) * f32(scale))];
    return { ...state, quantMax, fake, xs, ys, gradients, masks, ends };
  }

  function draw(n, width) {
    const left = 44, inner = width - left - 12, across = [-4, 4];
    const upper = axes({ left, top: 30, width: inner, height: 230, across, up: across, xTicks: [],
      yTicks: [-4, -2, 0, 2, 4], yLabel: "y = fake_quantize(x)" });
    const lower = axes({ left, top: 304, width: inner, height: 70, across, up: [-0.25, 1.25],
      xTicks: [-4, -2, 0, 2, 4], yTicks: [0, 1], yLabel: say`slope that backward uses`, xLabel: "x" });
    const { X } = upper, cut = (y) => Math.min(Math.max(y, -4), 4);
    let svg = upper.svg + lower.svg;
    const pass = [[], []];
    const stairs = [], slope = [];
    for (let pixel = 0; pixel <= 2 * inner; pixel++) {
      const x = -4 + (8 * pixel) / (2 * inner), { y, inside } = n.fake(x);
      const before = stairs[stairs.length - 1], last = slope[slope.length - 1];
      const point = [X(x), upper.Y(y)], rule = [X(x), lower.Y(inside ? 1 : 0)];
      if (before && before[1] !== point[1]) stairs.push([X(x), before[1]]);
      if (last && last[1] !== rule[1]) slope.push([X(x), last[1]]);
      stairs.push(point);
      slope.push(rule);
      if (inside) pass[1].push(X(x));
    }
    if (pass[1].length) {
      const [from, to] = [pass[1][0], pass[1][pass[1].length - 1]];
      svg += rect(left, 304, from - left, 70, "pq-clipped") + rect(to, 304, left + inner - to, 70, "pq-clipped");
      svg += rect(left, 30, from - left, 230, "pq-clipped") + rect(to, 30, left + inner - to, 230, "pq-clipped");
    }
    svg += line(X(-4), upper.Y(-4), X(4), upper.Y(4), "pq-dash");
    svg += line(left, upper.Y(n.target), left + inner, upper.Y(n.target), "pq-line pq-c");
    const side = n.start < 0 ? [left + inner - 6, "end"] : [left + 6, "start"];
    svg += text(side[0], upper.Y(n.target) - 6, say`target ${few(n.target)}`, "pq-small pq-c", side[1]);
    svg += panel(left, 30, inner, 230, path(stairs, "pq-line pq-a")) + path(slope, "pq-line pq-a");
    svg += line(left, lower.Y(0) + 3, left + inner, lower.Y(0) + 3, "pq-dash");
    const way = n.xs.map((x, k) => [X(cut(x)), upper.Y(cut(n.ys[k]))]);
    svg += path(way, "pq-thin pq-b");
    way.forEach(([x, y], k) => {
      svg += k ? circle(x, y, 3, "pq-dot pq-b") : "";
    });
    svg += circle(way[0][0], way[0][1], 6, "pq-dot pq-b");
    svg += circle(way[STEPS][0], way[STEPS][1], 9, "pq-ring pq-b");
    return { svg, height: 418, describe: say`The staircase of fake quantization, and below it the slope that
      backward uses: one between ${few(n.ends[0])} and ${few(n.ends[1])}, zero outside. Twelve steps of
      gradient descent lead from ${few(n.xs[0])} to ${few(n.xs[STEPS])}.` };
  }

  function sentence(n) {
    const here = n.masks[0]
      ? say`At ${few(n.start)} the gradient ${few(n.gradients[0], 3)} passes, as if rounding were not there.`
      : say`${few(n.start)} lies outside of the range: no gradient passes, and it cannot move.`;
    return say`${here} Twelve steps of gradient descent on (y − target)² / 2 lead to x =
      ${few(n.xs[STEPS])}, y = ${few(n.ys[STEPS])}. The true slope of a staircase is zero nearly
      everywhere (dashed): nothing would be learned.`;
  }

  P.figures = P.figures || {};
  P.figures["straight-through"] = {
    controls: [
      { name: "start", label: say`start x`, min: -4, max: 4, step: 0.05, value: -1.6 },
      { name: "target", label: say`target`, min: -4, max: 4, step: 0.05, value: 1.3 },
      { name: "rate", label: say`learning rate`, min: 0.05, max: 1, step: 0.05, value: 0.25 },
      { name: "scale", label: say`scale s`, min: 0.1, max: 1.5, step: 0.05, value: 0.6 },
      { name: "zeroPoint", label: say`zero point z`, min: 0, max: 7, step: 1, value: 3 },
      { name: "bits", label: say`bits`, min: 2, max: 4, step: 1, value: 3 },
    ],
    numbers, draw, sentence,
    drag: (n, x, y, width) => ({ start: Math.min(Math.max(-4 + (8 * (x - 44)) / (width - 56), -4), 4).toFixed(2) }),
    rows: (n) => [
      [say`x, step by step`, "xs", n.xs],
      ["y = fake_quantize(x)", "ys", n.ys],
      [say`gradient passes`, "masks", n.masks],
      [say`gradient with respect to x`, "gradients", n.gradients],
    ],
  };
})(window.pyqrefFigures);
