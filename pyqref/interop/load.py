"""Arrays by name into a model, with a list of what fits and what does not."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from pyqref.dtypes import dtype as Dtype
from pyqref.nn import Module
from pyqref.tensor.base import TensorBase

from .arrays import is_torch, is_wider, to_value
from .report import LoadReport, LoadRow

__all__ = ["load_torch_state_dict"]


def load_torch_state_dict(
    model: Module, state_dict: Mapping[str, Any], strict: bool = True
) -> LoadReport:
    """Copy arrays by name into the parameters, buffers and packed weights of a model.

    Parameters
    ----------
    model
        A model of this package, float or quantized.
    state_dict
        From names to values: tensors of ``torch`` (quantized ones too), such as
        ``state_dict()`` of a ``torch`` module gives, NumPy arrays, or tensors of this
        package. Names and shapes are those of ``torch``.
    strict
        Anything that is missing, unexpected or does not fit is an error. If False, what
        fits is loaded, and the report tells of the rest.

    Returns
    -------
    LoadReport
        What became of each name; it prints as a table.

    Raises
    ------
    RuntimeError
        Something does not fit, with the table of it; the model is as it was before.
    TypeError
        ``model`` or ``state_dict`` is something else.

    Notes
    -----
    Floating-point numbers are cast from one width to another, and the report says so. Integers
    are never cast to floating point, nor the other way round.

    Examples
    --------
    >>> import numpy as np
    >>> import pyqref
    >>> layer = pyqref.nn.Linear(2, 1)
    >>> state = {"weight": np.float32([[1, 2]]), "bias": np.float32([3])}
    >>> print(load_torch_state_dict(layer, state))
    2 loaded
    name    status  note
    weight  loaded  (1, 2) float32
    bias    loaded  (1,) float32
    >>> load_torch_state_dict(layer, {"weight": np.float32([[1, 2, 3]])})
    Traceback (most recent call last):
    ...
    RuntimeError: load_torch_state_dict: Linear is as it was before: 1 wrong shape, 1 missing
    name    status       note
    weight  wrong shape  (1, 3) given, (1, 2) in the model
    bias    missing      (1,) float32 in the model
    """
    if not isinstance(model, Module):
        raise TypeError(
            f"load_torch_state_dict: model must be a pyqref.nn.Module, got {_kind(model)}"
        )
    if not isinstance(state_dict, Mapping):
        raise TypeError(
            "load_torch_state_dict: state_dict must map names to arrays, got "
            f"{_kind(state_dict)}; pass module.state_dict()"
        )
    odd = [key for key in state_dict if not isinstance(key, str)]
    if odd:
        raise TypeError(f"load_torch_state_dict: names must be strings, got {odd[0]!r}")

    own = model.state_dict()
    lenient = _modules_with_their_own_format(model)
    rows: list[LoadRow] = []
    fitting: OrderedDict[str, Any] = OrderedDict()
    for name, current in own.items():
        if name not in state_dict:
            rows.append(LoadRow(name, "missing", f"{_describe(current)} in the model"))
            continue
        row, value = _fit(name, current, state_dict[name], name.rpartition(".")[0] in lenient)
        rows.append(row)
        if row.status == "loaded":
            fitting[name] = value
    rows += [
        LoadRow(name, "unexpected", f"{_describe(value)} given")
        for name, value in state_dict.items()
        if name not in own
    ]

    report = LoadReport(rows)
    if strict and report.problems:
        raise RuntimeError(_complaint(model, report))
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        fitting._metadata = metadata  # type: ignore[attr-defined]
    try:
        model.load_state_dict(fitting, strict=False)
    except RuntimeError as error:
        raise RuntimeError(
            f"load_torch_state_dict: {type(model).__name__} is as it was before: {error}"
        ) from error
    return report


def _modules_with_their_own_format(model: Module) -> set[str]:
    """Paths of modules that decide themselves which shapes they take, such as observers."""
    return {
        path
        for path, each in model.named_modules()
        if type(each)._load_from_state_dict is not Module._load_from_state_dict
    }


def _fit(name: str, current: Any, given: Any, lenient: bool) -> tuple[LoadRow, Any]:
    """Return whether a value can replace another, and the value as it will be loaded."""
    value: Any
    try:
        value = to_value(given)
    except TypeError as error:
        return LoadRow(name, "unreadable", str(error)), None
    if isinstance(current, TensorBase) is not isinstance(value, TensorBase):
        note = f"{_describe(value)} given, {_describe(current)} in the model"
        return LoadRow(name, "wrong dtype", note), None
    note = _describe(value)
    if is_torch(given, "Tensor") and is_wider(given):
        note = f"{_describe(given)}, as float32"
    is_tensor = isinstance(value, TensorBase)
    if is_tensor and not lenient:
        if tuple(value.shape) != tuple(current.shape):
            note = f"{tuple(value.shape)} given, {tuple(current.shape)} in the model"
            return LoadRow(name, "wrong shape", note), None
        if value.dtype is not current.dtype:
            note = f"{_dtype(value)} given, {_dtype(current)} in the model"
            if not (value.is_floating_point() and current.is_floating_point()):
                return LoadRow(name, "wrong dtype", note), None
            note = f"{_describe(value)}, cast to {_dtype(current)}"
    return LoadRow(name, "loaded", note), value


def _complaint(model: Module, report: LoadReport) -> str:
    """The rows that do not fit, and a hint where all names differ in one way."""
    problems = LoadReport(report.problems)
    text = (
        f"load_torch_state_dict: {type(model).__name__} is as it was before: "
        f"{problems.summary()}\n{problems.table()}"
    )
    unexpected, missing = report.unexpected, set(report.missing)
    shorter = {name.partition(".")[2] for name in unexpected}
    if unexpected and shorter <= missing and len({n.partition(".")[0] for n in unexpected}) == 1:
        text += (
            f"\nevery name begins with {unexpected[0].partition('.')[0] + '.'!r}; "
            "strip that from the names"
        )
    return text


def _describe(value: Any) -> str:
    """Shape and dtype of a tensor or array; of something else what it is."""
    if isinstance(value, tuple):
        return " and ".join("None" if each is None else _describe(each) for each in value)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{tuple(value.shape)} {_dtype(value)}"
    return repr(value) if isinstance(value, Dtype | int | float | str) else _kind(value)


def _dtype(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.").removeprefix("pyqref.")


def _kind(value: Any) -> str:
    module = type(value).__module__
    name = type(value).__qualname__
    return name if module == "builtins" else f"{module}.{name}"
