/* Lines, words and axes of the figures, as text of SVG. Lengths are pixels of the screen, so that
words keep their size on a phone; colours stand in figures.css. */
"use strict";
window.pyqrefFigures = window.pyqrefFigures || {};
(function (P) {
  const put = (x) => (Math.round(x * 100) / 100).toString();
  const escaped = (text) =>
    String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  /* A text in the language of the page. For one in English, with {0}, {1} where numbers stand,
  `P.words` has the same in another language, if a file with such words was loaded before. */
  function say(parts, ...values) {
    const english = parts.reduce((before, part, k) => `${before}{${k - 1}}${part}`);
    const key = english.replace(/\s+/g, " ");
    return ((P.words || {})[key] || key).replace(/\{(\d)\}/g, (_, k) => values[k]);
  }

  function line(x1, y1, x2, y2, name) {
    return `<line x1="${put(x1)}" y1="${put(y1)}" x2="${put(x2)}" y2="${put(y2)}" class="${name}"/>`;
  }

  function path(points, name) {
    const parts = points.map(([x, y], k) => `${k ? "L" : "M"}${put(x)} ${put(y)}`);
    return `<path d="${parts.join("")}" class="${name}"/>`;
  }

  function rect(x, y, width, height, name, more) {
    return `<rect x="${put(x)}" y="${put(y)}" width="${put(Math.max(width, 0))}" ` +
      `height="${put(Math.max(height, 0))}" class="${name}" ${more || ""}/>`;
  }

  function circle(x, y, r, name) {
    return `<circle cx="${put(x)}" cy="${put(y)}" r="${put(r)}" class="${name}"/>`;
  }

  function text(x, y, words, name, anchor) {
    return `<text x="${put(x)}" y="${put(y)}" class="${name || ""}" ` +
      `text-anchor="${anchor || "start"}">${escaped(words)}</text>`;
  }

  /* A line with a tip at its end. */
  function arrow(x1, y1, x2, y2, name) {
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 3) return "";
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const tip = Math.min(7, length), [bx, by] = [x2 - tip * ux, y2 - tip * uy];
    const side = tip * 0.5;
    return line(x1, y1, bx, by, `pq-arrow ${name}`) +
      `<path d="M${put(x2)} ${put(y2)}L${put(bx - side * uy)} ${put(by + side * ux)}` +
      `L${put(bx + side * uy)} ${put(by - side * ux)}Z" class="pq-tip ${name}"/>`;
  }

  /* Round numbers between two ends, about so many. */
  function ticks(low, high, count) {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((each) => each * power >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
      found.push(Number((k * step).toPrecision(12)));
    }
    return found;
  }

  /* What lies in a panel; the rest is cut off. */
  function panel(x, y, width, height, inside) {
    const box = `x="${put(x)}" y="${put(y)}" width="${put(width)}" height="${put(height)}"`;
    return `<svg ${box} viewBox="${put(x)} ${put(y)} ${put(width)} ${put(height)}">${inside}</svg>`;
  }

  const minus = (value) => String(value).replace("-", "−");

  /* A frame with axes; X and Y give the place of a number. */
  function axes({ left, top, width, height, across, up, xLabel, yLabel, xTicks, yTicks }) {
    const X = (x) => left + ((x - across[0]) / (across[1] - across[0])) * width;
    const Y = (y) => top + height - ((y - up[0]) / (up[1] - up[0])) * height;
    let svg = "";
    for (const each of xTicks || ticks(across[0], across[1], Math.max(width / 90, 2))) {
      svg += line(X(each), top, X(each), top + height, "pq-grid");
      svg += text(X(each), top + height + 16, minus(each), "pq-tick", "middle");
    }
    for (const each of yTicks || ticks(up[0], up[1], Math.max(height / 50, 2))) {
      svg += line(left, Y(each), left + width, Y(each), "pq-grid");
      svg += text(left - 6, Y(each) + 4, minus(each), "pq-tick", "end");
    }
    if (xLabel) svg += text(left + width / 2, top + height + 34, xLabel, "pq-label", "middle");
    if (yLabel) svg += text(left, top - 8, yLabel, "pq-label");
    return { X, Y, svg };
  }

  /* Few digits for a picture; a true minus sign. */
  function few(value, digits) {
    const places = digits || 4;
    return minus(Number.isInteger(value) ? value : Number(value.toPrecision(places)));
  }

  /* The fewest digits that are this float32 number and no other; all digits of other doubles. */
  function exact(value) {
    for (let digits = 1; Math.fround(value) === value && digits < 10; digits++) {
      const short = Number(value.toPrecision(digits));
      if (Math.fround(short) === value) return minus(short);
    }
    return minus(value);
  }

  P.drawing = { line, path, rect, circle, text, arrow, ticks, axes, panel, few, exact, escaped, minus,
    say };
})(window.pyqrefFigures);
