"""Every label of a derivation leads to its equation in the theory."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.extensions import extension

import pyqref
from pyqref import nn
from pyqref.explaining import explain
from pyqref.explaining.show.links import link

EQUATIONS = extension("equations")
EXPLAINING = Path(__file__).parents[2] / "pyqref" / "explaining"


def test_every_label_has_a_page():
    """``link`` names the page on which the equation is displayed, and the anchor it has there."""
    survey = EQUATIONS.survey()
    used = {
        label
        for file in EXPLAINING.rglob("*.py")
        for label in EQUATIONS.LABEL.findall(file.read_text(encoding="utf-8"))
    }
    assert len(used) > 60
    for label in sorted(used):
        page = survey.equations[label].page
        assert f"theory/{page}.html#equation-{label}" == link(label)
    assert "" == link("eq-unheard-of")


@pytest.mark.parametrize("root", ["https://docs.example/pyqref/", "../docs"])
def test_labels_are_links_where_the_documentation_is_named(root, monkeypatch):
    """``PYQREF_DOCS`` is an address or a folder; without it a label says where it stands."""
    model = nn.Sequential(nn.quantized.Quantize(0.1, 0, pyqref.quint8))
    found = explain(model, pyqref.rand(1), index=0)
    monkeypatch.delenv("PYQREF_DOCS", raising=False)
    plain = found._repr_html_()
    assert 'title="docs/theory/affine.rst"' in plain
    assert "href" not in plain
    monkeypatch.setenv("PYQREF_DOCS", root)
    address = f"{root.rstrip('/')}/theory/affine.html#equation-eq-affine-quantize"
    assert f'href="{address}"' in found._repr_html_()
    linked = {each["link"] for each in found.to_dict()["steps"]}
    assert "theory/affine.html#equation-eq-affine-quantize" in linked
