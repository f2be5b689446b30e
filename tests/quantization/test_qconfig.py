"""QConfigs: what they hold, and what the named ones are."""

from __future__ import annotations

import copy

import pytest

import pyqref
from pyqref import quantization as q

BACKENDS = ["fbgemm", "x86", "qnnpack", "onednn"]


def test_an_observer_instance_is_refused() -> None:
    """Documented: a QConfig holds classes, or what makes instances, not observers."""
    with pytest.raises(ValueError, match=r"instance for activation.*with_args"):
        q.QConfig(activation=q.MinMaxObserver(), weight=q.MinMaxObserver)
    with pytest.raises(ValueError, match="instance for weight"):
        q.QConfigDynamic(weight=q.MinMaxObserver())


def test_what_is_no_recipe_is_refused() -> None:
    with pytest.raises(TypeError, match="weight must be an observer class"):
        q.QConfig(activation=q.MinMaxObserver, weight=3)
    with pytest.raises(TypeError, match="weight must be an observer class"):
        q.QConfigDynamic()


def test_documented_example() -> None:
    """my_qconfig of the documentation, word for word."""
    my_qconfig = q.QConfig(
        activation=q.MinMaxObserver.with_args(dtype=pyqref.qint8),
        weight=q.default_observer.with_args(dtype=pyqref.qint8),
    )
    assert (pyqref.qint8, pyqref.qint8) == (
        my_qconfig.activation().dtype,
        my_qconfig.weight().dtype,
    )
    my_qconfig = q.QConfigDynamic(weight=q.default_observer.with_args(dtype=pyqref.qint8))
    assert pyqref.qint8 == my_qconfig.weight().dtype


def test_documented_definitions() -> None:
    """Documented: what default_qconfig and its relatives are the same as."""
    assert q.QConfig(q.default_observer, q.default_weight_observer) == q.default_qconfig
    assert q.QConfig(q.default_fake_quant, q.default_weight_fake_quant) == q.default_qat_qconfig
    assert q.QConfigDynamic(weight=q.default_weight_observer) == q.default_dynamic_qconfig
    half = q.QConfig(q.MinMaxObserver, q.NoopObserver.with_args(dtype=pyqref.float16))
    assert q.qconfig_equals(half, q.QConfig(q.MinMaxObserver, q.float16_dynamic_qconfig.weight))


@pytest.mark.parametrize("backend", BACKENDS)
def test_default_qconfig_of_a_back_end(backend: str) -> None:
    qconfig = q.get_default_qconfig(backend)
    activation, weight = qconfig.activation(), qconfig.weight()
    assert isinstance(activation, q.HistogramObserver)
    assert (backend in ("fbgemm", "x86")) == activation.reduce_range
    assert (backend != "qnnpack") == weight.qscheme.is_per_channel
    assert pyqref.qint8 == weight.dtype


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("version", "kind"), [(0, q.FakeQuantize), (1, q.FusedMovingAvgObsFakeQuantize)]
)
def test_default_qat_qconfig_of_a_back_end(backend: str, version: int, kind: type) -> None:
    qconfig = q.get_default_qat_qconfig(backend, version)
    assert (kind, kind) == (type(qconfig.activation()), type(qconfig.weight()))
    reduced = backend in ("fbgemm", "x86")
    assert (127 if reduced else 255) == qconfig.activation().quant_max


@pytest.mark.parametrize("function", [q.get_default_qconfig, q.get_default_qat_qconfig])
def test_unknown_back_end(function: object) -> None:
    with pytest.raises(ValueError, match=r"backend must be one of 'fbgemm', 'x86'.*got 'tpu'"):
        function("tpu")
    with pytest.raises(ValueError, match=r"version must be .*got 9"):
        function("x86", 9)


def test_equality_by_what_the_recipes_say() -> None:
    """Fresh recipes differ by ``==`` and agree by qconfig_equals."""
    first, second = q.get_default_qconfig("fbgemm"), q.get_default_qconfig("fbgemm")
    assert first != second
    assert q.qconfig_equals(first, second)
    assert not q.qconfig_equals(first, q.get_default_qconfig("qnnpack"))
    assert not q.qconfig_equals(first, None)
    assert q.qconfig_equals(None, None)


def test_equality_looks_into_nested_recipes() -> None:
    assert q.qconfig_equals(q.default_qat_qconfig, copy.deepcopy(q.default_qat_qconfig))
    fixed = q.default_fixed_qparams_range_0to1_fake_quant
    other = q.default_fixed_qparams_range_neg1to1_fake_quant
    assert q.qconfig_equals(q.QConfig(fixed, None), q.QConfig(copy.deepcopy(fixed), None))
    assert not q.qconfig_equals(q.QConfig(fixed, None), q.QConfig(other, None))


def test_repr_names_the_fields() -> None:
    assert repr(q.default_qconfig).startswith("QConfig(activation=functools.partial(")


@pytest.mark.parametrize("name", [n for n in dir(q) if "qconfig" in n and "default" in n])
def test_every_named_qconfig_makes_observers(name: str) -> None:
    qconfig = getattr(q, name)
    if isinstance(qconfig, q.QConfig | q.QConfigDynamic):
        assert isinstance(qconfig.activation(), pyqref.nn.Module)
        assert isinstance(qconfig.weight(), pyqref.nn.Module)
