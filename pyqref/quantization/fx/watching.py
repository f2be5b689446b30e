"""See the model after every pass of ``prepare_fx`` and ``convert_fx``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pyqref.fx import GraphModule

__all__ = ["passed", "watch_passes"]

Show = Callable[[str, GraphModule], object]

_watching: ContextVar[tuple[Show, ...]] = ContextVar("watching", default=())


def _print(name: str, model: GraphModule) -> None:
    print(f"# after the pass {name}")  # noqa: T201
    model.print_readable()


@contextmanager
def watch_passes(show: Show = _print) -> Iterator[None]:
    """See the model after every pass, inside the ``with`` block.

    Holds for :func:`~pyqref.quantization.quantize_fx.fuse_fx`, ``prepare_fx``,
    ``prepare_qat_fx``, ``convert_to_reference_fx`` and ``convert_fx``, called by this thread,
    and for standalone modules within the model.

    Parameters
    ----------
    show
        Called with the name of the pass and the model as it is then, which the next pass goes
        on to change: print it, draw it, or keep a ``copy.deepcopy``. By default it is printed
        with :meth:`~pyqref.fx.GraphModule.print_readable`.

    Raises
    ------
    TypeError
        ``show`` cannot be called.

    Notes
    -----
    torch has no such function.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> from pyqref.quantization import get_default_qconfig_mapping
    >>> from pyqref.quantization.quantize_fx import convert_fx, prepare_fx, watch_passes
    >>> x = pyqref.tensor([[1.0, -1.0]])
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU()).eval()
    >>> with watch_passes(lambda name, model: print(f"{name}: {len(model.graph.nodes)} nodes")):
    ...     prepared = prepare_fx(model, get_default_qconfig_mapping(), (x,))
    trace: 4 nodes
    fuse: 3 nodes
    select_matches: 3 nodes
    insert_observers: 5 nodes

    Pictures of all passes:

    >>> drawings = {}
    >>> def keep(name, model):
    ...     drawings[name] = pyqref.fx.draw(model, title=name)
    >>> _ = prepared(x)
    >>> with watch_passes(keep):
    ...     quantized = convert_fx(prepared)
    >>> list(drawings)  # doctest: +NORMALIZE_WHITESPACE
    ['observe_weights', 'dequantize_inputs', 'replace_observers', 'make_reference_modules',
     'keep_outputs_quantized', 'lower_static_modules', 'lower_dynamic_modules',
     'lower_weight_only_modules', 'lower_static_functions', 'lower_dynamic_functions',
     'lower_binary', 'lower_shape_questions', 'lower_others', 'fold_weights']
    """
    if not callable(show):
        raise TypeError(
            "watch_passes: show must be a function of the pass's name and the model, got "
            f"{type(show).__name__}"
        )
    token = _watching.set((*_watching.get(), show))
    try:
        yield
    finally:
        _watching.reset(token)


def passed(name: str, model: GraphModule) -> None:
    """Tell those who watch that a pass is done.

    Parameters
    ----------
    name
        Of the pass.
    model
        As the pass left it.
    """
    for show in _watching.get():
        show(name, model)
