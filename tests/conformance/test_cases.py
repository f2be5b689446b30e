"""The cases hit what they name, and no known mistake passes them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from pyqref import testing
from pyqref.testing import CONDITIONS, conformance
from pyqref.testing.checking import _alike
from pyqref.testing.conformance_set import operation_of

#: What every linear layer and every convolution is tried with.
OF_LAYERS = {
    *("tie", "negative tie", "tie, odd zero point", "tie by rounding", "beside a tie"),
    *("clamp below", "clamp above", "relu", "zero point at the lower end"),
    *("zero point at the upper end", "negative accumulator", "beyond 16 bits"),
    *("pairs beyond 16 bits", "bias", "bias between units", "odd shape", "per channel"),
    *("weight zero point", "reciprocal"),
}
OF_POOLS = {"tie", "tie, odd zero point", "padding", "odd shape"}
OF_OTHERS = {
    "add": {"tie", "negative tie", "clamp below", "clamp above", "relu", "odd shape"},
    "mul": {"tie", "negative tie", "clamp below", "clamp above", "relu", "odd shape"},
    "quantize": {"tie", "tie by rounding", "clamp below", "clamp above", "infinity"},
    "quantize_per_channel": {"tie", "clamp below", "clamp above", "per channel"},
    "dequantize": {"zero point at the lower end", "zero point at the upper end", "odd shape"},
    "requantize": {"tie", "negative tie", "clamp below", "clamp above"},
    "linear_dynamic": {"bias", "per channel", "weight zero point", "beyond 16 bits", "odd shape"},
}
#: Of systems that compute as these engines do, or that differ elsewhere than in these operations.
SAME = {
    "fbgemm": {"computes as tensorrt"},
    "qnnpack": {"rounds halves away from zero"},
    "tflite": {"rounds the bias to units of the accumulator", "computes as cmsis-nn"},
}
cases_of = cache(conformance)
WAYS = [("fbgemm", "uint8"), ("qnnpack", "int8")]


def required(operation: str) -> set[str]:
    if operation in OF_OTHERS:
        return OF_OTHERS[operation]
    return OF_POOLS if "pool" in operation else OF_LAYERS


@pytest.mark.parametrize(("engine", "dtype"), WAYS)
@pytest.mark.parametrize("operation", testing.operations())
def test_each_case_hits_what_it_names(operation: str, engine: str, dtype: str) -> None:
    """Ties are ties, clamps clamp: each named condition occurs in an element at least."""
    cases = cases_of(operation, engine, dtype=dtype)
    counts = [case.counts() for case in cases]
    missed = {case.name: {*case.hits} - {*found} for case, found in zip(cases, counts, strict=True)}
    assert {} == {name: each for name, each in missed.items() if each}
    assert set() == required(operation) - set().union(*counts)
    assert len(cases) == len({case.name for case in cases})


def test_every_condition_occurs_somewhere() -> None:
    """Every named condition occurs in some case."""
    every = [case.counts() for name in ("linear", "conv2d", "quantize") for case in cases_of(name)]
    assert set(CONDITIONS) == set().union(*every)


@pytest.mark.parametrize(
    ("operation", "engine"),
    [
        ("linear", "fbgemm"),
        ("linear", "tflite"),
        ("grouped_conv2d", "qnnpack"),
        ("conv_transpose1d", "fbgemm"),
        *(
            (operation, engine)
            for operation in OF_OTHERS
            for engine in ("fbgemm", "qnnpack")
            if operation not in ("quantize", "dequantize", "requantize") or engine == "fbgemm"
        ),
        ("avg_pool2d", "fbgemm"),
        ("avg_pool2d", "qnnpack"),
    ],
)
def test_no_mistake_passes(operation: str, engine: str) -> None:
    """Each deliberately wrong variant gives another result in one of the cases."""
    cases = cases_of(operation, engine)
    passing = {}
    for mistake in operation_of(operation).mistakes(engine):
        same = all(_alike(mistake, case, case.expected) for case in cases)
        passing[mistake.name] = same and passing.get(mistake.name, True)
    assert {name for name, same in passing.items() if same} <= SAME.get(engine, set())


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("operation", testing.operations())
def test_stages_lead_to_the_result(operation: str, engine: str) -> None:
    """Rounded, clamped: the numbers that conditions look at are those of the equations."""
    for case in cases_of(operation, engine):
        stages = case.stages
        if stages.whole is not None and (operation, engine) != ("add", "qnnpack"):
            clamped = np.clip(stages.whole, stages.lower, stages.upper)
            differs = clamped != case.expected
            # Quantizing is one fused operation in float32; stages are exact.
            assert not differs.any() or (operation == "quantize" and case.name == "next to ties")


@pytest.mark.parametrize("operation", testing.operations())
def test_a_derivation_ends_at_the_expected_number(operation: str) -> None:
    """Step by step, by other code than the cases."""
    case = cases_of(operation, "qnnpack")[0]
    index = tuple(size - 1 for size in case.expected.shape)
    expected = case.expected[index]
    assert str(int(expected) if case.expected.dtype.kind != "f" else expected) in case.derive(index)
    with pytest.raises(IndexError, match="index must be"):
        case.derive(case.expected.shape)


def test_other_arithmetics_and_signed_activations() -> None:
    """Arithmetics other than torch's engines get the same inputs and give other integers."""
    ties = {
        name: conformance("linear", name, dtype=np.int8)[1] for name in ("fbgemm", "tflite", "onnx")
    }
    inputs = {each.arguments["x"].tobytes() for each in ties.values()}
    results = {each.expected.tobytes() for each in ties.values()}
    assert (1, 2) == (len(inputs), len(results))
    moved = conformance("linear", "fbgemm")[1]
    assert np.array_equal(moved.expected.astype(int) - 128, ties["fbgemm"].expected)


def test_what_is_not_supported_is_left_out() -> None:
    cases = conformance("conv2d", without=["per channel", "weight zero point"])
    assert not any({"per channel", "weight zero point"} & {*case.counts()} for case in cases)
    assert len(cases) > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("conv4d",), "operation must be one of 'linear'"),
        (("linear", "cuda"), "engine must be one of 'fbgemm'.* for linear, got 'cuda'"),
        (("add", "tflite"), "engine must be one of 'fbgemm', 'x86', 'onednn', 'qnnpack' for add"),
    ],
)
def test_wrong_names(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        conformance(*arguments)
    with pytest.raises(ValueError, match="dtype must be 'uint8' or 'int8', got 'int4'"):
        conformance("linear", dtype="int4")
    with pytest.raises(ValueError, match=r"without must hold names among 'tie'.* got 'ties'"):
        conformance("linear", without=["ties"])
