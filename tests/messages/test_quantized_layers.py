"""Following the messages of quantized layers, and of layers on the way to them, works."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from bad_input.engine import floats, quint8
from messages.following import says

import pyqref
from pyqref import nn
from pyqref import quantization as q


class WithStubs(nn.Module):
    """A float model with the stubs that a message asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.quant = q.QuantStub()
        self.fc = nn.Linear(3, 2)
        self.dequant = q.DeQuantStub()
        self.head = nn.Linear(2, 2)
        self.head.qconfig = None

    def forward(self, x: Any) -> Any:
        return self.head(self.dequant(self.fc(self.quant(x))))


def converted(model: Any, *inputs: Any) -> Any:
    """Prepared, calibrated on the inputs, and converted."""
    prepared = q.prepare(model.eval())
    prepared(*inputs)
    return q.convert(prepared)


def linear(**members: Any) -> Any:
    layer = nn.Linear(3, 2).eval()
    for name, value in members.items():
        setattr(layer, name, value)
    return layer


def test_a_layer_without_stubs() -> None:
    """QuantStub and DeQuantStub, or QuantWrapper, bring tensors into and out of integers."""
    x = floats(4, 3)
    bare = nn.Sequential(linear())
    bare.qconfig = q.default_qconfig
    with says(
        "a QuantStub is missing before it; add self.quant = QuantStub() to the float model and "
        "call it on the input, or wrap the model in QuantWrapper"
    ):
        converted(bare, x)(x)
    for model in (WithStubs(), q.QuantWrapper(nn.Sequential(linear()))):
        model.qconfig = q.default_qconfig
        assert pyqref.float32 is converted(model, x)(x).dtype
    dynamic = nn.quantized.dynamic.Linear(3, 2)
    with says("a DeQuantStub is missing before it"):
        dynamic(quint8(4, 3))
    dynamic(q.DeQuantStub()(quint8(4, 3).dequantize()))
    with says("call .float()"):
        dynamic(x.double())
    dynamic(x.double().float())


def test_from_float_of_a_layer_that_was_not_prepared() -> None:
    """A qconfig, prepare and calibration are what from_float needs."""
    x, layer = floats(4, 3), linear()
    with says("set mod.qconfig and call quantization.prepare first"):
        nn.quantized.Linear.from_float(linear(activation_post_process=q.default_observer()))
    with says("call quantization.prepare and calibrate first"):
        nn.quantized.Linear.from_float(linear(qconfig=q.default_qconfig))
    layer.qconfig = q.default_qconfig
    prepared = q.prepare(nn.Sequential(layer))
    prepared(x)
    nn.quantized.Linear.from_float(prepared[0])

    with says("set mod.qconfig = default_dynamic_qconfig, or call quantization.quantize_dynamic"):
        nn.quantized.dynamic.Linear.from_float(linear())
    nn.quantized.dynamic.Linear.from_float(linear(qconfig=q.default_dynamic_qconfig))
    assert nn.quantized.dynamic.Linear is type(q.quantize_dynamic(nn.Sequential(layer))[0])

    prelu = nn.PReLU().eval()
    prelu.activation_post_process = q.default_observer()
    prelu.activation_post_process(x)
    with says("set mod.qconfig"):
        nn.quantized.PReLU.from_float(prelu)
    prelu.qconfig = q.QConfig(
        activation=q.default_observer,
        weight=q.MinMaxObserver.with_args(dtype=pyqref.quint8, qscheme=pyqref.per_tensor_affine),
    )
    nn.quantized.PReLU.from_float(prelu)
    several = nn.PReLU(3).eval()
    several.activation_post_process = prelu.activation_post_process
    several.qconfig = q.default_per_channel_qconfig
    with says("set the qconfig of this layer to default_quint8_weight_qconfig"):
        nn.quantized.PReLU.from_float(several)
    several.qconfig = q.default_quint8_weight_qconfig
    nn.quantized.PReLU.from_float(several)

    wrong = q.QConfig(activation=q.default_observer, weight=q.MinMaxObserver)
    observer = q.default_observer()
    observer(x)
    with says("use default_weight_observer or default_per_channel_weight_observer in the qconfig"):
        nn.quantized.Linear.from_float(linear(qconfig=wrong, activation_post_process=observer))
    for weight in (q.default_weight_observer, q.default_per_channel_weight_observer):
        qconfig = q.QConfig(activation=q.default_observer, weight=weight)
        nn.quantized.Linear.from_float(linear(qconfig=qconfig, activation_post_process=observer))


