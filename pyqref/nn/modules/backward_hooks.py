"""Backward hooks: an identity around a module's inputs, and one around its outputs.

On the way back the gradient first meets the identity around the outputs, which notes
``grad_output``, and last the one around the inputs, which knows ``grad_input``: there
the hooks run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from ..._typing import AnyModule
from ...tape import Array, Operation, is_grad_enabled
from ...tensor.base import TensorBase, wrap
from ...tensor.dispatch import apply

__all__ = ["BackwardHooks"]


class HookedIdentity(Operation):
    """Its inputs, copied; ``on_backward`` sees their gradients and may replace them."""

    def forward(self, on_backward: Callable[..., Any], *arrays: Array) -> tuple[Array, ...]:
        self.on_backward = on_backward
        return tuple(array.copy() for array in arrays)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        wanted = zip(self.needs[1:], grads, strict=True)
        return (None, *self.on_backward(tuple(g if need else None for need, g in wanted)))


class BackwardHooks:
    """The backward hooks of one call of a module."""

    def __init__(
        self,
        module: AnyModule,
        pre_hooks: Iterable[Callable[..., Any]],
        hooks: Iterable[Callable[..., Any]],
    ) -> None:
        self.module = module
        self.pre_hooks = list(pre_hooks)
        self.hooks = list(hooks)
        self.grad_output: tuple[Any, ...] = ()
        self.inputs_need = False

    def around_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of the module, with the identity around the tensors among them."""
        wrapped, self.inputs_need = self._around(args, self._on_inputs)
        return wrapped

    def around_outputs(self, result: object) -> object:
        """The result of the module, with the identity around the tensors in it."""
        if isinstance(result, tuple):
            return self._around(result, self._on_outputs)[0]
        if not isinstance(result, TensorBase):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result).__name__} from {type(self.module).__name__}",
                stacklevel=4,
            )
        return self._around((result,), self._on_outputs)[0][0]

    def _around(
        self, values: tuple[Any, ...], on_backward: Callable[..., Any]
    ) -> tuple[tuple[Any, ...], bool]:
        places = [
            place
            for place, value in enumerate(values)
            if isinstance(value, TensorBase) and not value.is_quantized
        ]
        tensors = [values[place] for place in places]
        if not is_grad_enabled() or not any(tensor.requires_grad for tensor in tensors):
            return values, False

        def spread(grads: tuple[Any, ...]) -> tuple[Any, ...]:
            """Gradients of the tensors in, None for the other values; out again the same."""
            every: list[Any] = [None] * len(values)
            for place, grad in zip(places, grads, strict=True):
                every[place] = None if grad is None else wrap(grad)
            replaced = on_backward(tuple(every))
            return tuple(
                None if replaced[place] is None else replaced[place]._array for place in places
            )

        wrapped = list(values)
        for place, tensor in zip(places, apply(HookedIdentity, spread, *tensors), strict=True):
            wrapped[place] = tensor
        if isinstance(values, tuple) and hasattr(values, "_fields"):
            return type(values)(*wrapped), True
        return tuple(wrapped), True

    def _on_outputs(self, grad_output: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self.pre_hooks:
            grad_output = self._replaced(hook(self.module, grad_output), grad_output)
        self.grad_output = grad_output
        if not self.inputs_need:
            for hook in self.hooks:
                hook(self.module, (None,), grad_output)
        return grad_output

    def _on_inputs(self, grad_input: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self.hooks:
            replaced = hook(self.module, grad_input, self.grad_output)
            grad_input = self._replaced(replaced, grad_input)
        return grad_input

    @staticmethod
    def _replaced(replaced: Any, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        if replaced is None:
            return grads
        replaced = replaced if isinstance(replaced, tuple) else (replaced,)
        if len(replaced) != len(grads):
            raise RuntimeError(
                f"a backward hook returned {len(replaced)} gradients, expected {len(grads)}"
            )
        return replaced
