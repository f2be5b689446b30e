/* A window of three by three that slides over a handwritten digit. */
"use strict";
(function (P) {
  const { f32, chooseQparams, symmetricScale, quantize, requantize, saturate } = P.numerics;
  const { line, rect, text, few, say } = P.drawing;
  const FILTERS = {
    "vertical edges": [-1, 0, 1, -2, 0, 2, -1, 0, 1],
    "horizontal edges": [-1, -2, -1, 0, 0, 0, 1, 2, 1],
    "mean": [0.111, 0.111, 0.111, 0.111, 0.111, 0.111, 0.111, 0.111, 0.111],
    "outline": [-0.5, -0.5, -0.5, -0.5, 4, -0.5, -0.5, -0.5, -0.5],
    "sharper": [0, -0.7, 0, -0.7, 3.8, -0.7, 0, -0.7, 0],
  };

  function numbers(state) {
    const { digit, filter, pixels, row, column } = state;
    const centred = pixels === "centred";
    const real = P.digits[digit].map((each) => f32(centred ? each / 8 - 1 : each / 16));
    const input = chooseQparams(centred ? -1 : 0, 1, 0, 255, false);
    const image = real.map((each) => quantize(each, input.scale, input.zeroPoint, 0, 255));
    const weights = FILTERS[filter].map(f32);
    const weightScale = symmetricScale(Math.min(...weights), Math.max(...weights), -128, 127);
    const kernel = weights.map((each) => quantize(each, weightScale, 0, -128, 127));
    const at = (r, c) => (r < 0 || r > 7 || c < 0 || c > 7 ? input.zeroPoint : image[8 * r + c]);
    const window = (r, c) => kernel.map((_, k) => at(r - 1 + Math.floor(k / 3), c - 1 + (k % 3)));
    const products = (r, c) => window(r, c).map((x, k) => (x - input.zeroPoint) * kernel[k] + 0);
    const accumulators = Array.from({ length: 64 }, (_, place) =>
      products(Math.floor(place / 8), place % 8).reduce((sum, each) => sum + each, 0));
    const unit = f32(input.scale * weightScale);
    const low = f32(Math.min(...accumulators) * unit), high = f32(Math.max(...accumulators) * unit);
    const out = chooseQparams(low, high, 0, 255, false);
    const given = { inputScale: input.scale, weightScale, outputScale: out.scale,
      outputZeroPoint: out.zeroPoint, bias: 0, arithmetic: "channel", relu: false };
    const output = accumulators.map((each) => requantize(each, given).q);
    const place = 8 * row + column;
    return { ...state, image, kernel, input, weightScale, out, output, window: window(row, column),
      products: products(row, column), accumulator: accumulators[place], q: output[place] };
  }

  const shade = (q) => `style="fill-opacity:${(saturate(q, 0, 255) / 255).toFixed(3)}"`;

  function grid(left, top, size, values, marked, words) {
    let svg = text(left, top - 8, words, "pq-strong");
    values.forEach((value, k) => {
      const x = left + (k % 8) * size, y = top + Math.floor(k / 8) * size;
      svg += rect(x, y, size, size, "pq-cell") + rect(x, y, size, size, "pq-shade", shade(value));
      svg += text(x + size / 2, y + size / 2 + 4, few(value), value > 127 ? "pq-on" : "pq-off", "middle");
    });
    const [row, column, cells] = marked;
    return svg + rect(left + column * size, top + row * size, cells * size, cells * size, "pq-frame");
  }

  /* What the window sees outside of the image. */
  function padding(left, top, size, zeroPoint) {
    let svg = "";
    for (let k = 0; k < 100; k++) {
      const row = Math.floor(k / 10) - 1, column = (k % 10) - 1;
      if (row >= 0 && row < 8 && column >= 0 && column < 8) continue;
      const x = left + column * size, y = top + row * size;
      svg += rect(x, y, size, size, "pq-cell pq-pad");
      svg += text(x + size / 2, y + size / 2 + 4, few(zeroPoint), "pq-off pq-tick", "middle");
    }
    return svg;
  }

  function sum(n, left, top, width) {
    const cell = Math.min(width / 3, 104);
    let svg = text(left, top - 8, "(x − z) · w", "pq-strong");
    n.products.forEach((product, k) => {
      const x = left + (k % 3) * cell, y = top + Math.floor(k / 3) * 46;
      svg += rect(x, y, cell - 3, 43, "pq-box", 'rx="4"');
      const words = `${few(n.window[k] - n.input.zeroPoint)} · ${few(n.kernel[k])}`;
      svg += text(x + (cell - 3) / 2, y + 17, words, "pq-tiny", "middle");
      svg += text(x + (cell - 3) / 2, y + 35, few(product, 6), "pq-strong pq-tick", "middle");
    });
    svg += text(left, top + 162, say`sum: accumulator ${few(n.accumulator, 7)}`, "pq-strong pq-b");
    svg += line(left, top + 172, left + 3 * cell - 3, top + 172, "pq-axis");
    return svg + text(left, top + 194, say`requantized: q = ${few(n.q)}`, "pq-strong pq-a");
  }

  /* Side by side where there is room, below each other on a phone. */
  function layout(width) {
    if (width >= 640) {
      const cell = Math.min(Math.floor((width - 275) / 18), 34), top = 28 + cell;
      const middle = width - 18 * cell - 8;
      return { cell, height: 10 * cell + 34, image: [4 + cell, top],
        sum: [4 + 10 * cell + 16, top, middle - 30], output: [width - 8 * cell - 4, top] };
    }
    const cell = Math.min(Math.floor((width - 8) / 10), 38), side = 10 * cell;
    return { cell, height: 2 * side + 300 - 2 * cell, image: [4 + cell, 28 + cell],
      sum: [4, side + 62, Math.min(side, width - 8)], output: [4 + cell, side + 292] };
  }

  function draw(n, width) {
    const at = layout(width), size = at.cell, [left, top] = at.image;
    const place = [n.row - 1, n.column - 1];
    const words = say`input: zero point ${n.input.zeroPoint}`;
    const svg = padding(left, top, size, n.input.zeroPoint) +
      text(left - size, top - size - 8, words, "pq-strong") +
      grid(left, top, size, n.image, [...place, 3], "") + sum(n, ...at.sum) +
      grid(...at.output, size, n.output, [n.row, n.column, 1],
        say`output: zero point ${n.out.zeroPoint}`);
    return { svg, height: at.height + 6, describe: say`The digit ${n.digit} as eight by eight integers, nine
      products of the window at row ${n.row}, column ${n.column}, and the output as integers.` };
  }

  function drag(n, x, y, width) {
    const at = layout(width);
    for (const [left, top] of [at.image, at.output]) {
      const [row, column] = [Math.floor((y - top) / at.cell), Math.floor((x - left) / at.cell)];
      if (row >= 0 && row < 8 && column >= 0 && column < 8) return { row, column };
    }
    return {};
  }

  function sentence(n) {
    const outside = n.row % 7 === 0 || n.column % 7 === 0
      ? say` Outside of the image stands the zero point ${n.input.zeroPoint}, which is real 0.` : "";
    return say`At row ${n.row}, column ${n.column} the nine products add up to ${few(n.accumulator, 7)}, which
      becomes the integer ${few(n.q)}.${outside}`;
  }

  P.figures = P.figures || {};
  P.figures.window = {
    controls: [
      { name: "row", label: say`row`, min: 0, max: 7, step: 1, value: 3 },
      { name: "column", label: say`column`, min: 0, max: 7, step: 1, value: 2 },
      { name: "digit", label: say`digit`, min: 0, max: 9, step: 1, value: 3 },
      { name: "filter", label: say`filter`, value: "vertical edges",
        options: Object.keys(FILTERS).map((each) => [each, say([each])]) },
      { name: "pixels", label: say`pixels`, value: "plain",
        options: [["plain", say`from 0 to 1`], ["centred", say`from −1 to 1`]] },
    ],
    numbers, draw, drag, sentence,
    rows: (n) => [
      [say`scale and zero point of the input`, "input", [n.input.scale, n.input.zeroPoint]],
      [say`scale of the weight`, "weight_scale", [n.weightScale]],
      [say`scale and zero point of the output`, "out", [n.out.scale, n.out.zeroPoint]],
      [say`integers below the window`, "window", n.window],
      [say`integers of the weight`, "kernel", n.kernel],
      [say`products`, "products", n.products],
      [say`accumulator`, "accumulator", [n.accumulator]],
      [say`output integer`, "q", [n.q]],
      [say`all output integers`, "output", n.output],
    ],
  };
})(window.pyqrefFigures);
