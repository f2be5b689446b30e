"""Operations of your own, found under :mod:`pyqref.ops`.

A registered operation is an ordinary function of tensors; it may take and return
quantized tensors of any dtype and scheme.

Examples
--------
>>> import pyqref
>>> from pyqref.tensor.quantized import make_per_tensor
>>> @pyqref.library.register("mylib::halve")
... def halve(q):
...     return make_per_tensor(q.int_repr().numpy(), q.q_scale() / 2, q.q_zero_point(), q.dtype)
>>> q = pyqref.quantize_per_tensor(pyqref.tensor([1.0, 2.0]), 0.5, 0, pyqref.qint8)
>>> pyqref.ops.mylib.halve(q)
tensor([0.5000, 1.0000], size=(2,), dtype=pyqref.qint8, scale=0.25, zero_point=0)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

__all__ = [
    "Namespace",
    "Operator",
    "custom_op",
    "namespace",
    "register",
    "register_autograd",
    "register_fake",
    "registered",
]

_NAMESPACES: dict[str, Namespace] = {}
_RESERVED = ("quantized", "quantized_decomposed", "aten", "prim")


class Operator:
    """A registered operation: call it as the function that it wraps.

    Attributes
    ----------
    name
        Its full name, such as ``"mylib::halve"``.
    function
        What it calls.

    Examples
    --------
    >>> import pyqref
    >>> halve = pyqref.library.register("operator_example::halve", lambda x: x / 2)
    >>> halve.name, halve(pyqref.tensor([3.0])).item()
    ('operator_example::halve', 1.5)
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.name = name
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def register_fake(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function itself: shapes come from calls, so its own are not needed."""
        return fn

    register_abstract = register_fake

    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Take another function for the CPU; one for another device is left alone."""
        names = [device_types] if isinstance(device_types, str) else list(device_types or ["cpu"])

        def register_one(function: Callable[..., Any]) -> Callable[..., Any]:
            if "cpu" in names:
                self.function = function
            return function

        return register_one if fn is None else register_one(fn)

    @property
    def default(self) -> Operator:
        """The operation itself: there are no overloads."""
        return self

    def __repr__(self) -> str:
        return f"<Operator {self.name}>"


class Namespace:
    """The operations registered under one prefix; ``pyqref.ops.mylib`` is one.

    Examples
    --------
    >>> import pyqref
    >>> _ = pyqref.library.register("namespace_example::halve", lambda x: x / 2)
    >>> pyqref.ops.namespace_example.halve(pyqref.tensor([3.0])).tolist()
    [1.5]
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Operator:
        raise AttributeError(
            f"no operation {self._name}::{name} is registered; there is "
            f"{', '.join(self.__dir__()) or 'none'}"
        )

    def __dir__(self) -> list[str]:
        return sorted(name for name in vars(self) if not name.startswith("_"))

    def __repr__(self) -> str:
        return f"<Namespace {self._name}>"


def _parts(name: str) -> tuple[str, str]:
    prefix, colons, own = name.partition("::")
    if not colons or not prefix.isidentifier() or not own.isidentifier():
        raise ValueError(f"name must be of the form 'namespace::operation', got {name!r}")
    if prefix in _RESERVED:
        raise ValueError(f"the namespace {prefix!r} is reserved; choose another than {name!r}")
    return prefix, own


def register(
    name: str, function: Callable[..., Any] | None = None
) -> Operator | Callable[..., Any]:
    """Register a function as operation ``namespace::operation``.

    Parameters
    ----------
    name
        Such as ``"mylib::my_add"``; then ``pyqref.ops.mylib.my_add`` calls it.
    function
        What it does; without it, ``register`` is a decorator.

    Returns
    -------
    Operator

    Raises
    ------
    ValueError
        The name is malformed, reserved or taken.

    Examples
    --------
    >>> import pyqref
    >>> @register("register_example::clip")
    ... def clip(x, limit):
    ...     return x.clamp(-limit, limit)
    >>> pyqref.ops.register_example.clip(pyqref.tensor([-5.0, 0.5]), 1.0).tolist()
    [-1.0, 0.5]
    """
    prefix, own = _parts(name)
    if function is None:
        return functools.partial(register, name)
    if not callable(function):
        raise TypeError(f"function must be callable, got {type(function).__name__}")
    space = _NAMESPACES.setdefault(prefix, Namespace(prefix))
    if own in vars(space):
        raise ValueError(f"{name} is registered already; choose another name")
    operator = Operator(name, function)
    setattr(space, own, operator)
    return operator


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: object = (),
    device_types: object = None,
    schema: str | None = None,
    tags: object = None,
) -> Callable[..., Any]:
    """Name of :func:`register` in ``torch.library``.

    Parameters
    ----------
    name
        Such as ``"mylib::my_add"``.
    fn
        What it does; without it, ``custom_op`` is a decorator.
    mutates_args, device_types, schema, tags
        Of no use here: a function is called as it is, on the CPU.

    Examples
    --------
    >>> import pyqref
    >>> @pyqref.library.custom_op("custom_op_example::halve", mutates_args=())
    ... def halve(x):
    ...     return x / 2
    >>> pyqref.ops.custom_op_example.halve(pyqref.tensor([3.0])).item()
    1.5
    """
    return register(name, fn)


def register_fake(
    op: str, func: Callable[..., Any] | None = None, /, **options: object
) -> Callable[..., Any]:
    """Return the function itself: shapes come from calls, so its own are not needed.

    Examples
    --------
    >>> import pyqref
    >>> @pyqref.library.register_fake("mylib::halve")
    ... def shape_of_half(x):
    ...     return pyqref.empty_like(x)
    >>> shape_of_half(pyqref.ones(2)).shape
    pyqref.Size([2])
    """
    return (lambda function: function) if func is None else func


def register_autograd(
    op: str | Operator,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: object = None,
) -> None:
    """Give an operation its own gradient, in the place of that of what it calls.

    Parameters
    ----------
    op
        The operation, or its name, such as ``"mylib::my_add"``.
    backward
        From (context, gradients of the results) to the gradients of the arguments.
    setup_context
        Called as ``setup_context(ctx=, inputs=, output=)``, to keep what ``backward`` needs.
    lib
        Of no use here.

    Examples
    --------
    >>> import pyqref
    >>> twice = register("register_autograd_example::twice", lambda x: x * 2)
    >>> register_autograd("register_autograd_example::twice", lambda ctx, grad: grad * 10)
    >>> x = pyqref.ones(1, requires_grad=True)
    >>> twice(x).backward()
    >>> x.grad.item()
    10.0
    """
    from .autograd.function import Function

    operator = op if isinstance(op, Operator) else getattr(namespace(_parts(op)[0]), _parts(op)[1])
    plain = operator.function

    class Gradient(Function):
        """The operation, with this gradient."""

        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            output = plain(*inputs)
            if setup_context is not None:
                setup_context(ctx=ctx, inputs=inputs, output=output)
            return output

    Gradient.backward = staticmethod(backward)  # type: ignore[method-assign]

    def with_gradient(*args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(plain).bind(*args, **kwargs)
        bound.apply_defaults()
        return Gradient.apply(*bound.args, **bound.kwargs)

    operator.function = with_gradient


def namespace(name: str) -> Namespace:
    """The operations registered under a prefix.

    Raises
    ------
    AttributeError
        Nothing is registered there.

    Examples
    --------
    >>> _ = register("prefix_example::halve", lambda x: x / 2)
    >>> namespace("prefix_example").halve(3)
    1.5
    """
    found = _NAMESPACES.get(name)
    if found is None:
        raise AttributeError(
            f"there is no namespace {name!r} of operations; "
            f"register one with pyqref.library.register('{name}::...', function)"
        )
    return found


def registered() -> list[str]:
    """The full names of all registered operations.

    Examples
    --------
    >>> _ = register("registered_example::halve", lambda x: x / 2)
    >>> "registered_example::halve" in registered()
    True
    """
    return sorted(f"{prefix}::{own}" for prefix, space in _NAMESPACES.items() for own in dir(space))
