"""Quantized norms as modules: results, states, texts, conversions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn, quantization
from pyqref.ops import quantized as ops

nnq, nniq = nn.quantized, nn.intrinsic.quantized


def floats(seed: int, *shape: int) -> Any:
    values = np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32)
    return pyqref.from_numpy(values)


def quantized(*shape: int) -> Any:
    return pyqref.quantize_per_tensor(floats(0, *shape), 0.02, 99, pyqref.quint8)


W, B = floats(1, 4), floats(2, 4)
MODULES: dict[str, tuple[Callable[[], Any], tuple[int, ...], Callable[[Any], Any]]] = {
    "LayerNorm": (
        lambda: nnq.LayerNorm(4, W, B, 0.05, 40),
        (3, 2, 4),
        lambda x: ops.layer_norm(x, [4], W, B, 1e-5, float(np.float32(0.05)), 40),
    ),
    "GroupNorm": (
        lambda: nnq.GroupNorm(2, 4, W, B, 0.05, 40),
        (3, 4, 5),
        lambda x: ops.group_norm(x, 2, W, B, 1e-5, float(np.float32(0.05)), 40),
    ),
    "InstanceNorm1d": (
        lambda: nnq.InstanceNorm1d(4, W, B, 0.05, 40),
        (3, 4, 5),
        lambda x: ops.instance_norm(x, W, B, 1e-5, float(np.float32(0.05)), 40),
    ),
    "InstanceNorm2d": (
        lambda: nnq.InstanceNorm2d(4, None, None, 0.05, 40),
        (3, 4, 5, 2),
        lambda x: ops.instance_norm(x, None, None, 1e-5, float(np.float32(0.05)), 40),
    ),
    "InstanceNorm3d": (
        lambda: nnq.InstanceNorm3d(4, W, None, 0.05, 40),
        (3, 4, 5, 2, 2),
        lambda x: ops.instance_norm(x, W, None, 1e-5, float(np.float32(0.05)), 40),
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_forward(name: str) -> None:
    """The operation, with the parameters of the module."""
    make, shape, operation = MODULES[name]
    x = quantized(*shape)
    expected, actual = operation(x), make()(x)
    assert expected.int_repr().tolist() == actual.int_repr().tolist()
    assert expected.q_scale() == actual.q_scale()
    assert f"Quantized{name}" == make()._get_name()


@pytest.mark.parametrize("name", MODULES)
def test_copies(name: str) -> None:
    """Deepcopy, and a state dict in another module of the kind."""
    make, shape, operation = MODULES[name]
    x, module = quantized(*shape), make()
    expected = operation(x).int_repr().tolist()
    assert expected == copy.deepcopy(module)(x).int_repr().tolist()
    state = module.state_dict()
    assert ["scale", "zero_point"] == list(state)[-2:]
    other = make()
    other.scale.fill_(9.0)
    other.load_state_dict(state)
    assert expected == other(x).int_repr().tolist()


@pytest.mark.parametrize("name", MODULES)
def test_float_input_names_the_path(name: str) -> None:
    make, shape, _ = MODULES[name]
    with pytest.raises(RuntimeError, match=r"^1 \(Quantized.*takes a quantized tensor"):
        nn.Sequential(nn.Identity(), make())(pyqref.ones(*shape))


def observed(layer: Any) -> Any:
    """A layer whose observer has seen the range [0, 25.5]."""
    layer.qconfig = quantization.QConfig(
        activation=quantization.MinMaxObserver, weight=quantization.default_weight_observer
    )
    layer.activation_post_process = layer.qconfig.activation()
    layer.activation_post_process(pyqref.tensor([0.0, 25.5]))
    return layer.eval()


@pytest.mark.parametrize(
    ("layer", "cls", "text"),
    [
        (
            lambda: nn.LayerNorm([4]),
            nnq.LayerNorm,
            "QuantizedLayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)",
        ),
        (
            lambda: nn.GroupNorm(2, 4, eps=1e-3),
            nnq.GroupNorm,
            "QuantizedGroupNorm(2, 4, eps=0.001, affine=True, bias=True)",
        ),
        (
            lambda: nn.InstanceNorm2d(4, momentum=0.3, affine=True),
            nnq.InstanceNorm2d,
            (
                "QuantizedInstanceNorm2d(4, eps=1e-05, momentum=0.3, affine=True, bias=True, "
                "track_running_stats=False)"
            ),
        ),
        (
            lambda: nn.BatchNorm2d(4),
            nnq.BatchNorm2d,
            (
                "QuantizedBatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, bias=True, "
                "track_running_stats=True)"
            ),
        ),
    ],
)
def test_from_float(layer: Callable[[], Any], cls: Any, text: str) -> None:
    """Parameters are shared, output parameters come from the observer."""
    source = observed(layer())
    made = cls.from_float(source)
    assert text == repr(made)
    assert source.weight is made.weight
    assert (float(np.float32(0.1)), 0) == (float(made.scale), int(made.zero_point))
    with pytest.raises(ValueError, match="prepare and calibrate"):
        cls.from_float(layer())


@pytest.mark.parametrize(
    ("cls", "float_cls", "shape"),
    [
        (nnq.BatchNorm2d, nn.BatchNorm2d, (2, 4, 3, 3)),
        (nnq.BatchNorm3d, nn.BatchNorm3d, (2, 4, 2, 3, 3)),
    ],
)
def test_batch_norm(cls: Any, float_cls: Any, shape: tuple[int, ...]) -> None:
    """Running statistics are used, and kept; torch's keys."""
    norm = float_cls(4)
    norm(floats(3, *shape))
    made = cls.from_reference(norm.eval(), 0.05, 99)
    x = quantized(*shape)
    # Half a step, and float32 roundings.
    gap = (made(x).dequantize() - norm(x.dequantize())).abs().max().item()
    assert gap <= 0.05 / 2 + 2.0**-18
    keys = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert [*keys, "scale", "zero_point"] == list(made.state_dict())
    assert norm.running_mean.tolist() == made.running_mean.tolist()
    with pytest.raises(ValueError, match=f"expected {len(shape)}D input"):
        made(x[0])


