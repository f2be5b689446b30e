"""A function with a given signature, so that what is traced has the arguments of the original."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

__all__ = ["forward_with"]


class _Name:
    """Prints as the name of a global, in the place of a default value."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def forward_with(signature: inspect.Signature, name: str) -> FunctionType:
    """Write a method that gives its arguments, by name, to ``self._run``.

    Parameters
    ----------
    signature
        The arguments, without ``self``; annotations are left out.
    name
        The class, for messages such as "Net.forward() missing 1 required positional argument".

    Examples
    --------
    >>> def original(x, mask=None, *, scale=1.0): ...
    >>> method = forward_with(inspect.signature(original), "Net")
    >>> inspect.signature(method)
    <Signature (self, x, mask=None, *, scale=1.0)>
    >>> class Printing:
    ...     def _run(self, values):
    ...         print(values)
    >>> method(Printing(), 1, scale=2.0)
    {'x': 1, 'mask': None, 'scale': 2.0}
    """
    given = list(signature.parameters.values())
    defaults: dict[str, Any] = {
        f"_default_of_{each.name}": each.default for each in given if each.default is not each.empty
    }
    first = given[0].kind if given else inspect.Parameter.POSITIONAL_OR_KEYWORD
    ordinary = inspect.Parameter.POSITIONAL_OR_KEYWORD
    itself = inspect.Parameter(
        "self", inspect.Parameter.POSITIONAL_ONLY if first < ordinary else ordinary
    )
    shown = [
        each.replace(
            annotation=each.empty,
            default=each.empty if each.default is each.empty else _Name(f"_default_of_{each.name}"),
        )
        for each in given
    ]
    values = ", ".join(f"{each.name!r}: {each.name}" for each in given)
    text = (
        f"def forward{inspect.Signature([itself, *shown])}:\n    return self._run({{{values}}})\n"
    )
    space = dict(defaults)
    exec(compile(text, __file__, "exec"), space)
    function: FunctionType = space["forward"]
    function.__qualname__ = f"{name}.forward"
    function.__doc__ = f"What ``{name}`` computes in torch, step by step."
    return function
