"""``QConfig``: how a layer is quantized, as two recipes for observers."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from pyqref.nn.modules.module import Module
from pyqref.quantization.observer.defaults import default_dynamic_quant_observer
from pyqref.quantization.observer.partial import PartialWrapper

from ..._typing import QConfigLike

__all__ = ["QConfig", "QConfigAny", "QConfigDynamic", "qconfig_equals"]


class _Recipes(NamedTuple):
    activation: Any
    weight: Any


class QConfig(_Recipes):
    """How the activations and the weight of a layer are quantized.

    Parameters
    ----------
    activation
        Observer (or fake quantizer) class, or a recipe made by its ``with_args``, for the
        layer's output.
    weight
        The same for its weight.

    Raises
    ------
    ValueError
        An observer itself is given: each layer needs observers of its own, so a QConfig
        holds what makes them.

    Notes
    -----
    Source: ``torch.quantization.QConfig``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization import MinMaxObserver, default_observer
    >>> my_qconfig = QConfig(
    ...     activation=MinMaxObserver.with_args(dtype=pyqref.qint8),
    ...     weight=default_observer.with_args(dtype=pyqref.qint8))
    >>> my_qconfig.activation()
    MinMaxObserver(min_val=inf, max_val=-inf)
    """

    __slots__ = ()

    def __new__(cls, activation: object, weight: object) -> QConfig:  # noqa: PYI034
        """Check that these are recipes."""
        for name, recipe in (("activation", activation), ("weight", weight)):
            _refuse_instance(cls.__name__, name, recipe)
        return super().__new__(cls, activation, weight)


class QConfigDynamic(_Recipes):
    """How the weight of a layer is quantized whose input is quantized at run time.

    Parameters
    ----------
    activation
        Recipe that says to what type the input is quantized at run time.
    weight
        Observer class, or recipe, for the weight.

    Raises
    ------
    ValueError
        An observer itself is given.

    Notes
    -----
    Source: ``torch.quantization.QConfigDynamic``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization import default_observer
    >>> my_qconfig = QConfigDynamic(weight=default_observer.with_args(dtype=pyqref.qint8))
    >>> my_qconfig.weight().dtype
    pyqref.qint8
    """

    __slots__ = ()

    def __new__(  # noqa: PYI034
        cls, activation: object = default_dynamic_quant_observer, weight: object = None
    ) -> QConfigDynamic:
        """Check that these are recipes."""
        if weight is None:
            raise TypeError("QConfigDynamic: weight must be an observer class or recipe, got None")
        for name, recipe in (("activation", activation), ("weight", weight)):
            _refuse_instance(cls.__name__, name, recipe)
        return super().__new__(cls, activation, weight)


QConfigAny: TypeAlias = QConfig | QConfigDynamic | None


def _refuse_instance(kind: str, name: str, recipe: Any) -> None:
    if isinstance(recipe, Module):
        raise ValueError(
            f"{kind} received an observer instance for {name}, please pass observer class "
            "instead. Use MyObserver.with_args(x=1) to override arguments to constructor if needed"
        )
    if recipe is not None and not callable(recipe):
        raise TypeError(
            f"{kind}: {name} must be an observer class or a recipe made by its with_args, "
            f"got {recipe!r}"
        )


def qconfig_equals(q1: QConfigLike | None, q2: QConfigLike | None) -> bool:
    """Return True if two qconfigs make the same observers.

    ``==`` compares recipes by identity, so that two calls of ``get_default_qconfig`` are
    not equal; this compares what the recipes say.

    Examples
    --------
    >>> from pyqref.quantization import get_default_qconfig
    >>> get_default_qconfig("fbgemm") == get_default_qconfig("fbgemm")
    False
    >>> qconfig_equals(get_default_qconfig("fbgemm"), get_default_qconfig("fbgemm"))
    True
    """
    for name, qconfig in (("q1", q1), ("q2", q2)):
        if qconfig is not None and not isinstance(qconfig, _Recipes):
            raise TypeError(f"qconfig_equals: {name} must be a QConfig or None, got {qconfig!r}")
    if q1 is None or q2 is None:
        return q1 is q2
    return _recipes_equal(q1.activation, q2.activation) and _recipes_equal(q1.weight, q2.weight)


def _recipes_equal(first: Any, second: Any) -> bool:
    if not isinstance(first, PartialWrapper) or not isinstance(second, PartialWrapper):
        return bool(first == second)
    return (
        first.p.func == second.p.func
        and first.p.args == second.p.args
        and first.callable_args == second.callable_args
        and first.p.keywords.keys() == second.p.keywords.keys()
        and all(
            _recipes_equal(value, second.p.keywords[name])
            for name, value in first.p.keywords.items()
        )
    )
