/* One scale for a whole weight, or one for each of its channels. */
"use strict";
(function (P) {
  const { f32, symmetricScale, quantize, quantizeChannel, dequantize } = P.numerics;
  const { line, rect, circle, text, few, say } = P.drawing;
  /* The weights of four channels, in parts of the largest one of each. */
  const PATTERNS = [
    [-1, 0.83, -0.55, 0.31, -0.12, 0.05, 0.47, -0.76],
    [0.62, -0.09, 1, -0.71, 0.38, -0.27, 0.16, -0.9],
    [-0.34, 0.58, 0.21, -1, 0.77, -0.66, 0.02, 0.44],
    [0.13, 0.95, -0.48, -0.19, 0.68, 1, -0.82, 0.36],
  ];

  function relative(weights, back) {
    let error = 0, size = 0;
    weights.forEach((each, k) => {
      error += (back[k] - each) * (back[k] - each);
      size += each * each;
    });
    return Math.sqrt(error / size);
  }

  function numbers(state) {
    const { bits } = state;
    const quantMin = -(2 ** (bits - 1)), quantMax = 2 ** (bits - 1) - 1;
    const sizes = [state.a, state.b, state.c, state.d];
    const weights = sizes.map((size, c) =>
      PATTERNS[c].map((share) => f32(share * size)));
    const all = weights.flat();
    const scale = symmetricScale(Math.min(...all), Math.max(...all), quantMin, quantMax);
    const scales = weights.map((row) =>
      symmetricScale(Math.min(...row), Math.max(...row), quantMin, quantMax));
    const tensor = weights.map((row) => row.map((w) => quantize(w, scale, 0, quantMin, quantMax)));
    const channel = weights.map((row, c) =>
      row.map((w) => quantizeChannel(w, scales[c], 0, quantMin, quantMax)));
    const back = (rows, of) => rows.map((row, c) => row.map((q) => dequantize(q, of(c), 0)));
    const byTensor = back(tensor, () => scale), byChannel = back(channel, (c) => scales[c]);
    return { ...state, quantMin, quantMax, sizes, weights, scale, scales, tensor, channel, byTensor,
      byChannel,
      tensorErrors: weights.map((row, c) => relative(row, byTensor[c])),
      channelErrors: weights.map((row, c) => relative(row, byChannel[c])) };
  }

  const percent = (share) => `${(100 * share).toPrecision(3)} %`;

  /* A row of weights above the grid that they go to. */
  function strip(n, c, top, width, words, name, scale, back, error) {
    const left = 10, inner = width - 20, most = 1.08 * Math.max(n.sizes[c], 1e-6);
    const X = (w) => left + ((w + most) / (2 * most)) * inner;
    const y = top + 46;
    let svg = text(left, top + 14, words, `pq-small ${name}`);
    svg += text(width - 10, top + 14, say`error ${percent(error)}`, `pq-small ${name}`, "end");
    svg += line(left, y, left + inner, y, "pq-axis");
    const from = Math.max(n.quantMin, Math.ceil(-most / scale));
    const to = Math.min(n.quantMax, Math.floor(most / scale));
    if (X(scale) - X(0) < 3) svg += rect(X(from * scale), y, X(to * scale) - X(from * scale), 8, `pq-dense ${name}`);
    else for (let q = from; q <= to; q++) svg += line(X(q * scale), y, X(q * scale), y + 8, `pq-line ${name}`);
    n.weights[c].forEach((w, k) => {
      svg += line(X(w), y - 18, X(back[k]), y, `pq-thin ${name}`);
      svg += circle(X(w), y - 19, 3.5, "pq-dot pq-ink");
    });
    return svg;
  }

  function draw(n, width) {
    let svg = "", top = 0;
    n.sizes.forEach((size, c) => {
      svg += text(10, top + 16, say`channel ${c}: weights up to ${few(size)}`, "pq-strong");
      svg += strip(n, c, top + 20, width, say`one scale for all, ${few(n.scale, 3)}`, "pq-b", n.scale,
        n.byTensor[c], n.tensorErrors[c]);
      svg += strip(n, c, top + 82, width, say`a scale of its own, ${few(n.scales[c], 3)}`, "pq-a", n.scales[c],
        n.byChannel[c], n.channelErrors[c]);
      top += 158;
    });
    const errors = n.sizes.map((_, c) =>
      say`Channel ${c}: error ${percent(n.tensorErrors[c])} and ${percent(n.channelErrors[c])}`).join("; ");
    return { svg, height: top, describe: say`Four channels of eight weights. Above, the grid of one scale
      for all; below it, the grid of the channel's own scale. ${errors}` };
  }

  function sentence(n) {
    const worst = n.tensorErrors.indexOf(Math.max(...n.tensorErrors));
    const zeros = n.tensor[worst].filter((q) => q === 0).length;
    return say`With one scale for all, channel ${worst} is off by ${percent(n.tensorErrors[worst])} of its
      own size, and ${zeros} of its 8 weights become zero. With a scale of its own it is off by
      ${percent(n.channelErrors[worst])}.`;
  }

  const slider = (name, channel, value) =>
    ({ name, label: say`largest weight of channel ${channel}`, min: 0.01, max: 1, step: 0.01, value });
  P.figures = P.figures || {};
  P.figures.channels = {
    controls: [slider("a", 0, 1), slider("b", 1, 0.4), slider("c", 2, 0.15), slider("d", 3, 0.04),
      { name: "bits", label: say`bits`, min: 2, max: 8, step: 1, value: 4 }],
    numbers, draw, sentence,
    rows: (n) => [
      [say`scale of the tensor`, "scale", [n.scale]],
      [say`scales of the channels`, "scales", n.scales],
      ...n.tensor.map((row, c) => [say`integers of channel ${c}, one scale`, `tensor_${c}`, row]),
      ...n.channel.map((row, c) => [say`integers of channel ${c}, own scale`, `channel_${c}`, row]),
      [say`errors, one scale`, "tensor_errors", n.tensorErrors],
      [say`errors, own scales`, "channel_errors", n.channelErrors],
    ],
  };
})(window.pyqrefFigures);
