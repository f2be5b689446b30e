"""Exercises: right solutions pass, every known mistake is told by its name, nothing crashes."""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import course, measure, nn, numerics, quantization
from pyqref._kernels import pack_linear
from pyqref.course.checking import run
from pyqref.quantization.backend_config import BackendPatternConfig
from pyqref.quantization.backend_config.pattern_format import MatchAllNode
from pyqref.quantization.fx.matching import find_matches

EXERCISES = [course.get(name) for name in course.exercises()]
MISTAKES = [(each, mistake) for each in EXERCISES for mistake in each.mistakes]
THEORY = Path(__file__).parents[2] / "docs" / "theory"


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_the_solution_passes(exercise: course.Exercise) -> None:
    result = run(exercise, exercise.solution)
    assert result
    assert result.passed
    assert f"all {result.cases} cases are right" in str(result)
    assert result.cases > len(exercise.cases)


@pytest.mark.parametrize(
    ("exercise", "mistake"), MISTAKES, ids=[f"{e.name}-{m.name}" for e, m in MISTAKES]
)
def test_a_mistake_is_told_by_its_name(
    exercise: course.Exercise, mistake: course.Mistake, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each wrong solution is told apart from the right one and from every other."""
    result = course.check(exercise.name, mistake.function)
    assert not result
    assert [mistake.name] == [each.name for each in result.mistakes]
    told = capsys.readouterr().out
    assert f"The mistake: {mistake.name}." in told
    assert result.failures[0].case in told


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_an_exercise_leads_to_its_equation_and_to_pyqref(exercise: course.Exercise) -> None:
    assert any(exercise.label in page.read_text("utf-8") for page in THEORY.glob("*.rst"))
    module, _, name = course.solution(exercise.name).rpartition(".")
    assert callable(getattr(import_module(module), name))
    described = course.describe(exercise.name)
    assert exercise.label in described


# --- The solutions are pyqref's own -------------------------------------------------------


def cases(name: str) -> list[tuple[Any, ...]]:
    return [case.arguments for case in course.get(name).cases]


def test_solutions_give_what_the_equations_give() -> None:
    """eq-affine-quantize, eq-affine-dequantize, eq-affine-qparams, eq-symmetric-scale."""
    for x, scale, zero_point, low, high in cases("quantize"):
        theirs = numerics.affine.quantize_per_tensor(x, scale, zero_point, low, high, np.int64)
        ours = course.get("quantize").solution(x, scale, zero_point, low, high)
        assert np.array_equal(theirs, ours)
    for arguments in cases("dequantize"):
        theirs = numerics.affine.dequantize_per_tensor(*arguments)
        assert np.array_equal(theirs, course.get("dequantize").solution(*arguments))
    for arguments in cases("affine_qparams"):
        scale, zero_point = numerics.qparams.affine_qparams(*arguments)
        ours = course.get("affine_qparams").solution(*arguments)
        assert (np.float32(ours[0]), ours[1]) == (scale, zero_point)
    for arguments in cases("symmetric_scale"):
        theirs = numerics.qparams.symmetric_qparams(*arguments)
        assert theirs == np.float32(course.get("symmetric_scale").solution(*arguments))


def test_solutions_of_layers_give_what_the_equations_give() -> None:
    """eq-linear-accumulator, eq-affine-quantize-channel, eq-fold-weight, eq-fake-quantize."""
    for arguments in cases("accumulate"):
        theirs = numerics.linear.linear_accumulator(*arguments)
        assert np.array_equal(theirs, course.get("accumulate").solution(*arguments))
    for w, scales, points, axis, low, high in cases("quantize_per_channel"):
        theirs = numerics.affine.quantize_per_channel(w, scales, points, axis, low, high, np.int64)
        ours = course.get("quantize_per_channel").solution(w, scales, points, axis, low, high)
        assert np.array_equal(theirs, ours)
    for arguments in cases("fold_batch_norm"):
        pairs = zip(
            numerics.folding.fold_batch_norm(*arguments),
            course.get("fold_batch_norm").solution(*arguments),
            strict=True,
        )
        assert all(np.array_equal(*pair) for pair in pairs)
    for arguments in cases("fake_quantize"):
        y, mask = numerics.fake_quantize.fake_quantize_per_tensor(*arguments)
        ours = course.get("fake_quantize").solution(*arguments)
        assert np.array_equal(y, ours[0])
        assert np.array_equal(mask, ours[1])


@pytest.mark.parametrize(
    ("name", "observer"),
    [
        ("min_max_observer", quantization.MinMaxObserver),
        ("moving_average_observer", quantization.MovingAverageMinMaxObserver),
    ],
)
def test_observers_of_pyqref_pass(name: str, observer: Any) -> None:
    """eq-running-range, eq-average-range: adapted to take and give arrays."""

    class Adapted(observer):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return super().forward(pyqref.from_numpy(x)).numpy()

    assert run(course.get(name), Adapted), str(run(course.get(name), Adapted))


def test_solutions_on_networks_give_what_the_equations_give() -> None:
    """eq-quantized-add, eq-linear-dynamic, eq-noise-sum, eq-roofline."""
    grid = numerics.elementwise.Grid
    for a, sa, za, b, sb, zb, scale, point in cases("quantized_add"):
        sides = a, grid(sa, za), b, grid(sb, zb)
        ours = course.get("quantized_add").solution(a, sa, za, b, sb, zb, scale, point)
        assert np.array_equal(numerics.elementwise.add(*sides, grid(scale, point)), ours)
    for x, weight, scales, bias in cases("linear_dynamic"):
        theirs = numerics.dynamic.linear_dynamic(
            x, weight, scales, 0, bias, engine="qnnpack", reduce_range=False
        )
        ours = course.get("linear_dynamic").solution(x, weight, scales, bias)
        assert np.array_equal(theirs, ours.astype(np.float32))
    for arguments in cases("roofline"):
        assert measure.roofline(*arguments) == course.get("roofline").solution(*arguments)
    for ratios, wanted in cases("spare_layers"):
        spared = course.get("spare_layers").solution(ratios, wanted)
        left = [ratio for index, ratio in enumerate(ratios) if index not in spared]
        assert measure.add_noises(left) >= wanted
        for fewer in combinations(ratios, len(left) + 1):
            assert measure.add_noises(fewer) < wanted


def test_packed_weights_are_those_of_the_kernels() -> None:
    """Packed weights are those of the kernels, without the columns that fill their panels."""
    for (weight,) in cases("pack_weight"):
        panel = pack_linear(weight).panels.reshape(-(-weight.shape[1] // 4), -1, 4)
        ours = course.get("pack_weight").solution(weight)
        assert np.array_equal(panel[:, : len(weight)], ours)


KINDS = {"conv": nn.Conv2d(1, 1, 1), "bn": nn.BatchNorm2d(1), "relu": nn.ReLU(), "add": pyqref.add}


def complex_format(pattern: tuple[str, ...]) -> Any:
    """A pattern as graph mode keeps it: from the last operation to the first."""
    first, *others = (type(KINDS[kind]) if kind != "add" else KINDS[kind] for kind in pattern)
    found = (first, MatchAllNode, MatchAllNode) if first is pyqref.add else first
    for each in others:
        found = (each, found, MatchAllNode) if each is pyqref.add else (each, found)
    return found


@pytest.mark.parametrize("case", course.get("match_patterns").cases, ids=lambda each: each.name)
def test_matches_are_those_of_graph_mode(case: course.Case) -> None:
    """pyqref.quantization.fx finds the same nodes in the same graph."""
    nodes, patterns = case.arguments
    root, graph, made = nn.Module(), pyqref.fx.Graph(), {}
    for name, kind, inputs in nodes:
        before = tuple(made[each] for each in inputs)
        if kind == "input":
            made[name] = graph.placeholder(name)
        elif kind == "output":
            graph.output(before)
        elif kind == "add":
            made[name] = graph.call_function(KINDS[kind], before)
        else:
            root.add_module(name, KINDS[kind])
            made[name] = graph.call_module(name, before)
    configs = [(complex_format(each), BackendPatternConfig(each)) for each in patterns]
    found = find_matches(pyqref.fx.GraphModule(root, graph), configs)
    named = {node: name for name, node in made.items()}
    theirs = {tuple(named[node] for node in match.all_nodes()[::-1]) for match in found.values()}
    ours = course.get("match_patterns").solution(nodes, patterns)
    assert theirs == {tuple(each) for each in ours}


# --- Whatever students write ----------------------------------------------------------------


def raises(*_: Any) -> Any:
    raise ZeroDivisionError("division by zero")


def changes(x: Any, *_: Any) -> Any:
    x[...] = 0
    return x


WHATEVER = {
    "exits": (lambda *_: sys.exit(0), "it raised SystemExit: 0"),
    "raises": (raises, "it raised ZeroDivisionError: division by zero"),
    "returns nothing": (lambda *_: None, "it returned None"),
    "returns text": (lambda *_: object(), "should be numbers"),
    "another shape": (lambda x, *_: np.zeros(1, int), "its shape is (1,), not (4,)"),
    "floats": (lambda x, *_: np.asarray(x, float), "it should be integers, got fractions"),
    "changes its argument": (changes, "it changed its arguments"),
    "takes too few": (lambda x: x, "it raised TypeError"),
    "ragged": (lambda *_: [[1], [1, 2]], "should be numbers"),
}


@pytest.mark.parametrize("name", WHATEVER)
def test_whatever_is_returned_is_reported(name: str) -> None:
    function, expected = WHATEVER[name]
    result = run(course.get("quantize"), function)
    assert not result
    assert expected in str(result)


def test_the_wrong_number_of_results_is_reported() -> None:
    assert "it should return scale, zero_point" in str(run(course.get("affine_qparams"), max))


def test_results_as_tensors_count() -> None:
    def quantize(x: Any, scale: float, zero_point: int, low: int, high: int) -> Any:
        steps = pyqref.round(pyqref.from_numpy(x) / scale + zero_point)
        return pyqref.clamp(steps, low, high).to(pyqref.int32)

    assert run(course.get("quantize"), quantize)


def test_two_mistakes_are_both_told() -> None:
    """Rounding up without a clamp: both are named, and nothing else."""

    def both(x: Any, scale: float, zero_point: int, _low: int, _high: int) -> Any:
        return np.floor(x / scale + zero_point + 0.5).astype(np.int64)

    result = run(course.get("quantize"), both)
    assert ["rounds halves up", "does not clamp"] == [each.name for each in result.mistakes]
    assert "Two mistakes at once:" in str(result)


def test_unknown_names_and_what_cannot_be_called() -> None:
    with pytest.raises(ValueError, match=r"name must be one of 'quantize', .*got 'quantise'"):
        course.check("quantise", lambda: None)
    with pytest.raises(TypeError, match=r"function must be quantize\(x, scale"):
        course.check("quantize", 3)  # type: ignore[arg-type]
