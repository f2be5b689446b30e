"""Find where two quantized models part, and why: layer by layer, integer by integer."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..nn.modules import Module
from ..tensor import Tensor, from_numpy
from .progress import Progress
from .reasons import Seen, difference, on_grid
from .report import Differences, LayerDifference
from .running import Call, Key, called, intercepted
from .side_by_side import pairs_of
from .stages import grid_of
from .values import is_quantized, leaves, with_first
from .variants import on_grid_of

__all__ = ["explain_diff"]

Array = np.ndarray[Any, Any]
Context = Callable[[], AbstractContextManager[Any]]


def explain_diff(
    a: Module | Callable[..., Any],
    b: Module | Callable[..., Any],
    x: Any,
    *,
    contexts: tuple[Context | None, Context | None] = (None, None),
    progress: bool | None = None,
) -> Differences:
    """Say where two quantized models give different integers, and why.

    Every layer of ``a`` is compared with the layer of ``b`` at the same path. Where they differ,
    the ingredients of the one are replaced by those of the other, one at a time, and an element
    that differs is counted under the ingredient that moved it most. So the counts add up to all
    differences. In this order:

    ``its input already differed``
        the layer of ``a`` is given the input of the one of ``b``,
    ``channels permuted``
        its output channels come in another order,
    ``another weight``, ``another bias``
        integers, or real numbers, that are not the same,
    ``another scale or zero point``
        of the weight, or of the result,
    ``clamp range``
        the range of integers of the result, or a ReLU that only one of them has.

    With all ingredients the same, what is left is arithmetic, and is decided in fractions:

    ``tie broken the other way``
        the exact value lies in the middle between the two integers,
    ``bias rounded to integer``
        it lies nearer to the other one if the bias is rounded to a unit of the accumulator,
    ``multiplier rounded otherwise``
        it lies nearer to the middle than float32 can tell,
    ``rounded twice``
        it turns if the product is rounded before it is shifted, as fixed point does,
    ``saturation``
        pairs of products were cut to 16 bits,
    ``rounded otherwise on the way``
        a sum, a product or a mean, of which both integers are next to the exact result,
    ``clamp range``
        one lies at the end of what the other side has,
    ``not explained``
        none of these.

    Of a dynamic layer the rest is ``its input rounded as it runs``. Of layers with several results,
    such as an LSTM, the first one is compared.

    Parameters
    ----------
    a, b
        Two models that take ``x``: both converted, or one of them fake-quantized. Or one
        model, and what a device or another framework gave: a mapping from paths to arrays of
        integers, or the path of an ``.npz`` file with such arrays. A layer that runs again has
        the name ``path#1``, then ``path#2``.
    x
        What both are called with; a tuple stands for several arguments.
    contexts
        For ``a`` and ``b``, a function that gives a context manager in which it runs, such as
        ``lambda: pyqref.arithmetic.use("tflite")``; None for none.
    progress
        Whether to show a progress bar; None for a terminal only.

    Returns
    -------
    Differences
        Prints as a table, the layers in the order in which they run, and below it the steps that
        lead to the worst element in both models; a notebook shows those of four elements.

    Raises
    ------
    TypeError
        Neither is a model.
    ValueError
        They have no layer in common, or recorded integers have another shape than the layer gives.

    Notes
    -----
    Both models run once, and layers that differ once more for each ingredient that is not the same.
    The activations of both are held, and those of ``b`` let go layer by layer. Torch has nothing
    like it.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> _ = pyqref.manual_seed(0)
    >>> model = quantization.QuantWrapper(nn.Sequential(nn.Linear(8, 4)).eval())
    >>> model.qconfig = quantization.get_default_qconfig("fbgemm")
    >>> prepared = quantization.prepare(model)
    >>> x = pyqref.randn(16, 8)
    >>> _ = prepared(x)
    >>> ours, theirs = quantization.convert(prepared), quantization.convert(prepared)
    >>> layer = theirs.module[0]
    >>> layer.set_weight_bias(layer.weight(), layer.bias() * 2)
    >>> found = pyqref.explain_diff(ours, theirs, x)
    >>> found.first.layer, list(found.first.causes)
    ('module.0', ['another bias'])
    """
    inputs = x if isinstance(x, tuple) else (x,)
    if isinstance(b, Module):
        if isinstance(a, Module):
            return _compared(a, b, inputs, contexts, progress)
        found = _replayed(b, _recorded(a), inputs, contexts[1], progress)
        return found.turned()
    if isinstance(a, Module):
        return _replayed(a, _recorded(b), inputs, contexts[0], progress)
    raise TypeError(
        f"a or b must be a Module, got {type(a).__name__} and {type(b).__name__}; give the model "
        "whose integers were recorded"
    )


def _recorded(given: Any) -> dict[str, Array]:
    if isinstance(given, (str, os.PathLike)):
        with np.load(given) as file:
            return {name: file[name] for name in file.files}
    if isinstance(given, Mapping):
        return {name: np.asarray(value) for name, value in given.items()}
    raise TypeError(
        "recorded integers must be a mapping from paths of layers to arrays, or the path of an "
        f".npz file with such arrays, got a {type(given).__name__}"
    )


def _seen_of(model: Module, inputs: tuple[Any, ...], context: Context | None) -> dict[Key, Seen]:
    """Every call of a model."""
    seen: dict[Key, Seen] = {}

    def decide(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = call.run(*args, **kwargs)
        if _comparable(call, result):
            seen[call.key] = Seen(call, args, kwargs, result)
        return result

    with (context or nullcontext)(), intercepted(model, decide):
        called(model, inputs)
    return seen


def _comparable(call: Call, result: Any) -> bool:
    """Return True if the first result is made of numbers; only layers may have several results."""
    found = leaves(result)
    if not found or (len(found) > 1 and not isinstance(call.what, Module)):
        return False
    return is_quantized(found[0]) or found[0].is_floating_point()


def _compared(
    a: Module,
    b: Module,
    inputs: tuple[Any, ...],
    contexts: tuple[Context | None, Context | None],
    progress: bool | None,
) -> Differences:
    seen = _seen_of(a, inputs, contexts[0])
    others = _seen_of(b, inputs, contexts[1])
    layers: list[LayerDifference] = []
    parted: tuple[Seen, Seen] | None = None
    with Progress("explain_diff", len(others), progress) as bar, (contexts[0] or nullcontext)():
        for key in list(others):
            theirs = others.pop(key)
            ours = _counterpart(seen, key)
            bar.step()
            if ours is not None and _alike(ours.result, theirs.result):
                layers.append(difference(ours, theirs))
                if parted is None and layers[-1].count:
                    parted = ours, theirs
    if not layers:
        raise ValueError(
            "a and b must have layers at the same paths, got none that both run; compare two forms "
            "of one model"
        )
    return _with_pairs(layers, parted, contexts)


def _with_pairs(
    layers: list[LayerDifference],
    parted: tuple[Seen, Seen | None] | None,
    contexts: tuple[Context | None, Context | None],
) -> Differences:
    """The report, with both derivations of the worst elements of the first layer that differs."""
    found = Differences(tuple(layers))
    if parted is not None and found.first is not None:
        first = found.first
        found.pairs = pairs_of(first.layer, *parted, first.worst(), contexts)
    return found


def _alike(ours: Any, theirs: Any) -> bool:
    return tuple(leaves(ours)[0].shape) == tuple(leaves(theirs)[0].shape)


def _counterpart(seen: dict[Key, Seen], key: Key) -> Seen | None:
    """The call at the same path, one of which may be inside a wrapper."""
    path, count = key
    for each in (path, path.removeprefix("module."), f"module.{path}"):
        for one in ((each, count), _numbered(each)):
            if one in seen:
                return seen[one]
    return None


def _numbered(name: str) -> Key:
    """The call that a name stands for: ``fc#1`` is the second one of the layer ``fc``."""
    path, _, number = name.rpartition("#")
    return (path, int(number)) if number.isdecimal() else (name, 0)


