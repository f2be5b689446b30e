"""Checks of the qconfig that every layer of quantization-aware training makes."""

from __future__ import annotations

from pyqref._typing import AnyModule, QConfigLike
from pyqref.nn.modules import Module
from pyqref.tensor.arguments import described

__all__ = ["make_weight_fake_quant", "qconfig_of"]


def make_weight_fake_quant(layer: Module, qconfig: QConfigLike | None) -> Module:
    """The fake-quantize module for the weight of ``layer``.

    Raises
    ------
    ValueError
        There is no qconfig.
    """
    if qconfig is None:
        raise ValueError(
            f"{type(layer).__module__}.{type(layer).__name__}: qconfig must be given; "
            "pass qconfig=get_default_qat_qconfig('fbgemm'), for example, but not None"
        )
    make = getattr(qconfig, "weight", None)
    fake_quant = make() if callable(make) else None
    if not isinstance(fake_quant, Module):
        raise TypeError(
            f"{type(layer).__module__}.{type(layer).__name__}: qconfig must be a QConfig whose "
            f"weight makes a fake-quantize module, got {described(qconfig)}"
        )
    return fake_quant


def qconfig_of(
    cls: type, mod: AnyModule, accepted: tuple[type, ...], qconfig: QConfigLike | None
) -> QConfigLike:
    """The qconfig under which ``mod`` becomes a ``cls``: the one given, or its own.

    Parameters
    ----------
    cls
        The layer of quantization-aware training that is made.
    mod
        The float layer.
    accepted
        The very types that ``mod`` may have.
    qconfig
        As passed to ``from_float``: a qconfig (documentation of 1.4), or the flag
        ``use_precomputed_fake_quant`` that stands second in 2.x, which has no meaning
        before training and is ignored there too.

    Raises
    ------
    TypeError
        ``mod`` is of another type.
    ValueError
        Neither the argument nor ``mod.qconfig`` gives a qconfig.
    """
    if type(mod) not in accepted:
        wanted = " or ".join(f"{each.__module__}.{each.__name__}" for each in accepted)
        raise TypeError(
            f"{cls.__module__}.{cls.__name__}.from_float takes a {wanted}, "
            f"got {type(mod).__module__}.{type(mod).__name__}"
        )
    given = qconfig
    if qconfig is None or isinstance(qconfig, bool):
        qconfig = getattr(mod, "qconfig", None)
    if qconfig is None:
        raise ValueError(
            f"{cls.__name__}.from_float: the float module has no qconfig; "
            "set mod.qconfig = get_default_qat_qconfig('fbgemm'), for example; "
            f"got qconfig={described(given)}"
        )
    return qconfig