def test_tables() -> None:
    """The qconfigs that the messages name make a table; a bag has no padding_idx."""
    cls = nn.quantized.EmbeddingBag
    bag = nn.EmbeddingBag(4, 8, mode="sum")
    with says("set mod.qconfig = float_qparams_weight_only_qconfig"):
        cls.from_float(bag)
    bag.qconfig = q.default_qconfig
    with says("use float_qparams_weight_only_qconfig or float_qparams_weight_only_qconfig_4bit"):
        cls.from_float(bag)
    for bag.qconfig in (
        q.float_qparams_weight_only_qconfig,
        q.float_qparams_weight_only_qconfig_4bit,
    ):
        cls.from_float(bag)

    padded = nn.EmbeddingBag(4, 8, mode="sum", padding_idx=0)
    padded.qconfig = q.float_qparams_weight_only_qconfig
    with says("set it to None, or the qconfig of this layer to None"):
        cls.from_float(padded)
    padded.qconfig = None
    model = q.convert(q.prepare(nn.ModuleList([padded, bag])))
    assert [nn.EmbeddingBag, cls] == [type(each) for each in model]
    padded.padding_idx = None
    padded.qconfig = q.float_qparams_weight_only_qconfig
    cls.from_float(padded)


def test_recurrent_and_attention_layers() -> None:
    """They go by way of nn.quantizable, as prepare and convert do."""
    x = floats(2, 1, 4)
    for name, layer, inputs in (
        ("LSTM", nn.LSTM(4, 2), (x,)),
        ("MultiheadAttention", nn.MultiheadAttention(4, 2).eval(), (x, x, x)),
    ):
        observed_class, quantized_class = getattr(nn.quantizable, name), getattr(nn.quantized, name)
        layer.qconfig = q.default_qconfig
        if name == "LSTM":
            with says(
                "use nn.quantizable.LSTM.from_float, calibrate, then "
                "nn.quantized.LSTM.from_observed; prepare and convert do so"
            ):
                quantized_class.from_float(layer)
            with says("use nn.quantized.LSTM.from_observed to convert it"):
                observed_class.from_observed(layer)
        else:
            with says(
                "use nn.quantizable.MultiheadAttention.from_float, calibrate, then "
                "nn.quantized.MultiheadAttention.from_observed; prepare and convert do so"
            ):
                quantized_class.from_float(layer)
            with says("use nn.quantized.MultiheadAttention.from_observed"):
                observed_class.from_observed(layer)
        observed = observed_class.from_float(layer)
        observed(*inputs)
        quantized_class.from_observed(observed)
        prepared = q.prepare(nn.ModuleList([layer]))
        prepared[0](*inputs)
        assert quantized_class is type(q.convert(prepared)[0])


def test_arguments_of_quantizable_layers() -> None:
    """Both biases are given or none; a mask stands beside is_causal."""
    x = floats(2, 1, 4)
    attention = nn.quantizable.MultiheadAttention(4, 2).eval()
    with says("give the mask as attn_mask"):
        attention(x, x, x, is_causal=True)
    attention(x, x, x, is_causal=True, attn_mask=pyqref.zeros(2, 2))
    weights, bias = (floats(8, 3), floats(8, 2)), floats(8)
    make = nn.quantizable.LSTMCell.from_params
    with says("give both biases, bi and bh, or neither"):
        make(*weights, bias, None)
    make(*weights, bias, bias)
    make(*weights)


