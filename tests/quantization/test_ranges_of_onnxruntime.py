"""The ranges of ONNX Runtime's calibrators: live where it is installed, recorded elsewhere."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import quantization as q

#: For each case the calibrator, its options and our observer.
CASES: dict[str, tuple[str, dict[str, Any], Callable[[], Any]]] = {
    "MinMax": ("MinMax", {}, q.MinMaxObserver),
    "Entropy": (
        "Entropy",
        {},
        partial(q.EntropyObserver, bins=128, definition="onnxruntime"),
    ),
    "Entropy, 192 bins": (
        "Entropy",
        {"num_bins": 192},
        partial(q.EntropyObserver, bins=192, definition="onnxruntime"),
    ),
    "Percentile": (
        "Percentile",
        {},
        partial(q.PercentileObserver, bins=2048, symmetric=True, definition="onnxruntime"),
    ),
    "Percentile, 99, not symmetric": (
        "Percentile",
        {"percentile": 99.0, "symmetric": False, "num_bins": 512},
        partial(q.PercentileObserver, 99.0, bins=512, symmetric=False, definition="onnxruntime"),
    ),
}
KINDS = ("normal", "positive", "heavy", "shifted")
#: What onnxruntime 1.32 with NumPy 2.4 gave.
RECORDED: dict[tuple[str, str], tuple[float, float]] = {
    ("MinMax", "normal"): (-11.144432067871094, 12.805703163146973),
    ("MinMax", "positive"): (0.0, 9.9651460647583),
    ("MinMax", "heavy"): (-561.815185546875, 417.26324462890625),
    ("MinMax", "shifted"): (-3.351109504699707, 14.489252090454102),
    ("Entropy", "normal"): (-11.144432067871094, 12.185693740844727),
    ("Entropy", "positive"): (0.0, 7.5618896484375),
    ("Entropy", "heavy"): (-92.13442993164062, 92.60455322265625),
    ("Entropy", "shifted"): (-3.351109504699707, 8.453047752380371),
    ("Entropy, 192 bins", "normal"): (-10.52031421661377, 10.560934066772461),
    ("Entropy, 192 bins", "positive"): (0.0, 7.542348861694336),
    ("Entropy, 192 bins", "heavy"): (-107.17678833007812, 107.49017333984375),
    ("Entropy, 192 bins", "shifted"): (-3.351109504699707, 11.184032440185547),
    ("Percentile", "normal"): (-11.144432067871094, 12.804153442382812),
    ("Percentile", "positive"): (0.0, 9.963859558105469),
    ("Percentile", "heavy"): (-438.7660827636719, 417.26324462890625),
    ("Percentile", "shifted"): (-3.351109504699707, 14.486672401428223),
    ("Percentile, 99, not symmetric", "normal"): (-7.661754131317139, 8.103485107421875),
    ("Percentile, 99, not symmetric", "positive"): (0.0, 6.785183906555176),
    ("Percentile, 99, not symmetric", "heavy"): (-127.15493774414062, 157.357177734375),
    ("Percentile, 99, not symmetric", "shifted"): (-0.9753513336181641, 10.988961219787598),
}


def batches(kind: str) -> list[np.ndarray]:
    """Four batches, each with another range."""
    rng = np.random.default_rng(KINDS.index(kind))
    made = []
    for each in range(4):
        x = rng.standard_normal((4, 301)).astype(np.float32) * np.float32(1 + each * rng.random())
        made.append(
            {"normal": x, "positive": np.maximum(x, 0), "heavy": x**3, "shifted": x + 5}[kind]
        )
    return [each.astype(np.float32) for each in made]


def ours(name: str, kind: str) -> tuple[float, float]:
    observer = CASES[name][2]()
    for each in batches(kind):
        observer(pyqref.from_numpy(each))
    if name == "MinMax":
        return observer.min_val.item(), observer.max_val.item()
    low, high = observer.find_range()
    return low.item(), high.item()


def theirs(name: str, kind: str, folder: Path) -> tuple[float, float]:
    """The range of the input of a network of one addition; a call of collect_data a batch."""
    onnx = pytest.importorskip("onnx")
    calibrate = pytest.importorskip("onnxruntime.quantization.calibrate")
    helper = onnx.helper
    shape = [onnx.TensorProto.FLOAT, [4, 301]]
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["y"])],
        "double",
        [helper.make_tensor_value_info("x", *shape)],
        [helper.make_tensor_value_info("y", *shape)],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), folder / "x.onnx")
    method, options, _ = CASES[name]
    calibrator = calibrate.create_calibrator(
        str(folder / "x.onnx"),
        ["Add"],
        str(folder / "augmented.onnx"),
        getattr(calibrate.CalibrationMethod, method),
        extra_options=options,
    )
    with contextlib.redirect_stdout(io.StringIO()):
        for each in batches(kind):
            calibrator.collect_data(_Once({"x": each}))
        low, high = calibrator.compute_data()["x"].range_value
    return float(np.squeeze(low)), float(np.squeeze(high))


class _Once:
    """A reader of one batch."""

    def __init__(self, batch: dict[str, np.ndarray]) -> None:
        self.left = [batch]

    def get_next(self) -> dict[str, np.ndarray] | None:
        return self.left.pop() if self.left else None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_ranges_equal_those_recorded(name: str, kind: str) -> None:
    """Documented: ``definition="onnxruntime"`` gives the range of its calibrator, to the bit."""
    assert RECORDED[name, kind] == ours(name, kind)


@pytest.mark.parametrize("name", CASES)
def test_ranges_equal_those_of_the_library(name: str, tmp_path: Path) -> None:
    """The recorded ranges are those of the onnxruntime that is installed."""
    for kind in ("normal", "shifted"):
        assert RECORDED[name, kind] == theirs(name, kind, tmp_path)


HUGE = np.full(8, 1e9, np.float32)
#: For each case the batches, and what onnxruntime 1.32 with NumPy 2.4 gave for each calibrator.
EDGES: dict[str, tuple[list[np.ndarray], dict[str, tuple[float, float]]]] = {
    "constant": ([HUGE], {"Entropy": (1e9, 1e9)}),
    "constant, then a larger tensor": (
        [HUGE, np.float32([1.5e9, 2e9])],
        {
            "Entropy": (1e9, 2e9),
            "Percentile, 99, not symmetric": (1e9, 2e9),
        },
    ),
    "negative constant, then positive numbers": (
        [-HUGE, np.float32([3e9])],
        {
            "Entropy": (-1e9, 2000000256.0),
            "Percentile, 99, not symmetric": (-1e9, 2999999744.0),
        },
    ),
    "as wide as float32 allows": (
        [np.float32([-1.6e38, 1.0, 1.6e38])],
        {
            "Entropy": (-1.59999998941053e38, 1.59999998941053e38),
            "Percentile": (-1.5992187109925973e38, 1.5992187109925973e38),
            "Percentile, 99, not symmetric": (-1.59999998941053e38, 1.5937499648911647e38),
        },
    ),
}
EDGE_CASES = [(edge, name) for edge, (_, ranges) in EDGES.items() for name in ranges]


def collected(name: str, data: list[np.ndarray]) -> tuple[float, float]:
    """The range that the collector of the calibrator finds, a call of ``collect`` a batch."""
    calibrate = pytest.importorskip("onnxruntime.quantization.calibrate")
    method, options, _ = CASES[name]
    is_percentile = method == "Percentile"
    collector = calibrate.HistogramCollector(
        method.lower(),
        options.get("symmetric", is_percentile),
        options.get("num_bins", 2048 if is_percentile else 128),
        128,
        options.get("percentile", 99.999) if is_percentile else None,
        None,
    )
    with contextlib.redirect_stdout(io.StringIO()):
        for each in data:
            collector.collect({"x": [each]})
        found = collector.compute_collection_result()["x"]
    return float(found[0]), float(found[1])


@pytest.mark.parametrize(("edge", "name"), EDGE_CASES)
def test_edges_of_the_numbers(edge: str, name: str) -> None:
    """Constant data, a larger tensor after it and huge magnitudes give the ranges of the library.

    Its steps are below float32's resolution there; a warning of a division by 0 would be an error.
    """
    data, expected = EDGES[edge]
    observer = CASES[name][2]()
    for each in data:
        observer(pyqref.from_numpy(each))
    found = tuple(each.item() for each in observer.find_range())
    assert expected[name] == found
    assert all(np.isfinite(each).all() for each in observer.calculate_qparams())


@pytest.mark.parametrize(("edge", "name"), EDGE_CASES)
def test_edges_are_those_of_the_library(edge: str, name: str) -> None:
    """The recorded ranges are those of the onnxruntime that is installed."""
    data, expected = EDGES[edge]
    assert expected[name] == collected(name, data)


@pytest.mark.parametrize("name", [each for each in CASES if each != "MinMax"])
def test_magnitudes_without_a_width_are_refused(name: str) -> None:
    """Beyond half of float32 the width from minus to plus is infinite: the state stays as it was.

    The default definition takes such numbers.
    """
    observer = CASES[name][2]()
    observer(pyqref.tensor([-1e38, 1e38]))
    before = {key: each.tolist() for key, each in observer.state_dict().items()}
    for far in (2e38, -2e38):
        with pytest.raises(ValueError, match=r"magnitudes up to 1.7e\+38, got 2e\+38; leave defin"):
            observer(pyqref.tensor([1.0, far]))
        with pytest.raises(ValueError, match="leave definition out"):
            CASES[name][2]()(pyqref.tensor([far]))
    assert before == {key: each.tolist() for key, each in observer.state_dict().items()}
    nested = type(observer)()
    nested(pyqref.tensor([-3e38, 3e38]))
    assert all(np.isfinite(each.item()) for each in nested.find_range())
