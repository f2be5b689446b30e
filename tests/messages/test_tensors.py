"""Following the messages about tensors, quantized and plain, works."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bad_input.engine import floats, per_channel, quint8
from messages.following import says

import pyqref
from pyqref import nn
from pyqref import quantization as q


def test_an_operation_that_has_no_quantized_form() -> None:
    """A stub or dequantize() before it, or a FloatFunctional in the float model."""

    class Computing(nn.Module):
        def __init__(self, operation: Any, extra: str) -> None:
            super().__init__()
            self.quant, self.operation = q.QuantStub(), operation
            self.dequant = q.DeQuantStub() if extra == "dequant" else nn.Identity()
            if extra == "f":
                self.f = nn.quantized.FloatFunctional()

        def forward(self, x: Any) -> Any:
            return self.operation(self, self.dequant(self.quant(x)))

    def converted(operation: Any, extra: str = "") -> Any:
        model = Computing(operation, extra).eval()
        model.qconfig = q.default_qconfig
        prepared = q.prepare(model)
        prepared(floats(3, 3))
        return q.convert(prepared)(floats(3, 3))

    for wrong, right in (
        (lambda self, x: x + x, lambda self, x, y: self.f.add(x, y)),
        (lambda self, x: x * x, lambda self, x, y: self.f.mul(x, y)),
        (lambda self, x: x @ x, lambda self, x, y: self.f.matmul(x, y)),
        (lambda self, x: x + 2, lambda self, x, y: self.f.add_scalar(x, 2)),
        (lambda self, x: x - 2, lambda self, x, y: self.f.add_scalar(x, -2)),
        (lambda self, x: x * 2, lambda self, x, y: self.f.mul_scalar(x, 2)),
        (lambda self, x: x / 2, lambda self, x, y: self.f.mul_scalar(x, 1 / 2)),
    ):
        with says(
            "add self.dequant = DeQuantStub() to the float model and call it on the input, or call "
            "dequantize() on the tensor",
            "for a quantized result add self.f = FloatFunctional() to the float model and call "
            "self.f.{}",
        ) as told:
            converted(wrong)
        method = right.__code__.co_names[1]
        assert f"call self.f.{method}(x, " in told.text
        real = converted(wrong, "dequant")
        assert real.equal(converted(lambda self, x, w=wrong: w(self, x.dequantize())))
        quantized = converted(lambda self, x, r=right: r(self, x, x), "f")
        assert quantized.is_quantized
        assert (quantized.dequantize() - real).abs().max().item() <= 0.05
    with says("add(x, y)"):
        converted(lambda self, x: x + x)


def test_a_quantized_tensor_where_a_float_one_is_needed() -> None:
    """dequantize() gives a float tensor that can be converted, copied and written."""
    x, plain = quint8(2, 3), pyqref.zeros(2, 3)
    with says("call dequantize() first"):
        x.to(pyqref.int32)
    x.dequantize().to(pyqref.int32)
    with says("use dequantize() to get a float tensor"):
        plain.copy_(x)
    plain.copy_(x.dequantize())
    with says("use int_repr().numpy() or dequantize().numpy()"):
        x.numpy()
    assert np.uint8 == x.int_repr().numpy().dtype
    assert np.float32 == x.dequantize().numpy().dtype
    with says("call dequantize() on the values"):
        x[[0, 1], 0] = quint8(2)
    x[[0, 1], 0] = quint8(2).dequantize()
    with says("call dequantize() on the quantized one first"):
        x.eq_(0.5)
    x.dequantize().eq_(0.5)
    with says("call dequantize().long() on it first"):
        plain[quint8(1)]
    assert (1, 3) == plain[quint8(1).clamp(0, 1).dequantize().long()].shape
    with says("quantize or dequantize one"):
        pyqref.cat([x, plain])
    pyqref.cat([x, pyqref.quantize_per_tensor(plain, 0.25, 4, pyqref.quint8)])
    pyqref.cat([x.dequantize(), plain])
    with says("use clone(), or dequantize() for its real numbers"):
        pyqref.tensor(x)
    assert x.clone().equal(x)
    assert pyqref.tensor(x.dequantize()).equal(x.dequantize())


def test_a_float_tensor_where_a_quantized_one_is_needed() -> None:
    """quantize_per_tensor makes one."""
    x = floats(2, 3)
    made = pyqref.quantize_per_tensor(x, 0.25, 4, pyqref.quint8)
    with says("use quantize_per_tensor"):
        x.to(pyqref.quint8)
    with says("use quantize_per_tensor"):
        pyqref.zeros(2, dtype=pyqref.qint8)
    for refused in (lambda of: pyqref.int_repr(of), lambda of: of.q_scale()):
        with says("use quantize_per_tensor first"):
            refused(x)
        refused(made)
    with says("use quantize_per_tensor or quantize_per_channel"):
        type(made)(x)
    with says("call quantize_per_tensor() first"):
        made.set_(x)
    made.clone().set_(pyqref.quantize_per_tensor(x, 0.5, 0, pyqref.quint8))
    with says("use .float()"):
        pyqref.quantize_per_tensor(pyqref.arange(3), 0.25, 4, pyqref.quint8)
    pyqref.quantize_per_tensor(pyqref.arange(3).float(), 0.25, 4, pyqref.quint8)


def test_a_per_channel_tensor() -> None:
    """Its channels stay apart, or it is dequantized."""
    x = per_channel(2, 3, 4)
    with says("call dequantize() first, or choose a shape that keeps the channels as one axis"):
        x.reshape(6, 4)
    x.dequantize().reshape(6, 4)
    x.reshape(2, 12)
    with says("call dequantize() first"):
        x.resize_(24)
    x.dequantize().resize_(24)
    with says("dequantize, join and quantize again"):
        pyqref.cat([x, x])
    with says("call dequantize() on src"):
        x.clone().copy_(per_channel(3, 4))
    x.clone().copy_(per_channel(3, 4).dequantize())
    joined = pyqref.cat([x.dequantize(), x.dequantize()])
    scales, zero_points = pyqref.full((4,), 0.5), pyqref.zeros(4, dtype=pyqref.int64)
    pyqref.quantize_per_channel(joined, scales, zero_points, 0, pyqref.qint8)
    with says("call dequantize() first"):
        pyqref.relu(x)
    pyqref.relu(x.dequantize())
    with says("use q_per_channel_scales(), q_per_channel_zero_points() and q_per_channel_axis()"):
        x.q_scale()
    assert (2, 2) == (len(x.q_per_channel_scales()), len(x.q_per_channel_zero_points()))
    assert 0 == x.q_per_channel_axis()
    with says("use q_scale() and q_zero_point()"):
        quint8(2).q_per_channel_axis()
    assert (0.25, 4) == (quint8(2).q_scale(), quint8(2).q_zero_point())


def test_a_channel_with_a_float_zero_point() -> None:
    """A dequantized table gives its rows."""
    table = pyqref.quantize_per_channel(
        floats(2, 3), pyqref.ones(2), pyqref.full((2,), 0.5), 0, pyqref.quint8
    )
    with says("call dequantize() first"):
        table[0]
    assert (3,) == table.dequantize()[0].shape


def test_truth_values() -> None:
    """Truth values are converted, or inverted with ~ and logical_not()."""
    mask = pyqref.tensor([True, False])
    for name in ("abs", "floor_divide"):
        arguments = (mask, mask.logical_or(~mask)) if name == "floor_divide" else (mask,)
        with says("convert it first, as by int()"):
            getattr(pyqref, name)(*arguments)
        getattr(pyqref, name)(*(each.int() for each in arguments))
    for refused in (lambda: -mask, lambda: mask - mask):
        with says("use the `~` or `logical_not()` operator instead."):
            refused()
    assert [False, True] == (~mask).tolist() == mask.logical_not().tolist()


def test_joining_tensors_on_unlike_grids() -> None:
    """One grid is found for the result, or it is float."""
    x, y = quint8(2, 3), quint8(2, 3, scale=0.5)

    class Joined(nn.Module):
        def __init__(self, functional: bool) -> None:
            super().__init__()
            self.quant, self.quant2 = q.QuantStub(), q.QuantStub()
            self.f = nn.quantized.FloatFunctional() if functional else None

        def forward(self, x: Any) -> Any:
            parts = [self.quant(x), self.quant2(10 * x)]
            return pyqref.cat(parts) if self.f is None else self.f.cat(parts)

    def converted(functional: bool) -> Any:
        model = Joined(functional).eval()
        model.qconfig = q.default_qconfig
        prepared = q.prepare(model)
        prepared(floats(2, 3))
        return q.convert(prepared)(floats(2, 3))

    with says(
        "in eager mode join by FloatFunctional.cat, in graph mode keep the join in float by "
        "set_object_type(pyqref.{}, None), or call ops.quantized.cat with a scale and a zero point"
    ) as told:
        converted(functional=False)
    assert "set_object_type(pyqref.cat, None)" in told.text
    assert 10.0 == pytest.approx(converted(functional=True).dequantize().max().item(), abs=0.1)
    mapping = q.get_default_qconfig_mapping().set_object_type(pyqref.cat, None)
    model = Joined(functional=False).eval()
    prepared = q.quantize_fx.prepare_fx(model, mapping, (floats(2, 3),))
    prepared(floats(2, 3))
    assert pyqref.float32 is q.quantize_fx.convert_fx(prepared)(floats(2, 3)).dtype
    with says("give it a scale and a zero point of the result"):
        pyqref.ops.quantized.cat([x, y], 0)
    pyqref.ops.quantized.cat([x, y], 0, 0.5, 4)


def test_what_is_no_tensor_of_this_library() -> None:
    """from_numpy takes over an array; a layer has parameters."""
    layer, array = nn.Linear(3, 2), floats(4, 3).numpy()
    with says("write pyqref.from_numpy(array)") as told:
        layer(array)
    layer(eval(told.text.rpartition("write ")[2], {"pyqref": pyqref, "array": array}))
    with says("give a parameter of it, such as its weight"):
        nn.init.zeros_(layer)  # type: ignore[arg-type]
    nn.init.zeros_(layer.weight)


def test_a_tensor_of_torch() -> None:
    """With a gradient or without one, the statement that is printed takes it over."""
    torch = pytest.importorskip("torch", minversion="2.13")
    layer = nn.Linear(3, 2)
    for t in (torch.ones(4, 3), torch.ones(4, 3, requires_grad=True)):
        with says("write pyqref.from_dlpack({})") as told:
            layer(t)
        layer(eval(told.text.rpartition("write ")[2], {"pyqref": pyqref, "t": t}))


def test_making_tensors() -> None:
    """Elements, devices and arrays that a tensor cannot have come in another form."""
    with says("use {}") as told:
        pyqref.from_numpy(np.zeros(2, np.complex128))
    for name in told.text.rpartition("use ")[2].split(", "):
        pyqref.from_numpy(np.zeros(2, name))
    with says("use device='cpu'"):
        pyqref.zeros(2, device="cuda")
    pyqref.zeros(2, device="cpu")
    array = np.arange(3.0)[::-1]
    with says("make a copy, such as with array.copy()"):
        pyqref.from_numpy(array)
    assert [2.0, 1.0, 0.0] == pyqref.from_numpy(array.copy()).tolist()
    with says("use pyqref.tensor(...) to make one"):
        pyqref.add(pyqref.ones(2), [1, 2])
    assert [2, 3] == pyqref.add(pyqref.ones(2), pyqref.tensor([1, 2])).tolist()
    with says("call dequantize() or float() first"):
        pyqref.fake_quantize_per_tensor_affine(pyqref.arange(3), 0.5, 0, 0, 255)
    for x in (quint8(3).dequantize(), pyqref.arange(3).float()):
        pyqref.fake_quantize_per_tensor_affine(x, 0.5, 0, 0, 255)


def test_shapes() -> None:
    """Strides, steps, views and empty tensors that an operation refuses have another one."""
    x = floats(2, 3)
    with says("Use .reshape(...) instead."):
        x.t().view(6)
    x.t().reshape(6)
    with says("use flip() for reversed order"):
        x[::-1]
    assert x.flip(0)[0].equal(x[1])
    with says("clone() the tensor first"):
        floats(1).expand(3).add_(1)
    floats(1).expand(3).clone().add_(1)
    with says("use stack"):
        pyqref.cat([pyqref.tensor(1.0), pyqref.tensor(2.0)])
    pyqref.stack([pyqref.tensor(1.0), pyqref.tensor(2.0)])
    with says("use to(dtype) to convert"):
        x.view(pyqref.int32)
    x.to(pyqref.int32)
    empty = pyqref.zeros(0, 3)
    for name, dim in (("argmax", 1), ("max", 1)):
        with says("Specify the reduction dim with the 'dim' argument."):
            getattr(pyqref, name)(empty)
        getattr(pyqref, name)(empty, dim=dim)


def test_a_source_that_shares_a_part_of_its_memory_with_what_is_written() -> None:
    """A clone is read as it was before."""
    x = pyqref.arange(4)
    with says("clone() the input first"):
        x[1:].copy_(x[:-1])
    x[1:].copy_(x[:-1].clone())
    assert [0, 0, 1, 2] == x.tolist()