def test_layers_before_the_quantization_package_is_there() -> None:
    """pyqref.quantization is what prepares and converts."""
    script = """
from pyqref import nn
layer = nn.LSTM(2, 2)
layer.qconfig = None
try:
    nn.quantizable.LSTM.from_float(layer)
except RuntimeError as error:
    print(error)
    import pyqref.quantization
    nn.quantizable.LSTM.from_float(layer)
    print("it works")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    with says("import pyqref.quantization first") as told:
        told(done.stdout)
    assert told.text.endswith("it works")


def test_training_layers_without_their_qconfig() -> None:
    """The qconfigs that the messages name make layers for training."""
    with says("pass qconfig=get_default_qat_qconfig('fbgemm'), for example, but not None"):
        nn.qat.Linear(3, 2)
    nn.qat.Linear(3, 2, qconfig=q.get_default_qat_qconfig("fbgemm"))
    layer = nn.Linear(3, 2)
    with says("set mod.qconfig = get_default_qat_qconfig('fbgemm'), for example"):
        nn.qat.Linear.from_float(layer)
    layer.qconfig = q.get_default_qat_qconfig("fbgemm")
    nn.qat.Linear.from_float(layer)
    with says("use default_dynamic_qat_qconfig"):
        nn.qat.dynamic.Linear(3, 2, qconfig=layer.qconfig)
    nn.qat.dynamic.Linear(3, 2, qconfig=q.default_dynamic_qat_qconfig)
    with says("use default_embedding_qat_qconfig"):
        nn.qat.Embedding(4, 8, qconfig=layer.qconfig)
    nn.qat.Embedding(4, 8, qconfig=q.default_embedding_qat_qconfig)


def test_functional_modules() -> None:
    """Each operation has a FloatFunctional of its own, whose methods are called."""
    x = floats(2, 3)
    functional = nn.quantized.FloatFunctional()
    with says("call one of its operations instead, such as add"):
        functional(x)
    functional.add(x, x)

    class Twice(nn.Module):
        def __init__(self, *functionals: Any) -> None:
            super().__init__()
            self.each = nn.ModuleList(functionals)

        def forward(self, x: Any) -> Any:
            return self.each[-1].mul(self.each[0].add(x, x), x)

    def run(*functionals: Any) -> None:
        model = Twice(*functionals).eval()
        model.qconfig = q.default_qconfig
        q.prepare(model)(x)

    make = nn.quantized.FloatFunctional
    with says("give each place a {} of its own") as told:
        run(make())
    assert "give each place a FloatFunctional of its own" in told.text
    run(make(), make())


def test_a_layer_in_two_places() -> None:
    """Two layers with one weight have two observers."""

    class Twice(nn.Module):
        def __init__(self, a: Any, b: Any) -> None:
            super().__init__()
            self.a, self.b = a, b

        def forward(self, x: Any) -> Any:
            return self.b(self.a(x))

    def run(a: Any, b: Any) -> Any:
        model = Twice(a, b).eval()
        model.qconfig = q.default_qconfig
        prepared = q.prepare(model)
        prepared(floats(2, 3))
        return prepared

    a, b = nn.Linear(3, 3), nn.Linear(3, 3)
    with says("give each place a {} of its own") as told:
        run(a, a)
    assert "a Linear of its own, which may share the weight: b.weight = a.weight" in told.text
    b.weight = a.weight
    prepared = run(a, b)
    assert prepared.a.weight is prepared.b.weight
    assert prepared.a.activation_post_process is not prepared.b.activation_post_process


def test_running_statistics() -> None:
    """Without them the quantized instance norm says nothing."""
    cls = nn.quantized.InstanceNorm2d
    with says("set track_running_stats=False"):
        cls.from_reference(nn.InstanceNorm2d(2, track_running_stats=True), 0.1, 0)
    cls.from_reference(nn.InstanceNorm2d(2, track_running_stats=False), 0.1, 0)


def test_reference_layers_with_several_weights() -> None:
    """Each weight has its own method."""
    qparams = {
        "qscheme": pyqref.per_tensor_affine,
        "dtype": pyqref.qint8,
        "scale": 0.1,
        "zero_point": 0,
    }
    both = {f"weight_{of}{end}": qparams for of in ("ih", "hh") for end in ("", "_l0")}
    lstm = nn.quantized.reference.LSTM(3, 2, weight_qparams_dict={**both, "is_decomposed": False})
    for refused in (lstm.get_weight, lstm.get_quantized_weight):
        with says("use get_quantized_weight_bias_dict()"):
            refused()
    lstm.get_quantized_weight_bias_dict()
    cell = nn.quantized.reference.LSTMCell(
        3, 2, weight_qparams_dict={**both, "is_decomposed": False}
    )
    with says("use get_weight_ih() and get_weight_hh()"):
        cell.get_weight()
    assert (8, 3) == cell.get_weight_ih().shape
    assert (8, 2) == cell.get_weight_hh().shape
    with says("use get_quantized_weight_ih() and get_quantized_weight_hh()"):
        cell.get_quantized_weight()
    assert cell.get_quantized_weight_ih().is_quantized
    assert cell.get_quantized_weight_hh().is_quantized
