// Formulas that are wider than the screen are set smaller, down to 60 %; below that they scroll.
(() => {
  const LEAST = 0.6;

  const fit = () => {
    for (const formula of document.querySelectorAll("div.math mjx-container[display]")) {
      formula.style.fontSize = "";
      const inner = formula.firstElementChild;
      const needed = inner ? inner.getBoundingClientRect().width : 0;
      const room = formula.clientWidth;
      if (needed > room && room > 0) {
        formula.style.fontSize = `${Math.max(LEAST, (0.98 * room) / needed) * 100}%`;
      }
    }
  };

  const start = () => {
    const ready = window.MathJax && window.MathJax.startup && window.MathJax.startup.promise;
    if (!ready) {
      return;
    }
    ready.then(fit);
    window.addEventListener("resize", fit);
  };

  // MathJax is loaded later than this file.
  window.addEventListener("load", start);
})();
