"""Graphs as pictures."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pyqref
from pyqref import fx, nn


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
    for fill, border, shape in fx.drawing.STYLES.values():
        assert f'shape={shape}, fillcolor="{fill}", color="{border}"' in text
    assert str(fx.draw(_module())) == text


def test_labels() -> None:
    """From meta, for all edges or one by one, or from functions."""
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
    """No opcode but input and output shares its colours, and border stands out from fill."""
    styles = fx.drawing.STYLES
    assert len(styles) - 1 == len({style[:2] for style in styles.values()})

    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    for fill, border, _ in styles.values():
        assert (light(fill) + 0.05) / (light(border) + 0.05) >= 2.5
        assert (light(fill) + 0.05) / (light("#333333") + 0.05) >= 7


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
