"""Steps of the workflow that were left out, or come in the wrong order or mode.

Each function looks at a model before anything is changed, and warns by module path.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pyqref._typing import Module, QConfigLike
from pyqref.nn import modules as nn
from pyqref.nn.modules.dropout import _Dropout
from pyqref.quantization.diagnostics import (
    NotPreparedWarning,
    NotQuantizedWarning,
    QConfigMismatchWarning,
    WrongModeWarning,
    WrongOrderWarning,
    warn,
)
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase
from pyqref.quantization.observer.base import ObserverBase
from pyqref.quantization.observer.uniform import UniformQuantizationObserverBase

from .observe import NAME, saw_training
from .paths import is_leaf

__all__ = [
    "is_prepared",
    "listed",
    "warn_of_late_fusion",
    "warn_of_observers_in_training",
    "warn_of_root",
    "warn_of_training_mode",
    "warn_of_unprepared",
]

#: A message names so many modules.
_MOST = 6
_HOW = (
    "call prepared = prepare(model), which returns a copy unless inplace=True, run it on "
    "calibration data and convert it"
)


def listed(places: Collection[str]) -> str:
    """The first few of these, and how many there are besides.

    Examples
    --------
    >>> listed([f"layer{i}" for i in range(8)])
    'layer0, layer1, layer2, layer3, layer4, layer5 and 2 more'
    """
    shown = list(places)[:_MOST]
    more = len(places) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _are(places: Collection[str]) -> str:
    return "are" if len(places) > 1 else "is"


def _named(path: str, module: Any) -> str:
    return f"{path or 'the model'} ({type(module).__name__})"


def is_prepared(module: Module) -> bool:
    """Return True if an observer or fake quantizer stands at a module or below it."""
    for each in module.modules():
        if isinstance(each, ObserverBase | FakeQuantizeBase) or hasattr(each, "weight_fake_quant"):
            return True
        observer = each._modules.get(NAME)
        if observer is not None and not isinstance(observer, nn.Identity):
            return True
    return False


def warn_of_unprepared(model: Module, mapping: Mapping[Any, Any]) -> None:
    """Warn of parts of a model that ``convert`` passes over because they are not prepared.

    ``prepare`` gives every module a qconfig, be it None. A part with a qconfig at its head
    only was not prepared; nor was a model in which no module has one.
    """
    missed: dict[str, list[str]] = {}

    def visit(module: Any, path: str, head: str | None) -> None:
        own = getattr(module, "qconfig", None)
        if own is not None and not is_prepared(module):
            head = path
        elif head is not None and hasattr(module, "qconfig"):
            head = None
        if head is not None and type(module) in mapping and not hasattr(module, "qconfig"):
            missed.setdefault(head, []).append(path)
        for name, child in module.named_children():
            visit(child, f"{path}.{name}" if path else name, head)

    visit(model, "", None)
    for head, paths in missed.items():
        warn(
            f"convert: {head or 'the model'} has a qconfig but was not prepared, so that "
            f"{listed(paths)} stay in float; {_HOW}",
            NotPreparedWarning,
        )
    if any(hasattr(each, "qconfig") for each in model.modules()) or is_prepared(model):
        return
    waiting = [path for path, each in model.named_modules() if path and type(each) in mapping]
    if waiting:
        hint = "a model of prepare_fx is converted by convert_fx; " if _is_graph(model) else ""
        warn(
            f"convert: no module has a qconfig, so that {listed(waiting)} stay in float; "
            f"{hint}assign model.qconfig = get_default_qconfig('x86'), for example, and {_HOW}",
            NotPreparedWarning,
        )


def _is_graph(model: Any) -> bool:
    return hasattr(model, "graph")


def warn_of_root(
    asks: str, model: Module, mapping: Mapping[Any, Any], qconfig: QConfigLike | None
) -> None:
    """Warn of a model that is a single layer: only submodules are swapped."""
    alone = is_leaf(model) or set(model._modules) == {NAME}
    if alone and qconfig is not None and any(issubclass(type(model), each) for each in mapping):
        warn(
            f"{asks} swaps the submodules of the model, not the model itself, and this one is "
            f"a {type(model).__name__} alone: put it into QuantWrapper or nn.Sequential",
            NotQuantizedWarning,
        )


def warn_of_observers_in_training(
    model: Module, plan: Mapping[str, Any], mapping: Mapping[Any, Any]
) -> None:
    """Warn of qconfigs for ``prepare_qat`` whose observers do not fake quantize.

    Parameters
    ----------
    model
        The float model.
    plan
        From paths to the qconfigs that the modules will have.
    mapping
        From float types to types for training.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    places: dict[str, list[str]] = {}
    for path, qconfig in plan.items():
        if qconfig is None or type(modules[path]) not in mapping:
            continue
        observed = " and ".join(_only_observed(qconfig))
        if observed:
            places.setdefault(observed, []).append(path or "the model")
    for observed, paths in places.items():
        warn(
            f"prepare_qat: the qconfig of {listed(paths)} makes observers, no fake quantizers, "
            f"for {observed}: the training will not notice the quantization; use "
            "get_default_qat_qconfig('x86') or default_qat_qconfig, or prepare to calibrate "
            "without training",
            QConfigMismatchWarning,
        )


def _only_observed(qconfig: Any) -> Iterator[str]:
    if isinstance(qconfig.weight(), ObserverBase):
        yield "the weight"
    if isinstance(qconfig.activation(), UniformQuantizationObserverBase):
        yield "the activations"


def warn_of_training_mode(asks: str, model: Module) -> None:
    """Warn of a model without fake quantizers whose statistics or dropout move.

    ``prepare`` looks at the mode of the model; ``convert`` besides at the mode in which its
    observers last saw data.
    """
    if any(isinstance(each, FakeQuantizeBase) for each in model.modules()):
        return
    moving = [_named(path, each) for path, each in model.named_modules() if _depends_on_mode(each)]
    active = [
        _named(path, each)
        for path, each in model.named_modules()
        if each.training and _depends_on_mode(each)
    ]
    if active:
        warn(
            f"{asks}: {listed(active)} {_are(active)} in training mode: what the observers see is "
            "not what the quantized model will compute; call model.eval() before prepare, or use "
            "prepare_qat to train",
            WrongModeWarning,
        )
    elif moving and any(saw_training(each) for each in model.modules()):
        warn(
            f"{asks}: the model was calibrated in training mode, which matters to "
            f"{listed(moving)}; call model.eval() before prepare and calibrate again",
            WrongModeWarning,
        )


def _depends_on_mode(module: Any) -> bool:
    """Return True if a module computes differently in training mode."""
    if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d | nn.BatchNorm3d):
        return module.running_mean is not None
    if isinstance(module, nn.InstanceNorm1d | nn.InstanceNorm2d | nn.InstanceNorm3d):
        return bool(module.track_running_stats)
    if isinstance(module, _Dropout):
        return bool(module.p > 0)
    return isinstance(module, nn.RNNBase | nn.MultiheadAttention) and bool(module.dropout > 0)


def warn_of_late_fusion(asks: str, places: Mapping[str, Any]) -> None:
    """Warn of layers to be fused that are prepared already.

    Parameters
    ----------
    asks
        Who asks.
    places
        From paths to the layers.
    """
    late = [_named(path, each) for path, each in places.items() if is_prepared(each)]
    if late:
        warn(
            f"{asks}: {listed(late)} {_are(late)} prepared already: the fused layer has no "
            "observer, and convert cannot find its range; fuse the float model first, then prepare",
            WrongOrderWarning,
        )
