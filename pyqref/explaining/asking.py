"""``explain`` and ``recording``: ask where a number comes from."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .._typing import Tensor
from ..autograd import no_grad
from ..nn import Module
from ..nn.modules.dropout import _Dropout
from ..tensor.arguments import described
from ..tensor.asking import set_answer_to_why
from . import explainers as explainers
from .derivation import Derivation, derive, derive_record
from .record import Record, Value
from .recorder import Recorder

__all__ = ["Recording", "explain", "recording"]


class Recording:
    """Record of the operations that ran, which answers questions about their numbers.

    Made by :func:`recording`.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([0.25, 0.5])
    >>> with pyqref.explaining.recording() as ran:
    ...     y = pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8).dequantize()
    >>> ran.layers
    ['quantize_per_tensor', 'dequantize']
    >>> ran.explain("quantize_per_tensor", 1).value
    8
    """

    def __init__(self) -> None:
        self._recorder = Recorder()

    @property
    def layers(self) -> list[str]:
        """Names of the layers and nodes that ran, in order; those on real numbers included."""
        return [each.layer for each in self._recorder.records]

    def explain(
        self,
        layer: str | None = None,
        index: int | Sequence[int] = (),
        arithmetics: Sequence[str] = (),
    ) -> Derivation:
        """Derive one number of a layer's output.

        Parameters
        ----------
        layer
            A name of :attr:`layers`; the last one if None.
        index
            An integer, or one for each axis of the output.
        arithmetics
            Other systems to compare with, names of :func:`pyqref.arithmetic.names`. One that has
            no rule for the operation is named in ``notes``.

        Raises
        ------
        LookupError
            There is no such layer, it works on real numbers, or none of the ``arithmetics`` has
            steps for it.
        IndexError
            The index does not fit the shape of the output.
        TypeError
            ``layer`` is no text, the index no integers, or ``arithmetics`` no list of names.
        """
        names = _as_names(arithmetics)
        record, output = self._found(layer)
        shape = record.outputs[output].shape if record.outputs else _observed_shape(record)
        place = _as_index(index, shape, record.layer)
        return derive_record(record, place, output, names)

    def _found(self, layer: str | None) -> tuple[Record, int]:
        """The operation whose output the layer gave, and which of its outputs."""
        if not isinstance(layer, str | None):
            raise TypeError(
                "explain: layer must be the path of a module or the name of a node, got "
                f"{described(layer)}"
            )
        records = self._recorder.records
        if not records:
            raise LookupError(
                "explain: no operation was recorded; run a quantized model inside of the "
                "recording, in the same thread"
            )
        if layer is None:
            return next((each for each in reversed(records) if each.outputs), records[-1]), 0
        exact = next((each for each in records if each.layer == layer), None)
        result = self._recorder.results.get(layer)
        if exact is not None and exact.kind == "observer":
            return exact.arguments["history"][-1], 0
        if result is not None and result.maker is not None:
            return result.maker, result.maker.outputs.index(result)
        if exact is not None:
            return exact, 0
        inside = [each for each in records if each.layer.startswith(f"{layer}.")]
        if inside:
            return inside[-1], 0
        if result is not None:
            raise LookupError(
                f"explain: {layer} gave back what it was given, {result.name}, as it is; ask for a "
                "layer that changes numbers"
            )
        above = layer.rpartition(".")[0]
        if above and above in self._recorder.results:
            raise LookupError(f"explain: no layer {layer!r} ran by itself; ask for {above!r}")
        near = difflib.get_close_matches(layer, self.layers, 3, 0.4) or self.layers[:3]
        names = ", ".join(repr(each) for each in dict.fromkeys(near))
        raise LookupError(f"explain: no layer {layer!r} ran; near it are {names}")

    def value_of(self, tensor: object) -> Value | None:
        """Return the record of a tensor, or None if it was not recorded."""
        return self._recorder.value_of(tensor)


#: The newest recording, which answers :meth:`pyqref.Tensor.why`.
_newest: list[Recording] = []


@contextmanager
def recording() -> Iterator[Recording]:
    """Record what runs inside, so that tensors can be asked ``y.why(index)``.

    The newest recording is kept, with its numbers, until the next one begins. What runs inside of a
    recording within this one belongs to that one alone, and what other threads run is left out.
    Outside of a recording operations are as quick as ever.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([0.25, 0.5])
    >>> with pyqref.explaining.recording():
    ...     y = pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8)
    >>> y.why(1).value
    8
    """
    made = Recording()
    _newest[:] = [made]
    with made._recorder.installed():
        yield made


def _why(tensor: Any, index: tuple[Any, ...]) -> Derivation:
    """Derive an element of a tensor; ``y.why(index)`` calls this."""
    place = index[0] if len(index) == 1 else index
    for each in _newest:
        value = each.value_of(tensor)
        if value is not None:
            return derive(value, _as_index(place, value.shape, value.name))
    raise LookupError(
        "why: this tensor was not recorded, or was changed since; run the model inside of "
        "'with pyqref.explaining.recording():' and ask before the next recording begins"
    )


set_answer_to_why(_why)


def explain(
    model: Module,
    x: Tensor | tuple[Any, ...],
    layer: str | None = None,
    index: int | Sequence[int] = (),
    arithmetics: Sequence[str] = (),
) -> Derivation:
    """Explain where one number of a quantized model comes from.

    The model runs once, recorded; then the steps to the number asked for are put together from
    what ran.

    Parameters
    ----------
    model
        Quantized, in eager or in graph mode; prepared ones show observers and fake quantizers.
    x
        Its input; a tuple stands for several.
    layer
        The path of a module or the name of a node; the last one that ran if None.
    index
        Which element of the layer's output: an integer, or one for each axis.
    arithmetics
        Other systems to compare with, names of :func:`pyqref.arithmetic.names`; their steps stand
        in ``others``. One that has no rule for the operation is named in ``notes``.

    Returns
    -------
    Derivation

    Raises
    ------
    TypeError
        ``model`` is no module, ``layer`` no text, the index no integers, or ``arithmetics`` no list
        of names.
    LookupError
        There is no such layer, it works on real numbers, or none of the ``arithmetics`` has steps
        for it.
    IndexError
        The index does not fit the shape of the output.
    RuntimeError
        Dropout is active, so that the next run gives other numbers.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.quantized.Quantize(0.1, 3, pyqref.quint8))
    >>> print(pyqref.explain(model, pyqref.tensor([[0.25, 0.5]]), index=(0, 0)))
    0[0, 0] = 6
    quantize_per_tensor, engine x86
      x = 0.25, from input[0, 0]
    ...
    """
    if not isinstance(model, Module):
        raise TypeError(f"explain: model must be a Module, got {type(model).__name__}")
    _refuse_chance(model)
    with recording() as ran, no_grad():
        model(*x) if isinstance(x, tuple) else model(x)
    return ran.explain(layer, index, arithmetics)


def _refuse_chance(model: Module) -> None:
    for path, module in model.named_modules():
        share = getattr(module, "p" if isinstance(module, _Dropout) else "dropout", 0)
        own = type(module).__module__.startswith("pyqref.")
        if own and module.training and isinstance(share, int | float) and share > 0:
            raise RuntimeError(
                f"explain: {path or 'the model'} ({type(module).__name__}) draws at random, so "
                "that each run gives other numbers; call model.eval() first"
            )


def _observed_shape(record: Record) -> tuple[int, ...]:
    after: Any = record.arguments["after"]
    shape = next((each.shape for name, each in after.items() if name == "min_val"), ())
    return tuple(shape)


def _as_names(arithmetics: Any) -> tuple[str, ...]:
    """The names of arithmetics that were given."""
    if isinstance(arithmetics, str) or not isinstance(arithmetics, Iterable):
        raise TypeError(
            "explain: arithmetics must be a list of names, such as ['qnnpack'], got "
            f"{described(arithmetics)}"
        )
    return tuple(arithmetics)


def _count(axes: int) -> str:
    if axes == 0:
        return "the empty index ()"
    return "one integer" if axes == 1 else f"{axes} integers"


def _as_index(index: Any, shape: tuple[int, ...], layer: str) -> tuple[int, ...]:
    """An index that was given, as one not negative integer for each axis."""
    several = tuple(index) if isinstance(index, tuple | list) else (index,)
    try:
        if any(isinstance(each, bool) for each in several):
            raise TypeError
        places = tuple(operator.index(each) for each in several)
    except TypeError:
        raise TypeError(
            f"explain: index must be an integer, or one for each axis, got {index!r}"
        ) from None
    fits = len(places) == len(shape) and all(
        -size <= place < size for place, size in zip(places, shape, strict=True)
    )
    if not fits:
        raise IndexError(
            f"explain: index {list(places)} does not fit the output of {layer}, of shape "
            f"{list(shape)}; give {_count(len(shape))} within it"
        )
    return tuple(place % size for place, size in zip(places, shape, strict=True))
