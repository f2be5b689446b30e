"""Converted models keep the range of integers of their observers, or say that they do not."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization.quantize_fx import (
    convert_fx,
    convert_to_reference_fx,
    prepare_fx,
    prepare_qat_fx,
)

RANGES = [(-2, 1), (-4, 3), (-8, 7), (-16, 15), (-64, 63), (-127, 127), (-128, 127)]
SCHEMES = [
    pyqref.per_tensor_symmetric,
    pyqref.per_tensor_affine,
    pyqref.per_channel_symmetric,
    pyqref.per_channel_affine,
]
LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "linear": (lambda: [nn.Linear(6, 5)], (3, 6)),
    "linear relu": (lambda: [nn.Linear(6, 5), nn.ReLU()], (3, 6)),
    "conv1d": (lambda: [nn.Conv1d(4, 3, 3)], (2, 4, 5)),
    "conv2d": (lambda: [nn.Conv2d(4, 3, 3)], (2, 4, 5, 5)),
    "conv bn": (lambda: [nn.Conv2d(4, 3, 3), nn.BatchNorm2d(3), nn.ReLU()], (2, 4, 5, 5)),
    "conv3d": (lambda: [nn.Conv3d(4, 3, 2)], (1, 4, 3, 3, 3)),
    "transposed": (lambda: [nn.ConvTranspose2d(4, 3, 3)], (2, 4, 5, 5)),
}
ACTIVATION = q.MinMaxObserver.with_args(dtype=pyqref.quint8)
DYNAMIC = (nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell)


def observer(scheme: Any, ends: tuple[int, int], trained: bool = False) -> Any:
    kind = q.PerChannelMinMaxObserver if scheme.is_per_channel else q.MinMaxObserver
    options = {"dtype": pyqref.qint8, "qscheme": scheme, "quant_min": ends[0], "quant_max": ends[1]}
    if trained:
        return q.FakeQuantize.with_args(observer=kind, **options)
    return kind.with_args(**options)


def on_half_steps(model: Any) -> Any:
    """Largest weights that a symmetric scheme puts on a half step."""
    rng = np.random.default_rng(1)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            rows = parameter._array.reshape(len(parameter), -1)
            rows[...] = rng.uniform(-0.3, 0.3, rows.shape)
            rows[:, 0] = 3.5 * np.arange(1, len(rows) + 1)
            rows[:, 1] = -1.5
    return model


def quantized_weights(model: Any) -> Iterator[Any]:
    for each in model.modules():
        if hasattr(each, "get_quantized_weight"):
            yield each.get_quantized_weight()
        elif callable(getattr(each, "weight", None)):
            yield each.weight()
        elif hasattr(each, "get_weight"):
            yield from each.get_weight().values()


def check(model: Any, ends: tuple[int, int], trained: Any = None) -> None:
    found = list(quantized_weights(model))
    assert found
    for weight in found:
        integers = weight.int_repr()._array
        assert ends[0] <= integers.min()
        assert integers.max() <= ends[1]
        if trained is not None:
            assert np.array_equal(trained._array, weight.dequantize()._array)


def fake_quantized(model: Any) -> Any:
    """The weight as training saw it, after its observer looked at the folded one."""
    layer = next(each for each in model.modules() if hasattr(each, "weight_fake_quant"))
    weight = layer.weight.detach()
    if hasattr(layer, "bn"):
        bn = layer.bn
        weight, _ = nn.utils.fusion.fuse_conv_bn_weights(
            weight, None, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
        )
    return copy.deepcopy(layer.weight_fake_quant)(weight.detach()).detach()


@pytest.mark.parametrize("layer", LAYERS)
def test_weights_stay_in_the_range_of_their_observer(layer: str) -> None:
    """Weights stay in range in eager and graph mode, after calibration and after training."""
    make, shape = LAYERS[layer]
    x = pyqref.from_numpy(np.random.default_rng(0).standard_normal(shape, np.float32))
    for ends, scheme in itertools.product(RANGES, SCHEMES):
        if scheme.is_per_channel and layer == "transposed":
            continue
        if not scheme.is_symmetric and ends != (-8, 7):  # no half steps: one range will do
            continue
        qconfig = q.QConfig(activation=ACTIVATION, weight=observer(scheme, ends))
        model = on_half_steps(nn.Sequential(*make())).eval()
        fused = q.fuse_modules(model, [[*model._modules]]) if len(model) > 1 else model
        expected = observer(scheme, ends, True)()(next(fused.parameters()).detach())
        wrapped = q.QuantWrapper(copy.deepcopy(fused))
        wrapped.qconfig = qconfig
        prepared = q.prepare(wrapped)
        prepared(x)
        check(q.convert(prepared), ends, expected)
        graph = prepare_fx(model, q.QConfigMapping().set_global(qconfig), (x,))
        graph(x)
        check(convert_to_reference_fx(copy.deepcopy(graph)), ends, expected)
        check(convert_fx(graph), ends, expected)
        if layer in ("transposed", "conv1d"):  # not in the table for training of eager mode
            continue
        qconfig = q.QConfig(activation=q.default_fake_quant, weight=observer(scheme, ends, True))
        model = on_half_steps(nn.Sequential(*make())).train()
        fused = q.fuse_modules_qat(model, [[*model._modules]]) if len(model) > 1 else model
        wrapped = q.QuantWrapper(copy.deepcopy(fused)).train()
        wrapped.qconfig = qconfig
        prepared = q.prepare_qat(wrapped)
        prepared(x)
        check(q.convert(prepared.eval()), ends, fake_quantized(prepared))
        graph = prepare_qat_fx(model, q.QConfigMapping().set_global(qconfig), (x,))
        graph(x)
        expected = fake_quantized(graph.eval())
        check(convert_fx(graph), ends, expected)


@pytest.mark.parametrize("ends", RANGES)
def test_weights_of_dynamic_layers_functions_and_parts(ends: tuple[int, int]) -> None:
    """Dynamic layers; the parts of a static LSTM; functions with weights in a graph."""
    for scheme in SCHEMES:
        qconfig = q.QConfig(q.default_dynamic_quant_observer, observer(scheme, ends))
        layers = [nn.Linear(6, 5), *(kind(4, 3) for kind in DYNAMIC[1:])]
        model = on_half_steps(nn.Sequential(*layers))
        check(q.quantize_dynamic(model, dict.fromkeys(DYNAMIC, qconfig)), ends)
        static = q.QConfig(ACTIVATION, observer(scheme, ends))
        lstm = on_half_steps(q.QuantWrapper(nn.LSTM(4, 3))).eval()
        lstm.qconfig = static
        prepared = q.prepare(lstm)
        prepared(pyqref.randn(2, 1, 4))
        check(q.convert(prepared), ends)

        class Function(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.w = nn.Parameter(pyqref.randn(5, 6))

            def forward(self, x: Any) -> Any:
                return nn.functional.linear(x, self.w)

        model, x = on_half_steps(Function()).eval(), pyqref.randn(3, 6)
        graph = prepare_fx(model, q.QConfigMapping().set_global(static), (x,))
        graph(x)
        converted = convert_fx(graph)
        packed = next(each for each in vars(converted).values() if hasattr(each, "unpack"))
        expected = observer(scheme, ends, True)()(model.w.detach())
        assert np.array_equal(expected._array, packed.unpack()[0].dequantize()._array)


def test_reduced_ranges_and_the_conventions_of_torch() -> None:
    """``reduce_range`` is a range like others. torch clamps in eager mode, not in graph mode."""
    reduced = q.MinMaxObserver.with_args(
        dtype=pyqref.qint8, qscheme=pyqref.per_tensor_symmetric, reduce_range=True
    )
    model = on_half_steps(nn.Sequential(nn.Linear(6, 5))).eval()
    x = pyqref.randn(3, 6)
    mapping = q.QConfigMapping().set_global(q.QConfig(ACTIVATION, reduced))

    def largest(convert: Any) -> int:
        graph = prepare_fx(model, mapping, (x,))
        graph(x)
        return max(int(each.int_repr().max()) for each in quantized_weights(convert(graph)))

    assert [63, 63] == [largest(convert_fx), largest(convert_to_reference_fx)]
    pyqref.backends.quantized.conventions = "torch"
    assert [64, 64] == [largest(convert_fx), largest(convert_to_reference_fx)]
    eager = q.quantize_dynamic(model, {nn.Linear: q.QConfig(ACTIVATION, reduced)})
    assert int(eager[0].weight().int_repr().max()) == 63


def test_states_of_reference_layers_have_the_keys_of_torch() -> None:
    """The range is no part of a state; a layer that loads one keeps its own."""
    model = on_half_steps(nn.Sequential(nn.Linear(6, 5))).eval()
    qconfig = q.QConfig(ACTIVATION, observer(pyqref.per_channel_symmetric, (-8, 7)))
    graph = prepare_fx(model, q.QConfigMapping().set_global(qconfig), (pyqref.randn(3, 6),))
    graph(pyqref.randn(3, 6))
    reference = convert_to_reference_fx(graph)
    names = {key.removeprefix("0.") for key in reference.state_dict() if key.startswith("0.")}
    grid = {f"weight_{each}" for each in ("qscheme", "dtype", "scale", "zero_point", "axis")}
    assert {"weight", "bias", *grid} == {each for each in names if "input" not in each}
    reference.load_state_dict(reference.state_dict())
    check(reference, (-8, 7))


def narrow(trained: bool = True, top: int = 15) -> Any:
    options = {"quant_min": 0, "quant_max": top, "dtype": pyqref.quint8}
    if trained:
        return q.FakeQuantize.with_args(observer=q.MovingAverageMinMaxObserver, **options)
    return q.MinMaxObserver.with_args(**options)


class Sums(nn.Module):
    """Layers that keep a range, a function on it, and a sum that does not keep it."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.dequant = q.QuantStub(), q.DeQuantStub()
        self.first, self.pool, self.last = nn.Linear(4, 8), nn.MaxPool1d(2), nn.Linear(4, 3)
        self.sum = nn.quantized.FloatFunctional()

    def forward(self, x: Any) -> Any:
        y = self.last(self.pool(self.first(self.quant(x)).relu()))
        return self.dequant(self.sum.add(y, y))


