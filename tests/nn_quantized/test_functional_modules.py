"""FloatFunctional, FXFloatFunctional and QFunctional."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import pyqref
from pyqref import nn

FloatFunctional = nn.quantized.FloatFunctional
QFunctional = nn.quantized.QFunctional


def _observed() -> Any:
    functional = FloatFunctional()
    functional.activation_post_process = pyqref.quantization.MinMaxObserver()
    return functional


def test_documented_examples() -> None:
    """The examples of the documentation of 1.4 print the same, QFunctional('add') on qint32 too."""
    f_add = FloatFunctional()
    assert 7.0 == f_add.add(pyqref.tensor(3.0), pyqref.tensor(4.0)).item()
    q_add = QFunctional("add")
    a = pyqref.quantize_per_tensor(pyqref.tensor(3.0), 1.0, 0, pyqref.qint32)
    b = pyqref.quantize_per_tensor(pyqref.tensor(4.0), 1.0, 0, pyqref.qint32)
    assert 7.0 == q_add.add(a, b).dequantize().item()


@pytest.mark.parametrize("cls", [FloatFunctional, nn.quantized.FXFloatFunctional])
def test_float_operations(cls: Any) -> None:
    """Each operation is that of torch with the name."""
    f, x, y = cls(), pyqref.tensor([[1.0, -2.0]]), pyqref.tensor([[3.0, 1.0]])
    assert [[4.0, -1.0]] == f.add(x, y).tolist()
    assert [[3.0, -2.0]] == f.mul(x, y).tolist()
    assert [[4.0, 0.0]] == f.add_relu(x, y).tolist()
    assert [[2.0, -1.0]] == f.add_scalar(x, 1.0).tolist()
    assert [[2.0, -4.0]] == f.mul_scalar(x, 2.0).tolist()
    assert [[1.0, -2.0, 3.0, 1.0]] == f.cat([x, y], dim=1).tolist()
    assert [[1.0]] == f.matmul(x, y.transpose(0, 1)).tolist()


def test_what_is_observed() -> None:
    """Results of every operation but those with a number."""
    x = pyqref.tensor([[1.0]])
    for name in ("add", "mul", "add_relu", "matmul"):
        functional = _observed()
        getattr(functional, name)(x, x)
        assert 1 == functional.activation_post_process.max_val.numel(), name
    functional = _observed()
    functional.cat([x, x])
    assert 1.0 == functional.activation_post_process.max_val.item()
    functional = _observed()
    functional.add_scalar(x, 1.0)
    functional.mul_scalar(x, 2.0)
    assert float("-inf") == functional.activation_post_process.max_val.item()


def test_gradients_flow() -> None:
    x = pyqref.ones(2, requires_grad=True)
    FloatFunctional().add_relu(x, x).sum().backward()
    assert [2.0, 2.0] == x.grad.tolist()


@pytest.mark.parametrize("cls", [FloatFunctional, nn.quantized.FXFloatFunctional, QFunctional])
def test_there_is_no_forward(cls: Any) -> None:
    with pytest.raises(RuntimeError, match="has no forward"):
        cls()(pyqref.ones(1))


class _Reuses(nn.Module):
    def __init__(self, functional: Any, times: int = 2) -> None:
        super().__init__()
        self.body = nn.Module()
        self.body.skip = functional
        self.times = times

    def forward(self, x: Any) -> Any:
        for _ in range(self.times):
            x = self.body.skip.add(x, x)
        return x


def test_reuse_in_one_pass_warns() -> None:
    """Its observer would mix two tensors; the message names the path."""
    with pytest.warns(UserWarning, match=r"body\.skip \(FloatFunctional\) is used more than once"):
        _Reuses(_observed())(pyqref.ones(1))


def test_reuse_below_another_module_warns() -> None:
    """The pass is that of the outermost module."""
    functional = _observed()
    model = nn.Sequential(_Reuses(functional, 1), _Reuses(functional, 1))
    with pytest.warns(UserWarning, match="used more than once"):
        model(pyqref.ones(1))


def test_use_in_several_passes_does_not_warn() -> None:
    """Calibration runs the model many times, with hooks or without."""
    model = _Reuses(_observed(), 1)
    for _ in range(3):
        model(pyqref.ones(1))
    model.register_forward_hook(lambda *args: None)
    for _ in range(3):
        model(pyqref.ones(1))


def test_reuse_without_observer_does_not_warn() -> None:
    """Before prepare, and outside of any module, nothing is mixed."""
    _Reuses(FloatFunctional())(pyqref.ones(1))
    functional = _observed()
    functional.add(pyqref.ones(1), pyqref.ones(1))
    functional.add(pyqref.ones(1), pyqref.ones(1))


def test_two_objects_do_not_warn() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = _observed(), _observed()

        def forward(self, x: Any) -> Any:
            return self.second.mul(self.first.add(x, x), x)

    Two()(pyqref.ones(1))


def test_qfunctional_operations() -> None:
    """Results lie on the grid of the module, those with a number on their own."""
    q = QFunctional()
    q.scale, q.zero_point = 0.5, 10
    x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, -2.0]]), 0.5, 4, pyqref.quint8)
    assert [[14, 2]] == q.add(x, x).int_repr().tolist()
    assert [[12, 18]] == q.mul(x, x).int_repr().tolist()
    assert [[14, 10]] == q.add_relu(x, x).int_repr().tolist()
    assert [[12, 6, 12, 6]] == q.cat([x, x], 1).int_repr().tolist()
    assert [[20]] == q.matmul(x, x.transpose(0, 1)).int_repr().tolist()
    assert (0.5, 2) == (q.add_scalar(x, 1.0).q_scale(), q.add_scalar(x, 1.0).q_zero_point())
    assert 1.0 == q.mul_scalar(x, 2.0).q_scale()


def test_qfunctional_of_an_operation_that_is_not_there() -> None:
    with pytest.raises(ValueError, match=r"operation must be one of add, cat, .*got 'divide'"):
        QFunctional("divide")


def test_qfunctional_on_float_tensors() -> None:
    """The message names the path and the missing QuantStub, for every operation."""
    x = pyqref.ones(1, 1)
    for name in ("add", "mul", "add_relu", "matmul"):
        with pytest.raises(RuntimeError, match=r"QFunctional takes a quantized tensor.*QuantStub"):
            getattr(QFunctional(), name)(x, x)
    for name in ("add_scalar", "mul_scalar"):
        with pytest.raises(RuntimeError, match="QuantStub"):
            getattr(QFunctional(), name)(x, 1.0)
    with pytest.raises(RuntimeError, match="QuantStub"):
        QFunctional().cat([x, x])
    with pytest.raises(RuntimeError, match=r"body\.skip \(QFunctional\) takes a quantized tensor"):
        _Reuses(QFunctional())(x)


def test_qfunctional_state_and_copy() -> None:
    q, other = QFunctional(), QFunctional()
    q.scale, q.zero_point = 0.25, 7
    assert ["scale", "zero_point"] == list(q.state_dict())
    other.load_state_dict(q.state_dict())
    for each in (other, copy.deepcopy(q)):
        assert (0.25, 7) == (each.scale, each.zero_point)
    assert "scale=0.25, zero_point=7" in repr(q)


def test_from_float() -> None:
    functional = _observed()
    functional.add(pyqref.tensor([255.0]), pyqref.tensor([0.0]))
    made = QFunctional.from_float(functional)
    assert (1.0, 0) == (made.scale, made.zero_point)
    with pytest.raises(TypeError, match="from_float takes one of"):
        QFunctional.from_float(nn.Identity())
