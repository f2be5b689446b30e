/* What all figures share: controls with labels, a drawing, a sentence that is read aloud, a table of
all numbers. A figure is an object with

  controls   what can be set: { name, label, min, max, step, value }, or with options or check
  numbers    (state) => what follows from it, by pyqref's equations
  draw       (numbers, width) => { svg, height }, and describe, in words
  rows       (numbers) => [words, name, numbers, ...] for each line of the table
  sentence   (numbers) => what happens, in one sentence
  steps      (numbers) => a list instead of a part of the drawing, if there is one
  drag       (numbers, x, y, width) => controls that a finger on the drawing sets

Nothing is stored and nothing is loaded. */
"use strict";
window.pyqrefFigures = window.pyqrefFigures || {};
(function (P) {
  P.figures = P.figures || {};
  const { exact, minus, say } = P.drawing;
  let count = 0;

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  function control(spec, prefix) {
    const id = `${prefix}-${spec.name}`;
    let input;
    if (spec.options) {
      const options = spec.options.map(([value, words]) => make("option", { value }, words));
      input = make("select", { id, name: spec.name }, ...options);
      input.value = spec.value;
    } else if (spec.check) {
      input = make("input", { id, name: spec.name, type: "checkbox" });
      input.checked = spec.value;
    } else {
      const { min, max, step, value } = spec;
      input = make("input", { id, name: spec.name, type: "range", min, max, step, value });
    }
    const output = make("output", { for: id, class: "pq-value", "aria-hidden": "true" });
    const label = make("label", { for: id }, spec.label);
    const kind = spec.options ? "choice" : spec.check ? "check" : "slider";
    const place = make("div", { class: `pq-control pq-${kind}` }, label, input, output);
    return { spec, input, output, place };
  }

  function valueOf({ spec, input }) {
    if (spec.check) return input.checked;
    if (spec.options) return spec.numeric ? Number(input.value) : input.value;
    return Number(input.value);
  }

  function reset({ spec, input }) {
    if (spec.check) input.checked = spec.value;
    else input.value = spec.value;
  }

  /* The table has the same cells for all settings: they are made once. */
  function fillTable(table, rows) {
    if (!table.rows.length) {
      for (const [words, name, values] of rows) {
        const row = table.insertRow();
        row.append(make("th", { scope: "row" }, words));
        const cell = row.insertCell();
        values.forEach((_, place) => {
          cell.append(make("data", { "data-name": name, "data-place": place }), " ");
        });
      }
    }
    rows.forEach(([, , values], index) => {
      const cells = table.rows[index].cells[1].children;
      values.forEach((value, place) => {
        cells[place].value = String(value);
        cells[place].textContent = exact(value);
      });
    });
  }

  /* Light or dark: what stands behind the figure decides, whatever the theme of the page is. */
  function paper(figure) {
    for (let each = figure.parentElement; each; each = each.parentElement) {
      const channels = (getComputedStyle(each).backgroundColor.match(/[\d.]+/g) || []).map(Number);
      if (channels.length >= 3 && channels[3] !== 0) {
        return channels[0] + channels[1] + channels[2] < 384 ? "dark" : "light";
      }
    }
    return "light";
  }

  function start(figure) {
    const kind = P.figures[figure.dataset.figure];
    if (!kind || figure.dataset.ready) return;
    const prefix = `pq-${figure.dataset.figure}-${count++}`;
    const controls = kind.controls.map((spec) => control(spec, prefix));
    const form = make("form", { class: "pq-controls" }, ...controls.map((each) => each.place));
    const again = make("button", { type: "reset", class: "pq-reset" }, say`Reset`);
    form.append(make("div", { class: "pq-control" }, again));
    const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    drawing.setAttribute("role", "img");
    const sentence = make("p", { class: "pq-sentence", role: "status" });
    const steps = kind.steps ? make("ol", { class: "pq-steps" }) : null;
    const table = make("table", { class: "pq-table" });
    const numbers = make("details", { class: "pq-numbers" },
      make("summary", {}, say`All numbers, to the last bit`), table);
    const body = make("div", { class: "pq-body" }, drawing, ...(steps ? [steps] : []), sentence, form,
      numbers);
    figure.querySelectorAll("noscript").forEach((each) => each.remove());
    figure.append(body);
    const measured = () => Math.max(Math.floor(body.clientWidth), 260);
    let found, width, waiting;

    function draw() {
      waiting = undefined;
      width = width || measured();
      const { svg, height, describe } = kind.draw(found, width);
      drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
      drawing.setAttribute("width", width);
      drawing.setAttribute("height", height);
      drawing.setAttribute("aria-label", describe);
      drawing.innerHTML = svg;
    }

    function update() {
      const state = {};
      for (const each of controls) {
        const value = (state[each.spec.name] = valueOf(each));
        const words = each.spec.words ? each.spec.words(value) : minus(value);
        if (!each.spec.options && !each.spec.check) {
          each.output.textContent = words;
          each.input.setAttribute("aria-valuetext", words);
        }
      }
      found = kind.numbers(state);
      waiting = waiting || requestAnimationFrame(draw);
      if (steps) steps.innerHTML = kind.steps(found).map((each) => `<li>${each}</li>`).join("");
      sentence.textContent = kind.sentence(found);
      fillTable(table, kind.rows(found));
    }

    function dragged(event) {
      const box = drawing.getBoundingClientRect();
      const set = kind.drag(found, event.clientX - box.left, event.clientY - box.top, width) || {};
      for (const each of controls) {
        if (each.spec.name in set) each.input.value = set[each.spec.name];
      }
      update();
    }

    if (kind.drag) {
      drawing.classList.add("pq-drag");
      drawing.addEventListener("pointerdown", (event) => {
        drawing.setPointerCapture(event.pointerId);
        dragged(event);
      });
      drawing.addEventListener("pointermove", (event) => {
        if (drawing.hasPointerCapture(event.pointerId)) dragged(event);
      });
    }
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      controls.forEach(reset);
      update();
    });
    new ResizeObserver(() => {
      if (measured() === width) return;
      width = measured();
      draw();
    }).observe(body);
    figure.dataset.ready = "true";
    update();
  }

  function look() {
    document.querySelectorAll(".pyqref-figure, .pyqref-picture").forEach((each) => {
      each.dataset.paper = paper(each);
    });
  }

  function startAll() {
    look();
    document.querySelectorAll("figure.pyqref-figure").forEach(start);
    new MutationObserver(look).observe(document.documentElement, { attributes: true });
    new MutationObserver(look).observe(document.body, { attributes: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", look);
  }
  P.startAll = startAll;
  if (document.readyState === "complete") startAll();
  else window.addEventListener("load", startAll);
})(window.pyqrefFigures);
