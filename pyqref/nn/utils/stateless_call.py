"""Calling a module with other parameters than its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..._typing import Module, Tensor

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: Any,
    args: object = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Tensor:
    """Call a module as if its parameters and buffers were others.

    Parameters
    ----------
    module
        The module; afterwards it has its own tensors again.
    parameters_and_buffers
        Tensors by their paths, or several such dictionaries; what is not there stays.
    args
        Its arguments: a tuple, or one value.
    kwargs
        Its keyword arguments.
    tie_weights
        A tensor that the module has under several paths is replaced under all of them.
    strict
        Every parameter and buffer must be given, and nothing else.

    Raises
    ------
    RuntimeError
        With ``strict``, a tensor is missing or unknown.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Linear(1, 1)
    >>> tensors = {"weight": pyqref.tensor([[2.0]]), "bias": pyqref.tensor([1.0])}
    >>> pyqref.func.functional_call(layer, tensors, pyqref.tensor([[3.0]])).tolist()
    [[7.0]]
    """
    given: dict[str, Any] = {}
    many = not isinstance(parameters_and_buffers, Mapping)
    for each in parameters_and_buffers if many else (parameters_and_buffers,):
        repeated = given.keys() & each.keys()
        if repeated:
            raise ValueError(f"{sorted(repeated)} appeared in multiple dictionaries")
        given.update(each)
    arguments: Sequence[Any] = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*arguments, **(kwargs or {}))


@contextmanager
def _replaced(module: Any, given: dict[str, Any], tie: bool, strict: bool) -> Iterator[None]:
    own = dict(module.named_parameters(remove_duplicate=False))
    own.update(module.named_buffers(remove_duplicate=False))
    unknown, missing = sorted(given.keys() - own.keys()), sorted(own.keys() - given.keys())
    if strict and (unknown or missing):
        raise RuntimeError(
            f"functional_call: error in passing in state_dict: unexpected keys {unknown}, missing "
            f"keys {missing}"
        )
    found = {path: value for path, value in given.items() if path in own}
    if tie:
        by_tensor = {id(own[path]): value for path, value in found.items()}
        for path, value in own.items():
            if id(value) in by_tensor:
                found.setdefault(path, by_tensor[id(value)])
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for path, value in found.items():
            parent, _, name = path.rpartition(".")
            owner = module.get_submodule(parent)
            members = owner._parameters if name in owner._parameters else owner._buffers
            before.append((members, name, members[name]))
            members[name] = value
        yield
    finally:
        for members, name, value in before:
            members[name] = value