def trained(qconfig: Any, graph_mode: bool, net: Any = None) -> tuple[Any, Any]:
    """A model after one step of observing, and data beyond what it saw."""
    x = pyqref.from_numpy(np.random.default_rng(0).standard_normal((64, 4), np.float32))
    net = (Sums() if net is None else net).train()
    if graph_mode:
        prepared = prepare_qat_fx(net, q.QConfigMapping().set_global(qconfig), (x,))
    else:
        net.qconfig = qconfig
        prepared = q.prepare_qat(net)
    prepared(x)
    return prepared.eval().apply(q.disable_observer), 3 * x


QAT = q.QConfig(activation=narrow(), weight=q.default_weight_fake_quant)


@pytest.mark.parametrize("graph_mode", [False, True])
def test_layers_with_weights_and_stubs_keep_the_range_of_activations(graph_mode: bool) -> None:
    """Beyond the observed values too a converted model gives what the trained one gives."""
    prepared, x = trained(QAT, graph_mode, q.QuantWrapper(nn.Linear(4, 8)))
    expected = prepared(x)
    converted = convert_fx(prepared) if graph_mode else q.convert(prepared)
    step = expected.abs().max().item() / 15
    found = converted(x)
    assert len(set(found.flatten().tolist())) <= 16
    # Quotients next to a tie may be rounded to the other side: integers and floats divide unlike.
    differ = (found - expected).abs() > 1e-4 * step
    assert differ.float().mean().item() < 0.01


