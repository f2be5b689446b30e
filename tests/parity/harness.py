"""One script, two libraries: the same function runs under torch and under pyqref.

A case is a function that takes the namespace (``torch`` or ``pyqref``), does what a
user's script would do, and returns a dict of results. Its answer under torch 2.13 is
recorded in ``recorded/<topic>.xz``; the tests compare pyqref with the recording
everywhere, and with torch itself where torch 2.13 is installed.

    @parity_case()
    def affine_per_tensor(torch):
        x = torch.from_numpy(numpy.random.default_rng(0).standard_normal(100, numpy.float32))
        return {"q": torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)}

Results are compared exactly unless the case names a bound for them.
"""

from __future__ import annotations

import fnmatch
import importlib
import json
import lzma
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
CASES: dict[str, dict[str, Case]] = {}


@dataclass(frozen=True)
class Bound:
    """How far a float result may be from torch's, and why.

    The bound holds if ``|ours - torch's| <= absolute + relative * max|torch's|``.
    """

    why: str
    absolute: float = 0.0
    relative: float = 0.0

    def of(self, theirs: np.ndarray) -> float:
        finite = theirs[np.isfinite(theirs)]
        largest = float(np.abs(finite).max()) if finite.size else 0.0
        return self.absolute + self.relative * largest


@dataclass(frozen=True)
class Case:
    """A script with the bounds of its results."""

    topic: str
    name: str
    script: Callable[[Any], dict[str, Any]]
    bounds: dict[str, Bound] = field(default_factory=dict)
    conventions: str = "documented"

    def run(self, namespace: Any) -> dict[str, np.ndarray]:
        """The results under a namespace, flattened to arrays by path."""
        with default_settings(namespace, self.conventions):
            return dict(flatten(self.script(namespace)))


