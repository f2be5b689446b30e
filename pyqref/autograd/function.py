"""Operations with a derivative of your own: :class:`Function`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._typing import Tensor, TensorOrNumber
from ..tape import Array, Edge, Operation, is_grad_enabled, no_grad
from ..tensor.base import TensorBase, wrap
from ..tensor.dispatch import mark_view

__all__ = ["Function", "FunctionCtx", "once_differentiable"]


def _is_recorded(value: Any) -> bool:
    """Return True if it stands for a tensor while :mod:`pyqref.fx` records a program."""
    return type(value).__module__ == "pyqref.fx.proxy"


class FunctionCtx:
    """Context in which ``forward`` stores data for ``backward``; any attribute may be set on it.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of ``forward``, whether its gradient is wanted.

    Examples
    --------
    >>> import pyqref
    >>> class Scale(pyqref.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, factor):
    ...         ctx.factor = factor
    ...         return x * factor
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad * ctx.factor, None
    >>> x = pyqref.ones(1, requires_grad=True)
    >>> Scale.apply(x, 5.0).backward()
    >>> x.grad.item()
    5.0
    """

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self._saved: tuple[Any, ...] = ()
        self._without_gradient: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._materialize = True
        self._versions: list[tuple[list[int], int]] = []

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keep tensors (or None) for ``backward``; changes in place are then detected."""
        for tensor in tensors:
            if not (tensor is None or isinstance(tensor, TensorBase) or _is_recorded(tensor)):
                raise TypeError(
                    "save_for_backward can only save variables, but argument is of type "
                    f"{type(tensor).__name__}; set it as an attribute of ctx"
                )
        self._saved = tensors

    save_for_forward = save_for_backward

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """Tensors that :meth:`save_for_backward` kept."""
        for version, expected in self._versions:
            if version[0] != expected:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by "
                    "an inplace operation"
                )
        return self._saved

    def mark_non_differentiable(self, *outputs: Tensor) -> None:
        """Say which results have no gradient."""
        self._without_gradient = outputs

    def mark_dirty(self, *inputs: Tensor) -> None:
        """Say which arguments ``forward`` changed in place."""
        self._dirty = inputs

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether missing gradients of results arrive as zeros (True) or as None."""
        self._materialize = value

    def _note_versions(self) -> None:
        self._versions = [
            (each._version, each._version[0])
            for each in self._saved
            if isinstance(each, TensorBase)
        ]


class _FunctionNode(Operation):
    """The node of the graph that calls a :class:`Function`'s ``backward``."""

    def __init__(self, function: type[Function], ctx: FunctionCtx) -> None:
        self.function, self.ctx = function, ctx

    def name(self) -> str:
        return f"{self.function.__name__}Backward"

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        with no_grad():
            found = self.function.backward(self.ctx, *(wrap(each) for each in grads))
        found = found if isinstance(found, tuple) else (found,)
        if len(found) > len(self.edges) and any(x is not None for x in found[len(self.edges) :]):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{len(self.edges)}, got {len(found)})"
            )
        if len(found) < len(self.edges):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{len(self.edges)}, got {len(found)})"
            )
        return tuple(None if each is None else each._array for each in found)

    def release(self) -> None:
        self.released = bool(self.ctx._saved)
        self.ctx._saved = ()


class Function:
    """Base class of user-defined operations.

    A subclass defines the static methods ``forward(ctx, *args)`` and
    ``backward(ctx, *grads)``, which returns one gradient (or None) an argument; or
    ``forward(*args)`` with ``setup_context(ctx, inputs, output)``. It is called by
    ``apply``.

    Examples
    --------
    >>> import pyqref
    >>> class Double(pyqref.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return 2 * grad
    >>> x = pyqref.ones(2, requires_grad=True)
    >>> Double.apply(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result."""
        raise TypeError("a Function must define forward, as a staticmethod")

    @staticmethod
    def setup_context(ctx: object, inputs: tuple[Any, ...], output: object) -> None:
        """Leave in ``ctx`` what ``backward`` needs, if ``forward`` takes no ctx."""
        raise TypeError("setup_context is not defined")

    @staticmethod
    def backward(ctx: object, *grads: Any) -> Any:
        """Gradients of the arguments, from those of the results."""
        raise RuntimeError("a Function must define backward, as a staticmethod")

    @classmethod
    def apply(cls, *args: TensorOrNumber, **kwargs: Any) -> Any:
        """Run ``forward`` and record it."""
        ctx = FunctionCtx()
        edges = tuple(a._edge() if isinstance(a, TensorBase) else None for a in args)
        recording = is_grad_enabled() and any(edge is not None for edge in edges)
        ctx.needs_input_grad = tuple(recording and edge is not None for edge in edges)
        with no_grad():
            if cls.setup_context is not Function.setup_context:
                result = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, result)
            else:
                result = cls.forward(ctx, *args, **kwargs)
        ctx._note_versions()
        several = isinstance(result, (tuple, list))
        outputs = [cls._output(ctx, each, args) for each in (result if several else (result,))]
        if recording:
            node = _FunctionNode(cls, ctx)
            node.enter(edges)
            node.output_shapes = tuple(
                (each._array.shape, each._array.dtype)
                if isinstance(each, TensorBase)
                else ((), "f")
                for each in outputs
            )
            without = {id(each) for each in ctx._without_gradient}
            originals = result if several else (result,)
            for index, (output, original) in enumerate(zip(outputs, originals, strict=True)):
                if (
                    isinstance(output, TensorBase)
                    and output._array.dtype.kind == "f"
                    and not output.is_quantized
                    and id(original) not in without
                ):
                    output._goes_to = Edge(node, index)
                    output._epoch += output in ctx._dirty if ctx._dirty else 0
        return tuple(outputs) if several else outputs[0]

    @staticmethod
    def _output(ctx: FunctionCtx, output: Any, args: tuple[Any, ...]) -> Any:
        """An argument returned as it is becomes a view of itself, unless it was changed."""
        is_argument = any(output is each for each in args)
        if not isinstance(output, TensorBase) or not is_argument:
            return output
        if any(output is each for each in ctx._dirty):
            output._version[0] += 1
            return output
        argument: Any = output
        alias = argument._alias()
        mark_view(alias, output)
        return alias


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """``backward`` is never differentiated here; the function is returned as it is."""
    return function