@pytest.mark.parametrize("graph_mode", [False, True])
def test_operations_that_lose_the_range_are_told(graph_mode: bool) -> None:
    """Operations are named by path with the remedy; strict is an error that changes no model."""
    prepared, x = trained(QAT, graph_mode)
    if graph_mode:
        reference = convert_to_reference_fx(copy.deepcopy(prepared))  # it keeps all
        assert np.array_equal(prepared(x)._array, reference(x)._array)
    with pytest.warns(q.NarrowRangeWarning, match=r"0 to 15 of quint8.*leave quant_min") as told:
        convert_fx(copy.deepcopy(prepared)) if graph_mode else q.convert(prepared)
    message = str(told[0].message)
    assert ("add" if graph_mode else "sum (FloatFunctional)") in message
    assert not {"first", "last"} & set(message.replace("(", " ").split())
    if not graph_mode:
        before = [type(each) for each in prepared.modules()]
        with pytest.raises(q.QuantizationError, match=r"sum \(FloatFunctional\)"):
            q.convert(prepared, inplace=True, strict=True)
        assert before == [type(each) for each in prepared.modules()]


def test_dynamic_layers_and_lstm_tell_of_lost_ranges() -> None:
    """A dynamic layer chooses its own 7 or 8 bits; the sums in an LSTM do not clamp."""
    qconfig = q.QConfig(narrow(trained=False), q.default_weight_observer)
    with pytest.warns(q.NarrowRangeWarning, match=r"0 \(Linear\): 0 to 15"):
        q.quantize_dynamic(nn.Sequential(nn.Linear(4, 4)), {nn.Linear: qconfig})
    lstm = q.QuantWrapper(nn.LSTM(4, 2)).eval()
    lstm.qconfig = qconfig
    prepared = q.prepare(lstm)
    prepared(pyqref.randn(3, 2, 4))
    with pytest.warns(q.NarrowRangeWarning, match=r"convert: module \(LSTM\): .*cell\.gates"):
        q.convert(prepared)