def parity_case(
    bounds: dict[str, Bound] | None = None, *, conventions: str = "documented"
) -> Callable[[Callable[[Any], dict[str, Any]]], Callable[[Any], dict[str, Any]]]:
    """Register a script as a case of the topic that its file is named after.

    Parameters
    ----------
    bounds
        Patterns of result paths, such as ``"grad/*"``, with the bound of each.
    conventions
        Which conventions pyqref follows in this case.
    """

    def register(script: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
        topic = script.__module__.rpartition(".")[2]
        cases = CASES.setdefault(topic, {})
        assert script.__name__ not in cases, f"two cases named {script.__name__} in {topic}"
        cases[script.__name__] = Case(topic, script.__name__, script, bounds or {}, conventions)
        return script

    return register


def load_cases() -> list[Case]:
    """Every case of every file in ``cases/``."""
    for path in sorted((HERE / "cases").glob("[a-z]*.py")):
        importlib.import_module(f"parity.cases.{path.stem}")
    return [case for topic in CASES.values() for case in topic.values()]


@contextmanager
def default_settings(namespace: Any, conventions: str = "documented") -> Iterator[None]:
    """Default engine and chosen conventions, one thread; put back afterwards."""
    settings = namespace.backends.quantized
    before = settings.engine
    settings.engine = "x86"
    is_torch = namespace.__name__ == "torch"
    if is_torch:
        namespace.set_num_threads(1)
    else:
        before_conventions = settings.conventions
        settings.conventions = conventions
    namespace.manual_seed(0)
    try:
        with warnings.catch_warnings():
            if is_torch:
                warnings.simplefilter("ignore")
            yield
    finally:
        settings.engine = before
        if not is_torch:
            settings.conventions = before_conventions


def flatten(value: Any, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Turn nested results into pairs of a path and an array.

    Tensors become arrays, quantized tensors their integers, scales, zero points and
    dtype, other objects their text with the namespace taken out.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flatten(item, f"{path}/{key}" if path else str(key))
    elif isinstance(value, list | tuple) and any(not _plain(item) for item in value):
        for index, item in enumerate(value):
            yield from flatten(item, f"{path}/{index}")
    elif getattr(value, "is_quantized", False) is True and hasattr(value, "int_repr"):
        yield from flatten(_quantized_parts(value), path)
    elif hasattr(value, "detach") and hasattr(value, "numpy"):
        yield path, np.ascontiguousarray(value.detach().numpy())
    elif isinstance(value, np.ndarray | np.generic) or _plain(value):
        yield path, np.asarray(value)
    else:
        yield path, np.asarray(re.sub(r"\b(torch|pyqref)\.", "", str(value)))


def _plain(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _quantized_parts(value: Any) -> dict[str, Any]:
    parts = {"integers": value.int_repr(), "dtype": str(value.dtype)}
    if "per_channel" in str(value.qscheme()):
        parts["scales"] = value.q_per_channel_scales()
        parts["zero_points"] = value.q_per_channel_zero_points()
        parts["axis"] = value.q_per_channel_axis()
    else:
        parts["scale"] = value.q_scale()
        parts["zero_point"] = value.q_zero_point()
    return parts


@dataclass(frozen=True)
class Difference:
    """Result of comparing two results."""

    elements: int
    different: int
    largest: float
    problem: str | None


def compare(case: Case, path: str, ours: np.ndarray, theirs: np.ndarray) -> Difference:
    """Compare one result: exactly, or within the case's bound for its path."""
    if ours.shape != theirs.shape:
        return _problem(f"shape {ours.shape}, torch has {theirs.shape}")
    if ours.dtype.kind in "US" or theirs.dtype.kind in "US":
        same = str(ours) == str(theirs)
        return Difference(1, int(not same), 0.0, None if same else f"{ours!s} != {theirs!s}")
    if ours.dtype != theirs.dtype and "f" in ours.dtype.kind + theirs.dtype.kind:
        return _problem(f"dtype {ours.dtype}, torch has {theirs.dtype}")
    unequal = ~((ours == theirs) | ((ours != ours) & (theirs != theirs)))
    count = int(unequal.sum())
    if count == 0:
        return Difference(ours.size, 0, 0.0, None)
    with np.errstate(all="ignore"):
        gap = np.abs(np.asarray(ours, np.float64) - np.asarray(theirs, np.float64))[unequal]
    largest = float(np.nan_to_num(gap, nan=np.inf).max())
    bound = next((b for p, b in case.bounds.items() if fnmatch.fnmatch(path, p)), None)
    allowed = bound.of(np.asarray(theirs, np.float64)) if bound is not None else 0.0
    problem = None
    if largest > allowed:
        problem = (
            f"{count} of {ours.size} elements differ, by {largest:.3g} at most "
            f"(allowed {allowed:.3g}); ours {ours[unequal][:5]}, torch's {theirs[unequal][:5]}"
        )
    return Difference(ours.size, count, largest, problem)


def _problem(text: str) -> Difference:
    return Difference(0, 1, float("inf"), text)


def differences(
    case: Case, ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]
) -> dict[str, Difference]:
    """Compare every result of a case; a result that only one side has is a problem."""
    found = {}
    for path in sorted(set(ours) | set(theirs)):
        if path not in ours or path not in theirs:
            side = "torch" if path in theirs else "pyqref"
            found[path] = _problem(f"only {side} gives this result")
        else:
            found[path] = compare(case, path, ours[path], theirs[path])
    return found


def write_recording(path: Path, answers: dict[str, np.ndarray]) -> None:
    """Store arrays by key: an index, then all bytes, compressed together."""
    index = [[key, array.dtype.str, array.shape] for key, array in answers.items()]
    header = json.dumps(index).encode()
    payload = b"".join(np.ascontiguousarray(array).tobytes() for array in answers.values())
    path.write_bytes(lzma.compress(len(header).to_bytes(8, "little") + header + payload, preset=9))


@cache
def read_recording(path: Path) -> dict[str, np.ndarray]:
    """The arrays that :func:`write_recording` stored."""
    content = lzma.decompress(path.read_bytes())
    end = 8 + int.from_bytes(content[:8], "little")
    answers = {}
    for key, kind, shape in json.loads(content[8:end]):
        count = int(np.prod(shape, dtype=int))
        array = np.frombuffer(content, np.dtype(kind), count, end)
        answers[key] = array.reshape(shape)
        end += array.nbytes
    return answers


def recorded(case: Case) -> dict[str, np.ndarray]:
    """Torch's recorded answer to a case."""
    prefix = f"{case.name}|"
    answers = read_recording(HERE / "recorded" / f"{case.topic}.xz")
    return {key[len(prefix) :]: each for key, each in answers.items() if key.startswith(prefix)}


def joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Results of the same names one after the other: a recording of few, longer arrays."""
    found: dict[str, list[Any]] = {}
    for part in parts:
        for name, value in part.items():
            found.setdefault(f"{name}/{value.dtype}", []).append(value)
    return {name: np.concatenate(values) for name, values in found.items()}