@pytest.mark.parametrize(
    ("cls", "group", "float_cls", "shape"),
    [
        (nniq.BNReLU2d, nn.intrinsic.BNReLU2d, nn.BatchNorm2d, (2, 4, 3, 3)),
        (nniq.BNReLU3d, nn.intrinsic.BNReLU3d, nn.BatchNorm3d, (2, 4, 2, 3, 3)),
    ],
)
def test_batch_norm_relu(cls: Any, group: Any, float_cls: Any, shape: tuple[int, ...]) -> None:
    """No result is below the zero point, nor in a layer that is made from an observed group."""
    norm = float_cls(4)
    norm(floats(3, *shape))
    made = cls.from_float(observed(group(norm.eval(), nn.ReLU())))
    y = made(quantized(*shape))
    plain = cls.__mro__[1].from_reference(norm, made.scale, made.zero_point)(quantized(*shape))
    assert plain.relu().int_repr().tolist() == y.int_repr().tolist()
    again = cls.from_reference(group(norm, nn.ReLU()), 0.1, 0)
    assert y.int_repr().tolist() == again(quantized(*shape)).int_repr().tolist()
    assert f"Quantized{cls.__name__}(4" in repr(made)


def test_running_statistics_of_instance_norm_warn() -> None:
    """They are not used; as in torch, which does not say so."""
    layer = observed(nn.InstanceNorm2d(4, track_running_stats=True))
    with pytest.warns(UserWarning, match="takes its statistics from its input"):
        nnq.InstanceNorm2d.from_float(layer)


def test_eager_conversion_of_a_group() -> None:
    """Batch norm and ReLU are fused, observed once and swapped as one."""
    model = nn.Sequential(nn.BatchNorm2d(4), nn.ReLU(), nn.GroupNorm(2, 4))
    model = quantization.QuantWrapper(model).eval()
    model = quantization.fuse_modules(model, [["module.0", "module.1"]])
    model.qconfig = quantization.default_qconfig
    prepared = quantization.prepare(model)
    data = floats(0, 4, 4, 5, 5)
    prepared(data)
    converted = quantization.convert(prepared)
    assert isinstance(converted.module[0], nniq.BNReLU2d)
    assert isinstance(converted.module[1], nn.Identity)
    assert isinstance(converted.module[2], nnq.GroupNorm)
    # Grids of 127 steps over ranges of 4, 2 and about 6; the norm divides by about 0.6.
    assert (converted(data) - model(data)).abs().max().item() <= (4 + 2) / 127 / 0.5 + 6 / 127
