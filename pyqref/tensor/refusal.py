"""Errors for quantized tensors in functions that have no quantized form.

The function refuses it, and the message names what the user wrote: the function, and the layer
that called it. Nothing is recorded for that while a model runs; both are read off the Python
stack when there is something to say.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType, FunctionType
from typing import Any

from .._insides.stack import caller
from .._typing import Tensor, TensorOrNumber
from .base import TensorBase
from .foreign import no_tensor
from .under_way import layer_under_way

__all__ = [
    "DEQUANTIZE",
    "called_function",
    "refuse_quantized",
    "require_input",
    "undefined_for_quantized",
    "undefined_index",
]

DEQUANTIZE = (
    "a DeQuantStub is missing before it; add self.dequant = DeQuantStub() to the float model and "
    "call it on the input, or call dequantize() on the tensor"
)
"""How a quantized tensor comes to what takes real numbers."""

#: What a user calls lies there; the frames between the call and the refusal are all of it. While a
#: model is traced, a call passes through the interception too.
_INSIDE = (
    *("pyqref.tensor", "pyqref.nn.functional", "pyqref.tape", "pyqref._kernels"),
    "pyqref.fx.interception",
)

#: Functions made from the public one that they hold as ``function``, and what they add to its name.
_CLOSURES = {"changed": "_", "method": ""}
#: What is reached by an operator only.
_OPERATORS = {"rdiv": "div", "setitem": "item assignment"}

#: What FloatFunctional has for a tensor and a number, and for two tensors.
_WITH_NUMBER = {
    "add": "add_scalar(x, number)",
    "sub": "add_scalar(x, -number)",
    "mul": "mul_scalar(x, number)",
    "div": "mul_scalar(x, 1 / number)",
}
_WITH_TENSOR = {"add": "add(x, y)", "mul": "mul(x, y)", "matmul": "matmul(x, y)"}


def undefined_for_quantized(name: str, *operands: TensorOrNumber) -> RuntimeError:
    """The refusal of a function that is not defined for quantized tensors.

    Parameters
    ----------
    name
        What the function is called, where no public one is found on the stack.
    *operands
        Its arguments.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.zeros(1), 1.0, 0, pyqref.quint8)
    >>> pyqref.exp(x)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: exp is not defined for quantized tensors, got one of pyqref.quint8: ...
    """
    name = called_function(name)
    layer = layer_under_way()
    found = next(_quantized_among(operands), None)
    got = "got a quantized one" if found is None else f"got one of {found.dtype}"
    if layer is not None and layer.is_own:
        return RuntimeError(f"{layer.described} takes float tensors, {got}: {DEQUANTIZE}")
    where = "" if layer is None else f" in {layer.described}"
    return RuntimeError(
        f"{name} is not defined for quantized tensors{where}, {got}: {DEQUANTIZE}"
        f"{_quantized_form(name, operands)}"
    )


def refuse_quantized(*operands: Any) -> None:
    """Raise if an operand of a function that reads the elements is a quantized tensor.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.zeros(1), 1.0, 0, pyqref.quint8)
    >>> refuse_quantized(x)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: this is not defined for quantized tensors, got one of pyqref.quint8: ...
    """
    for operand in operands:
        if getattr(operand, "is_quantized", False):
            raise undefined_for_quantized("this", *operands)


def require_input(input: Tensor) -> None:
    """Raise a TypeError if the tensor of a function that has several names is none.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.exp([1.0])
    Traceback (most recent call last):
        ...
    TypeError: exp(): argument 'input' must be Tensor, not list
    """
    if not isinstance(input, TensorBase):
        raise no_tensor(called_function("this"), "input", input)


def undefined_index(index: TensorBase) -> IndexError:
    """The refusal of a quantized tensor among the indices of a function.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.zeros(1), 1.0, 0, pyqref.quint8)
    >>> pyqref.ones(2)[x]  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    IndexError: tensors used as indices must be long, int, byte or bool tensors, got quint8; ...
    """
    return IndexError(
        "tensors used as indices must be long, int, byte or bool tensors, got "
        f"{index.dtype._name}; call dequantize().long() on it first"
    )


def called_function(name: str) -> str:
    """Name of the public function of tensors that the user called, or else ``name``.

    Examples
    --------
    >>> called_function("none of them")
    'none of them'
    """
    frame: FrameType | None = caller()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(_INSIDE):
        name = _public_name(frame) or name
        frame = frame.f_back
    return name


def _public_name(frame: FrameType) -> str | None:
    """Return the public name of the function in a frame, or None if it is internal."""
    code = frame.f_code.co_name
    if code in _CLOSURES and "function" in frame.f_locals:
        name = frame.f_locals["function"].__name__
        return f"{_OPERATORS.get(name, name)}{_CLOSURES[code]}"
    if code in _OPERATORS:
        return _OPERATORS[code]
    functional = str(frame.f_globals["__name__"]).startswith(_INSIDE[1])
    public: Any = sys.modules[_INSIDE[functional]]
    is_method = not functional and isinstance(getattr(public.Tensor, code, None), FunctionType)
    return code if code in public.__all__ or is_method else None


def _quantized_among(operands: Any) -> Iterator[Any]:
    for each in operands:
        if isinstance(each, TensorBase):
            if each.is_quantized:
                yield each
        elif isinstance(each, (list, tuple)):
            yield from _quantized_among(each)


def _quantized_form(name: str, operands: tuple[Any, ...]) -> str:
    """Return the function with a quantized result, if FloatFunctional has it."""
    name = name.removesuffix("_")
    tensors = sum(isinstance(each, TensorBase) for each in operands)
    method = (_WITH_TENSOR if tensors > 1 else _WITH_NUMBER).get(name)
    if not method:
        return ""
    return (
        "; for a quantized result add self.f = FloatFunctional() to the float model and call "
        f"self.f.{method}"
    )
