"""The random caller finds no fault of the kinds that are promised, and would see one of each."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz import caller, cases, catalogue, judge, planted, values

import pyqref
from pyqref.nn import functional
from pyqref.ops import quantized

#: Kinds that are only counted: what is too large depends on the machine.
COUNTED = ("memory",)
#: Functions that read or change files, the state of the process, or are of Python.
NOT_CALLED = frozenset(
    {
        *(
            "frombuffer",
            "get_default_dtype",
            "get_num_threads",
            "get_rng_state",
            "initial_seed",
            "load",
            "save",
        ),
        # Switches, which change what calls after them do, and what is not about tensors.
        *("are_deterministic_algorithms_enabled", "compile", "get_default_device"),
        *("get_deterministic_debug_mode", "get_float32_matmul_precision"),
        *("get_num_interop_threads", "install_as_torch", "is_autocast_enabled"),
        *("is_deterministic_algorithms_warn_only_enabled", "set_default_device"),
        *("set_default_tensor_type", "set_deterministic_debug_mode"),
        *("set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads"),
        *("explain", "explain_diff", "ledger", "use_deterministic_algorithms"),
        *("is_grad_enabled", "is_inference_mode_enabled", "make_quantized", "manual_seed", "seed"),
        *("set_default_dtype", "set_num_threads", "set_printoptions", "set_rng_state", "typename"),
    }
)

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="no limits on processes there")


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    threads = pyqref.get_num_threads()
    yield
    pyqref.set_num_threads(threads)


def _called(path: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    code = caller.main([*arguments, "--json", str(path / "found.json")])
    return code, json.loads((path / "found.json").read_text())


@on_posix
def test_two_thousand_calls(tmp_path):
    """No crash, no hang, kernels and threads agree to the bit, errors and results are sound."""
    _, told = _called(tmp_path, "--calls", "2000", "--seed", "0")
    new = [
        (fault["kind"], fault["place"], fault["said"], fault["line"])
        for fault in told["faults"]
        if fault["kind"] not in COUNTED
    ]
    assert [] == new
    assert 2000 == told["calls"]
    assert told["answered"] > 600  # most calls must reach what they call


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sound", None),
        ("bits", "disagreement"),
        ("threads", "disagreement"),
        ("leak", "result"),
        ("zero_point", "result"),
        ("wrong_class", "wrong class"),
        ("raw", "raw"),
        ("warning", "warning"),
        ("memory", "memory"),
    ],
)
def test_a_planted_fault_is_seen(name, kind):
    """Each kind of fault is told from the others; a sound function has none."""
    if name == "bits" and pyqref.kernels.in_use() == "reference":
        pytest.skip("one kernel cannot disagree with itself")
    target = catalogue.chosen(f"planted.{name}")
    found = [judge.judged(cases.case(0, n, target), pyqref.kernels.in_use())[1] for n in range(4)]
    assert {kind} - {None} == {fault.kind for each in found for fault in each}


@on_posix
@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("crash", "crash", "planted.py"),
        ("hang", "hang", "in hang"),
        ("sleep", "hang", "no sign of life"),
    ],
)
def test_the_end_of_a_child_is_seen(tmp_path, capsys, name, kind, said):
    """A crash and a hang are found with their line, and the next call is made."""
    given = ("--calls", "2", "--only", f"planted.{name}", "--seconds", "1")
    patience = "2" if name == "sleep" else "60"  # the others end by themselves
    code, told = _called(tmp_path, *given, "--patience", patience)
    assert (1, 2, {kind: 2}) == (code, told["calls"], told["kinds"])
    assert said in told["faults"][0]["said"]
    printed = capsys.readouterr().out
    assert f"from fuzz.values import *; planted.{name}(" in printed
    assert f"python tests/fuzz/caller.py --seed 0 --call 0 --only planted.{name}" in printed


def test_every_kind_is_planted():
    """A fault added to the table is tested here."""
    tested = {"bits", "threads", "leak", "zero_point", "wrong_class", "raw", "warning", "memory"}
    assert tested | {"sound", "crash", "hang", "sleep"} == set(planted.__all__)


def test_a_call_follows_from_its_number():
    """The seed and the number give the call, whichever were made before."""
    targets = catalogue.targets()
    once = [cases.case(3, number, targets).line for number in range(50)]
    again = [cases.case(3, number, targets).line for number in reversed(range(50))]
    assert once == again[::-1]
    assert once != [cases.case(4, number, targets).line for number in range(50)]


def test_every_public_function_is_called():
    """A function added to a namespace must be added to a table."""
    called = {each.name for each in catalogue.targets()}
    assert {f"pyqref.ops.quantized.{each}" for each in quantized.__all__} <= called
    short = {each.rsplit(".", 1)[-1] for each in called}
    for module in (pyqref, functional):
        functions = {
            name: getattr(module, name)
            for name in module.__all__
            if isinstance(getattr(module, name), types.FunctionType)
        }
        reached = [function for name, function in functions.items() if name in short]
        missing = {name for name, function in functions.items() if function not in reached}
        assert missing <= NOT_CALLED


@pytest.mark.parametrize("kind", values.KINDS)
@pytest.mark.parametrize("layout", sorted(set(values.LAYOUTS)))
def test_recipes(kind, layout):
    """A recipe gives a tensor of the shape, the same one every time."""
    for shape in ((), (3,), (0,), (2, 3), (2, 0, 3), (2, 3, 4, 5)):
        for fill in ("normal", "hard", "indices", "zeros"):
            made, again = (values.T(shape, kind, fill, 5, layout) for _ in range(2))
            assert shape == tuple(made.shape)
            assert judge.frozen(made) == judge.frozen(again)
