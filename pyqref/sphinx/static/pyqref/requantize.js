/* From an accumulator to the integer of the output, step by step. */
"use strict";
(function (P) {
  const { f32, requantize, dequantize } = P.numerics;
  const { line, rect, circle, text, arrow, few, exact, say } = P.drawing;

  function numbers(state) {
    const found = requantize(state.accumulator, state);
    const stands = dequantize(found.q, state.outputScale, state.outputZeroPoint);
    const real = state.accumulator * (state.inputScale * state.weightScale) + state.bias;
    return { ...state, ...found, stands, real: state.relu ? Math.max(real, 0) : real };
  }

  /* Where the number falls on the grid of the output, and what the range cuts off. */
  function draw(n, width) {
    const left = 16, inner = width - 32, y = 66;
    const low = -64, high = 319;
    const X = (v) => left + ((Math.min(Math.max(v, low), high) - low) / (high - low)) * inner;
    const wanted = n.value + n.outputZeroPoint;
    let svg = text(left, 16, say`v + z on the integers of the output`, "pq-strong");
    svg += rect(X(n.lower), y - 12, X(255) - X(n.lower), 24, "pq-band", 'rx="4"');
    svg += line(left, y, left + inner, y, "pq-axis");
    for (const each of [0, 64, 128, 192, 255]) {
      svg += line(X(each), y - 6, X(each), y + 6, "pq-axis");
      svg += text(X(each), y + 28, few(each), "pq-tick", "middle");
    }
    svg += line(X(n.outputZeroPoint), y - 12, X(n.outputZeroPoint), y + 12, "pq-line pq-c");
    svg += text(X(n.outputZeroPoint), y + 44, say`z: real 0`, "pq-small pq-c", "middle");
    if (wanted < low || wanted > high) {
      svg += text(wanted < low ? left : left + inner, y - 34, wanted < low ? "←" : "→", "pq-big pq-b",
        wanted < low ? "start" : "end");
    }
    svg += arrow(X(wanted), y - 22, X(n.q), y - 22, "pq-b");
    svg += line(X(wanted), y - 22, X(wanted), y, "pq-thin pq-b");
    svg += circle(X(wanted), y, 5, "pq-dot pq-b") + circle(X(n.q), y, 9, "pq-ring pq-a");
    const where = Math.min(Math.max(X(n.q), left + 30), left + inner - 30);
    svg += text(where, y - 32, `q = ${few(n.q)}`, "pq-strong pq-a", "middle");
    return { svg, height: 118, describe: say`A number line of the output's integers. The scaled
      accumulator with the zero point is ${few(wanted, 6)}; the output is ${few(n.q)}.` };
  }

  const value = (x) => `<b>${exact(x)}</b>`;

  function biasStep(n) {
    const bias = few(n.bias);
    if (n.arithmetic === "qnnpack") {
      return [say`Bias as an integer, b / A rounded`, say`round(${bias} / ${few(n.unit)}) = ${value(n.term)};
        sum ${few(n.accumulator)} + ${few(n.term, 9)} = ${value(n.sum)}`];
    }
    if (n.arithmetic === "channel") {
      return [say`Bias in units of the accumulator, b / A`, say`${bias} / ${few(n.unit)} = ${value(n.term)};
        sum ${few(n.accumulator)} + ${few(n.term, 6)} = ${value(n.sum)}`];
    }
    return [say`Bias by one fused operation, b · (1 / A) + a`, `${bias} · ${few(n.term, 6)} + ` +
      `${few(n.accumulator)} = ${value(n.sum)}`];
  }

  function steps(n) {
    const by = n.arithmetic === "qnnpack" ? "A · (1 / s_y)" : "A / s_y";
    const limits = `[${few(n.lower)}, 255]`;
    return [
      [say`Real value of one unit of the accumulator, A = s_x · s_w`,
        `${few(n.inputScale)} · ${few(n.weightScale)} = ${value(n.unit)}`],
      [say`Multiplier, M = ${by}`, `${few(n.unit, 5)} / ${few(n.outputScale)} = ${value(n.multiplier)}`],
      biasStep(n),
      [say`Scaled to units of the output, v`, `${few(n.sum, 8)} · ${few(n.multiplier, 6)} = ${value(n.value)}`],
      [say`Rounded, ties to even`, `round(${few(n.value, 7)}) = ${value(n.rounded)}`],
      [say`Zero point added`, `${few(n.rounded, 10)} + ${few(n.outputZeroPoint)} = ${value(n.shifted)}`],
      [say`Clamped to ${limits}`, `q = ${value(n.q)}`],
      [say`It stands for s_y · (q − z)`, say`${value(n.stands)}, where exact arithmetic has ${few(n.real, 6)}`],
    ].map(([what, how]) => `<span class="pq-what">${what.replace(/_(.)/g, "<sub>$1</sub>")}</span> ` +
      `<span class="pq-how">${how}</span>`);
  }

  function sentence(n) {
    const clamped = n.q !== n.shifted ? say`, clamped from ${few(n.shifted, 10)}` : "";
    return say`The accumulator ${few(n.accumulator)} becomes the integer ${few(n.q)}${clamped}, which stands
      for ${few(n.stands)}; exact arithmetic has ${few(n.real, 6)}.`;
  }

  P.figures = P.figures || {};
  P.figures.requantize = {
    controls: [
      { name: "accumulator", label: say`accumulator a`, min: -30000, max: 30000, step: 1, value: 4321 },
      { name: "bias", label: say`bias b`, min: -2, max: 2, step: 0.01, value: 0.25 },
      { name: "inputScale", label: say`scale of the input`, min: 0.001, max: 0.1, step: 0.001, value: 0.02 },
      { name: "weightScale", label: say`scale of the weight`, min: 0.0005, max: 0.05, step: 0.0005, value: 0.005 },
      { name: "outputScale", label: say`scale of the output`, min: 0.005, max: 0.5, step: 0.005, value: 0.015 },
      { name: "outputZeroPoint", label: say`zero point of the output`, min: 0, max: 255, step: 1, value: 100 },
      { name: "arithmetic", label: say`arithmetic`, value: "tensor", options: [["tensor", say`fbgemm, per tensor`],
        ["channel", say`fbgemm, per channel`], ["qnnpack", "qnnpack"]] },
      { name: "relu", label: say`with ReLU`, check: true, value: false },
    ],
    numbers, draw, steps, sentence,
    rows: (n) => [
      ["A = s_x · s_w", "unit", [n.unit]],
      [say`multiplier M`, "multiplier", [n.multiplier]],
      [say`accumulator with bias`, "sum", [n.sum]],
      ["v", "value", [n.value]],
      [say`rounded`, "rounded", [n.rounded]],
      [say`with the zero point`, "shifted", [n.shifted]],
      [say`output integer q`, "q", [n.q]],
      [say`it stands for`, "stands", [n.stands]],
    ],
  };
})(window.pyqrefFigures);
