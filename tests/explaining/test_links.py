"""Labels of derivations are links to the theory where the documentation is named."""

from __future__ import annotations

import pytest

import pyqref
from pyqref import nn
from pyqref.explaining import explain


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
