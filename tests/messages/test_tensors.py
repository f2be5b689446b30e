"""What messages about tensors, quantized and plain, advise to do works."""

from __future__ import annotations

import copy
import pickle

import numpy as np
from bad_input.engine import floats, per_channel, quint8
from messages.following import says

import pyqref


def test_an_operation_that_has_no_quantized_form() -> None:
    """It takes the float tensor that dequantize() gives, or there is one in ops.quantized."""
    x = quint8(3, 3)
    with says("call dequantize() on them first, or use an operation of pyqref.ops.quantized"):
        pyqref.matmul(x, x)
    pyqref.matmul(x.dequantize(), x.dequantize())
    pyqref.ops.quantized.matmul(x, x, 1.0, 0)


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
    with says("quantize or dequantize it first"):
        x.bernoulli_()
    x.dequantize().clamp(0, 1).bernoulli_()
    with says("quantize or dequantize one"):
        pyqref.cat([x, plain])
    pyqref.cat([x, pyqref.quantize_per_tensor(plain, 0.25, 4, pyqref.quint8)])
    pyqref.cat([x.dequantize(), plain])
    with says("use clone()"):
        pyqref.tensor(x)
    assert x.clone().equal(x)


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


def test_a_tensor_that_requires_a_gradient() -> None:
    """detach() and no_grad() reach its numbers."""
    leaf = floats(3).requires_grad_()
    result = leaf * 2
    with says("use detach() to get a tensor that does not require grad"):
        result.requires_grad_(False)
    assert not result.detach().requires_grad
    with says("Use tensor.detach().numpy() instead."):
        leaf.numpy()
    leaf.detach().numpy()
    with says("use tensor.detach()"):
        leaf.__dlpack__()
    leaf.detach().__dlpack__()
    for copied in (copy.deepcopy, pickle.dumps):
        with says("call detach() first"):
            copied(result)
        copied(result.detach())
    with says("do it under no_grad(), or on a copy"):
        leaf.add_(1)
    leaf.clone().add_(1)
    with pyqref.no_grad():
        leaf.add_(1)
    with says("Use detach() instead."):
        result[:2].detach_()
    result[:2].detach()


def test_the_backward_pass() -> None:
    """What is asked for twice, changed, left out or differentiated again has another way."""
    x = pyqref.tensor([3.0], requires_grad=True)
    squared = x * x
    squared.backward()
    with says("call backward(retain_graph=True) the first time"):
        squared.backward()
    squared = x * x
    squared.backward(retain_graph=True)
    squared.backward()

    middle = x * 2
    result = middle * middle
    middle.add_(1)
    with says("use the out-of-place form or clone() first"):
        result.backward()
    middle = x * 2
    result = middle * middle
    middle.clone().add_(1)
    result.backward()

    grad, y = pyqref.autograd.grad, pyqref.ones(1, requires_grad=True)
    with says("Set allow_unused=True if this is the desired behavior."):
        grad((x * x).sum(), [y])
    assert (None,) == grad((x * x).sum(), [y], allow_unused=True)
    with says("use finite differences of gradients"):
        grad((x * x).sum(), [x], create_graph=True)
    slopes = [
        grad((at * at).sum(), [at])[0].item() for at in (x, (x + 0.5).detach().requires_grad_())
    ]
    assert [2.0] == [(slopes[1] - slopes[0]) / 0.5]
    with says("loop over the gradients"):
        grad(x * x, [x], grad_outputs=pyqref.ones(2, 1), is_grads_batched=True)
    assert [6.0, 12.0] == [grad(x * x, [x], [pyqref.full((1,), v)])[0].item() for v in (1.0, 2.0)]


def test_save_for_backward_takes_tensors() -> None:
    """Anything else is an attribute of ctx."""

    def scale(attribute: bool) -> type[pyqref.autograd.Function]:
        class Scale(pyqref.autograd.Function):
            @staticmethod
            def forward(ctx, x, factor):  # type: ignore[no-untyped-def]
                if attribute:
                    ctx.factor = factor
                else:
                    ctx.save_for_backward(factor)
                return x * factor

            @staticmethod
            def backward(ctx, gradient):  # type: ignore[no-untyped-def]
                return gradient * ctx.factor, None

        return Scale

    x = pyqref.ones(1, requires_grad=True)
    with says("set it as an attribute of ctx"):
        scale(False).apply(x, 3.0)
    scale(True).apply(x, 3.0).backward()
    assert [3.0] == x.grad.tolist()


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