def _replayed(
    model: Module,
    recorded: dict[str, Array],
    inputs: tuple[Any, ...],
    context: Context | None,
    progress: bool | None,
) -> Differences:
    """Compare a model with integers, each layer being given those that came before it."""
    seen = _seen_of(model, inputs, context)
    layers: list[LayerDifference] = []
    parted: list[Seen] = []
    known = [name for name in recorded if _counterpart(seen, (name, 0)) is not None]
    if not known:
        raise ValueError(
            f"recorded integers must have names of layers, such as {[key[0] for key in seen][:3]}, "
            f"got {list(recorded)[:3]}"
        )
    with Progress("explain_diff", len(known), progress) as bar:

        def decide(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            result = call.run(*args, **kwargs)
            path, count = call.key
            mark = f"#{count}" if count else ""
            names = (f"{n}{mark}" for n in (path, path.removeprefix("module.")))
            name = next((n for n in names if n in recorded), None)
            if name is None or not _comparable(call, result):
                return result
            theirs = _as_result(name, recorded[name], leaves(result)[0])
            bar.step()
            own = call._replace(key=(f"{path}{mark}", 0))
            layers.append(difference(seen[call.key], Seen(own, args, kwargs, theirs)))
            if not parted and layers[-1].count:
                parted.append(seen[call.key])
            return with_first(result, theirs)

        with (context or nullcontext)(), intercepted(model, decide):
            called(model, inputs)
    return _with_pairs(layers, (parted[0], None) if parted else None, (context, None))


def _as_result(name: str, values: Array, like: Tensor) -> Tensor:
    if values.shape != tuple(like.shape):
        raise ValueError(
            f"recorded {name!r} must have the shape {tuple(like.shape)} of the layer's output, got "
            f"{values.shape}"
        )
    if is_quantized(like) and values.dtype.kind in "iu":
        dtype: Any = like.dtype
        if values.size and not dtype.quant_min <= values.min() <= values.max() <= dtype.quant_max:
            raise ValueError(
                f"recorded {name!r} must be integers of {dtype}, got {values.min()} to "
                f"{values.max()}"
            )
        return on_grid_of(values.astype(dtype.numpy_dtype), like)
    floats = from_numpy(np.ascontiguousarray(values, dtype=np.float32))
    return on_grid(floats, grid_of(like)) if is_quantized(like) else floats