@pytest.mark.parametrize("backend", ["fbgemm", "x86", "qnnpack", "onednn"])
def test_usual_qconfigs_are_no_narrow_ranges(backend: str) -> None:
    """Neither the 7 bits of ``reduce_range`` nor full ranges are worth a word."""
    static = [
        q.get_default_qconfig(backend),
        q.default_qconfig,
        q.default_symmetric_qnnpack_qconfig,
    ]
    training = [
        q.get_default_qat_qconfig(backend, 0),
        q.get_default_qat_qconfig(backend, 1),
        q.default_symmetric_qnnpack_qat_qconfig,
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", q.QConfigMismatchWarning)  # qint8 stays float in graphs
        for qconfig, graph_mode in itertools.product(training, (False, True)):
            if not graph_mode and qconfig.activation().dtype is not pyqref.quint8:
                continue  # sums of qint8 exist in graph mode alone
            prepared, _ = trained(qconfig, graph_mode)
            convert_fx(prepared) if graph_mode else q.convert(prepared)
        for qconfig in static:
            graph = prepare_fx(
                Sums().eval(), q.QConfigMapping().set_global(qconfig), (x := pyqref.randn(3, 4),)
            )
            graph(x)
            convert_fx(graph)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_the_clamp_of_layers_is_that_of_their_integers(engine: str) -> None:
    """Every path of the kernels: the range gives the integers of the whole range, clamped."""
    pyqref.backends.quantized.engine = engine
    rng = np.random.default_rng(0)
    quantized = nn.quantized
    for kind, arguments, shape in (
        (quantized.Linear, (9, 7), (5, 9)),
        (quantized.Linear, (64, 40), (37, 64)),
        (nn.intrinsic.quantized.LinearReLU, (9, 17), (5, 9)),
        (quantized.Conv1d, (4, 8, 3), (2, 4, 9)),
        (quantized.Conv2d, (4, 8, 3), (2, 4, 9, 9)),
        (quantized.Conv2d, (8, 8, 3, 1, 1, 1, 8), (2, 8, 9, 9)),
        (quantized.Conv2d, (16, 16, 3, 1, 1), (1, 16, 12, 12)),
        (quantized.Conv2d, (16, 32, 1), (2, 16, 9, 9)),
        (quantized.Conv2d, (16, 16, 3, 1, 1, 1, 2), (1, 16, 12, 12)),
        (nn.intrinsic.quantized.ConvReLU2d, (4, 8, 3), (2, 4, 9, 9)),
        (quantized.Conv3d, (4, 8, 3), (2, 4, 5, 5, 5)),
        (quantized.ConvTranspose2d, (4, 8, 3, 2), (2, 4, 5, 5)),
    ):
        layer = kind(*arguments)
        w = rng.standard_normal(tuple(layer.weight().shape)).astype(np.float32)
        weight = pyqref.quantize_per_tensor(pyqref.from_numpy(w), 0.02, 0, pyqref.qint8)
        layer.set_weight_bias(weight, pyqref.randn(layer.bias().shape[0]))
        layer.scale, layer.zero_point = 0.4, 6
        x = pyqref.from_numpy(rng.standard_normal(shape).astype(np.float32) * 3)
        x = pyqref.quantize_per_tensor(x, 0.05, 128, pyqref.quint8)
        whole = layer(x).int_repr()._array.copy()
        layer.keep_range(3, 15)
        layer.load_state_dict(layer.state_dict())  # which has no range: that of the layer stays
        assert np.array_equal(np.clip(whole, 3, 15), layer(x).int_repr()._array)


def test_quantize_refuses_ranges_that_make_no_sense() -> None:
    """Both ends are given or neither, within the dtype, with the zero point between them."""
    for ends, message in (
        ({"quant_min": 0}, "both or neither"),
        ({"quant_min": 0, "quant_max": 300}, r"must be in \[0, 255\]"),
        ({"quant_min": 9, "quant_max": 15}, "zero_point 8 between them"),
    ):
        with pytest.raises(ValueError, match=message):
            nn.quantized.Quantize(1.0, 8, pyqref.quint8, **ends)
