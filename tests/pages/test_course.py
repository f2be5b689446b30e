"""``pyqref.sphinx`` in a course of a lecturer's own: three pages, built from an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")

CONF = """\
project = "A course"
extensions = ["myst_parser", "pyqref.sphinx"]
pyqref_docs = "https://docs.example/pyqref/"
html_theme = "alabaster"
"""
INDEX = """\
Week 1
======

.. toctree::

   week2

The label ``eq-affine-quantize`` stands below, ``eq-requantize`` in other pages.

.. pyqref-equation:: eq-affine-quantize

.. pyqref-figure:: range

.. pyqref-exercise:: quantize
"""
WEEK2 = """\
# Week 2

As `eq-affine-quantize` says:

```{pyqref-derivation}
layer = nn.quantized.Quantize(0.1, 3, torch.quint8)
pyqref.explain(nn.Sequential(layer), torch.tensor([[0.25, 0.5]]), index=(0, 0))
```

```{pyqref-plot}
:data: seen.npy
:caption: What the observer saw.

seen = np.load(here / "seen.npy")
plot.observer_range(seen, {"all of it": (float(seen.min()), float(seen.max()))})
```

```{pyqref-equation} eq-affine-quantize
```

```{pyqref-exercise} min_max_observer
```
"""


def build(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run Sphinx as a lecturer does."""
    command = [sys.executable, "-m", "sphinx", "-q", *options, "-b", "html", ".", "site"]
    path = os.pathsep.join(each for each in sys.path if each)
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg"},
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built pages; no warning was told."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "conf.py").write_text(CONF)
    (folder / "index.rst").write_text(INDEX)
    (folder / "week2.md").write_text(WEEK2)
    np.save(folder / "seen.npy", np.random.default_rng(0).standard_normal(500))
    done = build(folder, "-nW", "--keep-going")
    assert ("", 0) == (done.stderr, done.returncode)
    return folder / "site"


def page(site: Path, name: str) -> str:
    return (site / name).read_text(encoding="utf-8")


def test_an_equation_leads_to_its_function_and_its_test(site):
    """Where ``pyqref_docs`` is named; a second display on another page has no number of its own."""
    text = page(site, "index.html")
    assert r"\mathrm{sat}\big(\mathrm{rne}" in text
    assert 'id="equation-eq-affine-quantize"' in text
    reference = (
        "api/generated/pyqref.numerics.affine.html#pyqref.numerics.affine.quantize_per_tensor"
    )
    assert f'href="https://docs.example/pyqref/{reference}"' in text
    row = "https://docs.example/pyqref/theory/equations.html#proof-eq-affine-quantize"
    assert f'href="{row}"' in text
    assert "formulas/test_affine.py::test_eq_affine_quantize" in text
    again = page(site, "week2.html")
    assert r"\mathrm{sat}\big(\mathrm{rne}" in again
    assert 'id="equation-eq-affine-quantize"' not in again


def test_a_label_in_the_text_is_a_link(site):
    """To the page of the course that displays it, else to pyqref's documentation."""
    assert 'href="#equation-eq-affine-quantize"' in page(site, "index.html")
    assert 'href="index.html#equation-eq-affine-quantize"' in page(site, "week2.html")
    row = "https://docs.example/pyqref/theory/equations.html#proof-eq-requantize"
    assert f'href="{row}"' in page(site, "index.html")


def test_a_page_loads_the_scripts_of_its_figures(site):
    """Those of the figures that stand on it; all are there."""
    first, second = page(site, "index.html"), page(site, "week2.html")
    assert 'data-figure="range"' in first
    assert "_static/pyqref/range.js" in first
    assert "_static/pyqref/window.js" not in first
    assert "_static/pyqref/range.js" not in second
    for name in ("numerics.js", "drawing.js", "range.js", "frame.js", "figures.css"):
        assert (site / "_static" / "pyqref" / name).exists()


def test_a_derivation_is_shown_step_by_step(site):
    """0.25 / 0.1 + 3 = 5.5 is a tie and goes to 6."""
    text = page(site, "week2.html")
    assert 'class="pyqref-derivation"' in text
    assert "0[0, 0]" in text
    assert "https://docs.example/pyqref/theory/affine.html#equation-eq-affine-quantize" in text


def test_a_plot_is_drawn_light_and_dark(site):
    """From the file beside the page; its axes tell who cannot see it what is drawn."""
    text = page(site, "week2.html")
    assert 'class="pq-light" alt="' in text
    assert 'class="pq-dark" alt="' in text
    assert "What the observer saw." in text


def test_an_exercise_says_how_to_check_it(site):
    """A function in one page, a class in the other."""
    assert "Exercise: quantize" in page(site, "index.html")
    second = page(site, "week2.html")
    assert "Exercise: min_max_observer" in second
    assert "MinMaxObserver</span><span" in second


def test_mistakes_are_told_with_the_page(tmp_path):
    """An unknown label, figure or exercise, and code that fails: an error with file and line."""
    (tmp_path / "conf.py").write_text('extensions = ["pyqref.sphinx"]\n')
    (tmp_path / "index.rst").write_text(
        "Title\n=====\n\n.. pyqref-equation:: eq-affine-quantise\n\n.. pyqref-figure:: stairs\n\n"
        ".. pyqref-exercise:: nothing\n\n.. pyqref-plot::\n\n   1 / 0\n\n"
        ".. pyqref-derivation::\n\n   3\n"
    )
    errors = build(tmp_path).stderr
    for line, words in (
        (4, "pyqref has no equation 'eq-affine-quantise'; near it are eq-affine-quantize"),
        (6, "pyqref-figure: name must be one of range, ties"),
        (8, "pyqref-exercise: name must be one of 'quantize'"),
        (10, "pyqref-plot: the code failed with ZeroDivisionError: division by zero"),
        (14, "pyqref-derivation: the last line must be a Derivation, got int"),
    ):
        assert f"index.rst:{line}: ERROR: {words}" in errors
