"""The models give the integers of the real systems: as recorded, and live where these are there."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from arithmetic.cases import RECORDED, Case, loaded, make_cases
from arithmetic.running import WITHOUT_VNNI, results_of
from arithmetic.systems import SYSTEMS, takes

import pyqref
from pyqref import arithmetic
from pyqref.ops.quantized.input import dynamic_grid

#: Run times of real operators round each product and sum, in an order of their own; so results next
#: to ties differ from those of the sum that is rounded once.
LOOSE = {"onnxruntime qdq"}
#: How many output integers the record of each system has.
NEEDS = {"torch": "torch", "onnxruntime": "onnxruntime", "litert": "ai_edge_litert"}


@pytest.fixture(scope="module")
def recorded():
    """All that was recorded."""
    with np.load(RECORDED) as arrays:
        return dict(arrays)


def modelled(name: str, case: Case) -> np.ndarray:
    """The integers of a layer of this package that runs in the arithmetic of a name."""
    (s_x, s_w, s_y), (z_x, z_y) = case.scales, case.zero_points
    per_tensor, per_channel = pyqref._make_per_tensor_quantized_tensor, np.ndim(s_w)
    x = per_tensor(pyqref.from_numpy(case.x), s_x, z_x)
    integers = pyqref.from_numpy(case.weight)
    if per_channel:
        zeros = pyqref.zeros(len(s_w), dtype=pyqref.int64)
        scales = pyqref.from_numpy(np.array(s_w))
        weight = pyqref._make_per_channel_quantized_tensor(integers, scales, zeros, 0)
    else:
        weight = per_tensor(integers, s_w, 0)
    bias = None if case.bias is None else pyqref.from_numpy(case.bias)
    ops = pyqref.ops.quantized
    with arithmetic.use(name):
        if case.kind == "linear":
            return ops.linear(x, ops.linear_prepack(weight, bias), s_y, z_y).int_repr().numpy()
        steps = [[number] * 2 for number in (case.stride, case.padding, case.dilation)]
        packed = ops.conv2d_prepack(weight, bias, *steps, case.groups)
        return ops.conv2d(x, packed, s_y, z_y).int_repr().numpy()


def require_equal(system: str, cases: list[Case], results: dict[int, np.ndarray]) -> None:
    """The model of the system gives its integers for each case that the system takes."""
    name = SYSTEMS[system][1]
    taken = [number for number, case in enumerate(cases) if takes(system, case)]
    assert taken == sorted(results)
    unequal = total = 0
    for number in taken:
        difference = modelled(name, cases[number]).astype(int) - results[number]
        if system in LOOSE:
            assert np.abs(difference).max() <= 1
        unequal += np.count_nonzero(difference)
        total += difference.size
    assert total > 500
    assert unequal <= (0.06 * total if system in LOOSE else 0)


@pytest.mark.parametrize("system", SYSTEMS)
def test_recorded_integers(system, recorded):
    """Equations of the arithmetics: no integer differs from those of the real system."""
    prefix = f"{system}:"
    results = {int(n.removeprefix(prefix)): y for n, y in recorded.items() if n.startswith(prefix)}
    require_equal(system, loaded(recorded), results)


@pytest.mark.parametrize("name", ["onednn", "fbgemm", "onnx"])
def test_without_saturation_the_models_are_the_same(name, recorded):
    """``eq-pair-sum``: with inputs of 7 bits a saturating arithmetic is the one it is made of."""
    saturating = {"onednn": "onednn", "fbgemm": "x86", "onnx": "onnx"}[name] + "-saturating"
    small = [case for case in loaded(recorded) if case.is_small]
    assert len(small) > 40
    for case in small:
        assert np.array_equal(modelled(name, case), modelled(saturating, case))


@pytest.mark.parametrize("name", ["onednn", "fbgemm", "onnx"])
def test_with_8_bits_they_are_not(name, recorded):
    """The record has sums that saturate."""
    saturating = {"onednn": "onednn", "fbgemm": "x86", "onnx": "onnx"}[name] + "-saturating"
    large = [case for case in loaded(recorded) if not case.is_small]
    unequal = [
        np.count_nonzero(modelled(name, case) != modelled(saturating, case)) for case in large
    ]
    assert sum(unequal) > 1000


def test_arithmetics_differ_in_the_record(recorded):
    """No two of these models agree on all cases: the record tells them apart."""
    small = [case for case in loaded(recorded) if case.is_small]
    results = {}
    for name in ("fbgemm", "qnnpack", "onednn", "tflite", "tflite-single", "tflite-ruy", "onnx"):
        results[name] = np.hstack([modelled(name, case).ravel() for case in small])
    names = sorted(results)
    alike = [(a, b) for a in names for b in names if a < b and (results[a] == results[b]).all()]
    assert [] == alike


@pytest.mark.parametrize("system", SYSTEMS)
def test_live(system, tmp_path: Path):
    """New results of the system itself equal those of the model."""
    pytest.importorskip(NEEDS[system.split()[0]])
    if system.startswith("onnxruntime"):
        pytest.importorskip("onnx")
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("the kernels that are modelled are those of x86-64")
    cases = make_cases()
    require_equal(system, cases, results_of(system, cases, tmp_path))


#: torch's dynamic linear layers on onednn, in a process that may do without VNNI.
DYNAMIC = """
import sys, warnings, numpy as np, torch
warnings.simplefilter("ignore")
torch.backends.quantized.engine = "onednn"
given = dict(np.load(sys.argv[1]))
weight, scales = torch.from_numpy(given["weight"]), torch.from_numpy(given["scales"])
zeros = torch.zeros(len(scales), dtype=torch.long)
weight = torch._make_per_channel_quantized_tensor(weight, scales, zeros, 0)
packed = torch.ops.quantized.linear_prepack(weight, torch.from_numpy(given["bias"]))
np.save(sys.argv[2], torch.ops.quantized.linear_dynamic(torch.from_numpy(given["x"]), packed, True))
"""


def test_eq_dynamic_onednn__live(tmp_path: Path):
    """No output of a dynamic layer differs from torch's."""
    pytest.importorskip("torch")
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("the kernels that are modelled are those of x86-64")
    rng = np.random.default_rng(0)
    given = {
        "x": rng.standard_normal((40, 30), np.float32),
        "weight": rng.integers(-60, 60, (50, 30)).astype(np.int8),
        "scales": np.exp(rng.uniform(-5, -2, 50)),
        "bias": rng.standard_normal(50, np.float32),
    }
    np.savez(tmp_path / "given.npz", **given)
    command = [sys.executable, "-c", DYNAMIC, tmp_path / "given.npz", tmp_path / "got.npy"]
    subprocess.run(command, check=True, env=os.environ | WITHOUT_VNNI, timeout=300)
    x = pyqref.from_numpy(given["x"])
    scale, zero_point = dynamic_grid(given["x"], "onednn", True)
    q = pyqref.quantize_per_tensor(x, scale, zero_point, pyqref.quint8).int_repr().numpy()
    model = arithmetic.get("onednn")
    sums = model.accumulate(q, zero_point, given["weight"], 0)
    got = model.dequantize(sums, given["bias"], scale, given["scales"])
    assert np.array_equal(np.load(tmp_path / "got.npy"), got)
