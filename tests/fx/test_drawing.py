"""Graphs as pictures."""

from __future__ import annotations

import copy
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pyqref
from pyqref import fx, nn
from pyqref.fx.notes import NOTES, Note
from pyqref.fx.styles import PAPERS, STYLES


def _module() -> fx.GraphModule:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 3)
            self.gain = nn.Parameter(pyqref.ones(3))

        def forward(self, x):
            return pyqref.relu(self.layer(x) * self.gain).flatten(1) < 3

    return fx.symbolic_trace(Net())


def test_text() -> None:
    """A box a node, an edge an argument; colour and shape by opcode; names escaped."""
    text = fx.draw(_module()).dot
    assert text.startswith('digraph "graph" {')
    assert 'label="Net"' in text
    assert "<b>layer</b><br/>Linear<br/>" in text
    assert "in_features=2, out_features=3," in text
    assert "float32 (3,)" in text
    assert ".flatten()" in text
    for edge in ('"x" -> "layer"', '"layer" -> "mul"', '"gain" -> "mul"', '"lt" -> "output"'):
        assert edge in text
    for op in ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output"):
        style = STYLES[op]
        assert f"shape={style.shape}" in text
        assert f'fillcolor="{style.fill}", color="{style.border}"' in text
    assert str(fx.draw(_module())) == text


def test_labels() -> None:
    """Labels come from meta, for all edges or one by one, or from functions."""
    module = _module()
    layer, mul = (n for n in module.graph.nodes if n.name in ("layer", "mul"))
    layer.meta["edge"] = {"mul": 'quint8 "q"\nscale 0.1'}
    mul.meta["edge"] = "float32"
    mul.meta["label"] = "observed"
    text = fx.draw(module, "Title", legend=False).dot
    assert '"layer" -> "mul" [label="  quint8 \\"q\\"\\l  scale 0.1\\l"];' in text
    assert '"mul" -> "relu" [label="  float32\\l"];' in text
    assert ">observed</font>" in text
    assert 'label="Title"' in text
    assert "legend" not in text
    text = fx.draw(
        module.graph, node_label=lambda n: n.op, edge_label=lambda n, user: f"{n}-{user}"
    ).dot
    assert '[label="  x-layer\\l"]' in text
    assert ">call_module</font>" in text


def test_colours_differ_in_lightness_or_hue() -> None:
    """No two styles but input and output are alike; borders and text stand out from fills."""
    assert len(STYLES) - 1 == len(set(STYLES.values()))

    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    def contrast(one: str, other: str) -> float:
        low, high = sorted((light(one), light(other)))
        return (high + 0.05) / (low + 0.05)

    for style in STYLES.values():
        assert contrast(style.fill, style.border) >= 2.5
        assert contrast(style.fill, "#333333") >= 7
    for paper in PAPERS.values():
        assert contrast(paper.background, paper.ink) >= 7
        assert contrast(paper.background, paper.edge) >= 4.5
        assert contrast(paper.background, paper.integers) >= 4.5


def test_paper() -> None:
    """On dark paper, text and edges are light."""
    text = fx.draw(_module(), theme="dark").dot
    assert f'bgcolor="{PAPERS["dark"].background}"' in text
    assert f'fontcolor="{PAPERS["dark"].ink}"' in text
    with pytest.raises(ValueError, match=r"theme must be one of \['dark', 'light'\], got 'sepia'"):
        fx.draw(_module(), theme="sepia")


def test_notes() -> None:
    """A known value is noted on its edges, and replaces boxes that only tell it."""
    module = _module()

    def notes(module: fx.GraphModule) -> dict[fx.Node, Note]:
        layer, gain = (n for n in module.graph.nodes if n.name in ("layer", "gain"))
        known = Note(
            "Kind", "set so", "remark", value="uint8\nby 2", style="quantized", integers=True
        )
        return {layer: known, gain: Note(implied=True)}

    module.meta[NOTES] = notes
    text = fx.draw(module).dot
    assert '"layer" -> "mul" [label="  uint8\\l  by 2\\l", color=' in text
    assert "<b>layer</b><br/>Kind<br/>" in text
    assert ">set so</font><br/>" in text
    assert ">remark</font>" in text
    assert "computes with integers" in text
    assert "gain" not in text
    assert '"gain" -> "mul"' in fx.draw(module, implied=True).dot
    assert "  # Kind, remark | uint8, by 2" in module.print_readable(print_output=False)
    assert "Kind" in fx.draw(copy.deepcopy(module)).dot


def test_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text always; pictures through the program dot, or an error that says what to do."""
    drawing = fx.draw(_module())
    path = drawing.save(tmp_path / "graph.dot")
    assert drawing.dot == path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"suffix must be .dot, .* got '.jpeg'"):
        drawing.save(tmp_path / "graph.jpeg")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match=r"not installed: save as \.dot"):
        drawing.save(tmp_path / "graph.svg")
    assert drawing._repr_svg_() is None

    def run(command: list[str], **options: Any) -> Any:
        assert ["/bin/dot", "-Tsvg"] == command
        assert drawing.dot.encode() == options["input"]
        return SimpleNamespace(stdout=b"<svg/>")

    monkeypatch.setattr(shutil, "which", lambda name: "/bin/dot")
    monkeypatch.setattr(subprocess, "run", run)
    assert b"<svg/>" == drawing.save(tmp_path / "graph.svg").read_bytes()
    assert "<svg/>" == drawing._repr_svg_()
