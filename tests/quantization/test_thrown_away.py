"""A fused copy that nobody kept is told of when the model that was not fused is prepared."""

from __future__ import annotations

import warnings

import pytest

from pyqref import nn
from pyqref import quantization as q


def model() -> nn.Module:
    layers = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())
    wrapped = q.QuantWrapper(layers)
    wrapped.qconfig = q.get_default_qat_qconfig("x86")
    return wrapped


GROUPS = [["module.0", "module.1", "module.2"]]
STEPS = {False: (q.fuse_modules, q.prepare), True: (q.fuse_modules_qat, q.prepare_qat)}


@pytest.mark.parametrize("training", STEPS)
def test_a_fused_copy_that_was_thrown_away(training):
    """``fuse_modules`` returns a copy unless ``inplace=True``."""
    fuse, prepare = STEPS[training]
    original = model().train(training)
    fuse(original, GROUPS)
    with pytest.raises(q.QuantizationError, match=r"call model = fuse_modules\(model, \.\.\.\)"):
        prepare(original, inplace=True, strict=True)
    fuse(original, GROUPS)
    with pytest.warns(q.WrongOrderWarning, match=f"{prepare.__name__}: fuse_modules returned"):
        prepare(original)
    prepare(original, strict=True)  # told once


@pytest.mark.parametrize("training", STEPS)
def test_copies_that_were_kept(training):
    """Kept under the name of the model, under its own, prepared before it went, or in place."""
    fuse, prepare = STEPS[training]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = model().train(training)
        first = fuse(first, GROUPS)
        prepare(first)
        second = model().train(training)
        kept = fuse(second, GROUPS)
        prepare(second)
        third = model().train(training)
        prepare(fuse(third, GROUPS))
        prepare(third)
        fuse(third, GROUPS, inplace=True)
        prepare(third)
    assert kept is not second
