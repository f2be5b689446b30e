"""The ledger: its entries add up exactly, and the layer that is broken stands first."""

from __future__ import annotations

import copy
from collections import OrderedDict
from fractions import Fraction

import numpy as np
import pytest
from explaining.models import FORMS, SABOTAGE, eager, graph, images, made

import pyqref
from pyqref import measure, nn, quantization
from pyqref.explaining.accounting import telescope
from pyqref.explaining.composed import set_weights

MODEL = made()


@pytest.fixture(scope="module", params=FORMS)
def pair(request):
    """A float model and a quantized form of it."""
    kind, form = FORMS[request.param]
    model = made(kind)
    return model, form(model)


def total_of(found) -> Fraction:
    return sum((each.change for each in found.entries), Fraction(0))


def test_eq_ledger__telescope() -> None:
    """``eq-ledger``: differences of fractions add up to the whole way, whatever the values."""
    values = [Fraction(float(x)) for x in np.random.default_rng(0).standard_normal(50) * 1e3]
    assert values[-1] - values[0] == sum(telescope(values))


@pytest.mark.parametrize("metric", ["sqnr", "accuracy", "loss", nn.L1Loss()])
def test_eq_ledger__entries_add_up_exactly(pair, metric) -> None:
    """``eq-ledger``: no rounding is left over, and both ends are the models themselves."""
    model, quantized = pair
    data = [(images(8), model(images(8)).argmax(1)), (images(5), model(images(5)).argmax(1))]
    if not isinstance(metric, str):
        data = [inputs for inputs, _ in data]
    found = pyqref.ledger(model, quantized, data, metric, advice=False)
    assert found.total == total_of(found)
    assert found.total == sum(found.by_layer().values())
    assert found.total == sum(found.by_cause().values())
    if metric == "accuracy":
        assert found.before == 1
        hits = [int((quantized(x).argmax(1) == y).sum()) for x, y in data]
        assert Fraction(sum(hits), 13) == found.after
    if metric == "sqnr":
        exact = np.concatenate([model(x).detach().numpy().ravel() for x, _ in data])
        got = np.concatenate([quantized(x).detach().numpy().ravel() for x, _ in data])
        expected = 10 ** (-measure.sqnr(exact, got) / 10)
        assert expected == pytest.approx(float(found.after), rel=1e-9)


def test_eq_ledger__channels_add_up_exactly() -> None:
    """The channels of an entry are taken one after the other: ``eq-ledger`` once more."""
    found = pyqref.ledger(MODEL, graph(MODEL), images(), advice=False)
    worst = found.worst()[0]
    channels = found.channels(worst.layer, worst.cause)
    assert worst.change == sum(channels.values())
    with pytest.raises(ValueError, match=r"layer must be in .*'conv1'.*got 'nothing'"):
        found.channels("nothing", "rest")
    with pytest.raises(ValueError, match=r"cause must be one of .*'rest'.*got 'noise'"):
        found.channels("conv1", "noise")


def test_nothing_is_left_unexplained(pair) -> None:
    """Folding, and rounding otherwise than a grid says, is little; but means of four tie often."""
    found = pyqref.ledger(*pair, images(), advice=False)
    rest = [each for each in found.entries if each.cause == "rest" and "pool" not in each.layer]
    assert abs(sum(each.share for each in rest)) < 0.01


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("form", [eager, graph])
@pytest.mark.parametrize("name", ["conv1", "conv2", "fc"])
@pytest.mark.parametrize(
    ("harm", "cause"),
    [("scale doubled", "weight"), ("bias dropped", "bias"), ("channels swapped", "weight")],
)
def test_a_broken_layer_stands_first(engine, form, name, harm, cause, monkeypatch) -> None:
    """A scale doubled, a bias dropped, channels swapped: the ledger ranks the layer first."""
    monkeypatch.setattr(pyqref.backends.quantized, "engine", engine)
    broken = SABOTAGE[harm](form(MODEL, engine), name)
    found = pyqref.ledger(MODEL, broken, images(), advice=False)
    worst = found.worst()[0]
    assert name == worst.layer.removeprefix("module.")
    assert worst.cause.startswith(cause)


def weak_pair(qconfig) -> tuple:
    """One weight is fifty times as large as the others, for an input that is small."""
    pyqref.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    model[0].weight.data[0, 0] = 15.0
    x = pyqref.randn(64, 8)
    x[:, 0] *= 0.01
    wrapped = quantization.QuantWrapper(copy.deepcopy(model))
    wrapped.qconfig = qconfig
    prepared = quantization.prepare(wrapped.eval())
    prepared(x)
    return model, quantization.convert(prepared), x


def test_the_advice_helps() -> None:
    """Following the line that the ledger ends with gives what it says, nearly."""
    per_tensor = quantization.default_qconfig
    found = pyqref.ledger(*weak_pair(per_tensor))
    assert found.advice.startswith("module.0: ")
    assert "of the change is weight rounding: a scale per channel would give sqnr" in found.advice
    promised = float(found.advice.rpartition("-> ")[2].removesuffix(" dB."))
    model, quantized, x = weak_pair(per_tensor)
    before = measure.sqnr(model(x), quantized(x))
    per_channel = quantization.default_per_channel_weight_observer
    model, quantized, x = weak_pair(
        quantization.QConfig(activation=per_tensor.activation, weight=per_channel)
    )
    got = measure.sqnr(model(x), quantized(x))
    assert got > before + 8
    assert abs(got - promised) < 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda q: setattr(q.module.fc, "scale", q.module.fc.scale / 4), "an output range of"),
        (lambda q: setattr(q.module.fc, "scale", q.module.fc.scale * 8), "an output range of"),
    ],
)
def test_advice_for_a_range(change, words) -> None:
    """A range too narrow clips, one too wide rounds: the range that was seen helps."""
    quantized = eager(MODEL)
    change(quantized)
    found = pyqref.ledger(MODEL, quantized, images())
    assert words in found.advice
    before = float(found.advice.partition(" dB ->")[0].split()[-1])
    promised = float(found.advice.rpartition("-> ")[2].removesuffix(" dB."))
    assert promised > before


def test_the_table_fits_a_terminal() -> None:
    """80 columns, whatever the names are called; the same in a notebook."""
    deep = nn.Sequential(OrderedDict(a_module_with_quite_a_long_name=MODEL)).eval()
    found = pyqref.ledger(deep, graph(deep), images())
    text = str(found)
    assert all(len(line) <= 80 for line in text.splitlines()), text
    assert text == repr(found)
    assert found.advice.split(":")[0] in text
    html = found._repr_html_()
    assert "w round" in html
    assert "<script" not in html


def test_a_bar_shows_how_far_it_is(capsys) -> None:
    """Every run of the model is a step; silence where it is not wanted."""
    quantized = graph(MODEL)
    pyqref.ledger(MODEL, quantized, images(4), advice=False, progress=True)
    shown = capsys.readouterr().err
    assert "ledger [########################]" in shown
    pyqref.ledger(MODEL, quantized, images(4), advice=False)
    assert "" == capsys.readouterr().err


def test_the_model_is_as_before() -> None:
    """What stood in for its layers is gone, after an error too."""
    quantized = graph(MODEL)
    before = [dict(vars(each)) for each in quantized.modules()]
    pyqref.ledger(MODEL, quantized, images(4), advice=False)

    def broken(output, target):
        raise KeyError("metric")

    with pytest.raises(KeyError):
        pyqref.ledger(MODEL, quantized, images(4), broken)
    assert [list(each) for each in before] == [list(vars(each)) for each in quantized.modules()]


def test_bad_input() -> None:
    """Every message says which argument it is about."""
    quantized = graph(MODEL)
    for arguments, error, text in [
        ((1, quantized, images()), TypeError, "float_model must be a Module"),
        ((MODEL, quantized, 3), TypeError, "data must be a tensor or batches"),
        ((MODEL, quantized, []), ValueError, "data must have one batch at least"),
        ((MODEL, quantized, [(1, 2, 3)]), ValueError, "each batch of data must be"),
        ((MODEL, quantized, images(), "f1"), ValueError, "metric must be 'sqnr'"),
        ((MODEL, quantized, images(), lambda a, b: "no"), TypeError, "metric must return one"),
        ((MODEL, quantized, images(), lambda a, b: np.nan), ValueError, "must be a finite number"),
    ]:
        with pytest.raises(error, match=text):
            pyqref.ledger(*arguments)


class Recurrent(nn.Module):
    """A layer of several weights, and a linear one behind it."""

    def __init__(self, layer: nn.Module, size: int) -> None:
        super().__init__()
        self.quant, self.layer = quantization.QuantStub(), layer
        self.fc, self.dequant = nn.Linear(size, 3), quantization.DeQuantStub()

    def forward(self, x):
        x = self.quant(x)
        y = self.layer(x, x, x) if isinstance(self.layer, ATTENTION) else self.layer(x)
        return self.dequant(self.fc(y[0] if isinstance(y, tuple) else y))


ATTENTION = (nn.MultiheadAttention, nn.quantizable.MultiheadAttention)
ATTENTION += (nn.quantized.MultiheadAttention,)
SEVERAL = {
    "LSTM": (lambda: nn.LSTM(8, 8, num_layers=2, bidirectional=True), 16),
    "GRU": (lambda: nn.GRU(8, 8), 8),
    "LSTMCell": (lambda: nn.LSTMCell(8, 8), 8),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(8, 2), 8),
}


def recurrent(name: str, form: str) -> tuple[nn.Module, nn.Module, pyqref.Tensor]:
    """A model, quantized dynamically to a dtype or statically, and an input."""
    pyqref.manual_seed(0)
    make, size = SEVERAL[name]
    model = Recurrent(make(), size).eval()
    x = pyqref.randn(5, 8) if name.endswith("Cell") else pyqref.randn(6, 3, 8)
    if form != "static":
        kinds = {type(model.layer), nn.Linear}
        return model, quantization.quantize_dynamic(model, kinds, getattr(pyqref, form)), x
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(model)
    prepared(x)
    return model, quantization.convert(prepared), x


CASES = [(name, form) for name in ("LSTM", "GRU", "LSTMCell") for form in ("qint8", "float16")]
CASES += [("LSTM", "static"), ("MultiheadAttention", "static")]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_layers_of_several_weights(name, form) -> None:
    """Their weights are causes of their own; what goes on inside is rounding of activations."""
    model, quantized, x = recurrent(name, form)
    found = pyqref.ledger(model, quantized, x)
    assert found.total == total_of(found)
    causes = {each.cause: each.share for each in found.entries if each.layer == "layer"}
    assert ["weight clipping", "weight rounding", "bias", "activation rounding"] == list(causes)
    assert abs(causes["weight rounding"]) > 0.003
    assert causes["bias"] == 0
    assert (abs(causes["activation rounding"]) < 1e-3) == (form == "float16")
    # The weights alone: the float model with what the integers stand for.
    assert not any(each.change for each in found.entries if each.cause == "rest")
    promised = float(found.advice.rpartition("-> ")[2].removesuffix(" dB."))
    assert promised > measure.sqnr(model(x), quantized(x)) + 1


def sabotaged(model: nn.Module, harm: str) -> nn.Module:
    """One weight, or bias, of a dynamic layer of several is wrong."""
    broken = copy.deepcopy(model)
    given = broken.layer._weight_bias()
    end = next(name for name in given["weight"] if "ih" in name)
    weight = given["weight"][end]
    if harm == "scale doubled":
        given["weight"][end] = pyqref._make_per_tensor_quantized_tensor(
            weight.int_repr(), 2 * weight.q_scale(), weight.q_zero_point()
        )
    elif harm == "channels swapped":
        integers = weight.int_repr()
        moved = pyqref.cat([integers[1:2], integers[:1], integers[2:]])
        given["weight"][end] = pyqref._make_per_tensor_quantized_tensor(
            moved, weight.q_scale(), weight.q_zero_point()
        )
    else:
        bias = end.replace("weight", "bias")
        given["bias"][bias] = pyqref.zeros_like(given["bias"][bias])
    set_weights(broken.layer, given["weight"], given["bias"])
    return broken


@pytest.mark.parametrize("name", ["LSTM", "GRU", "LSTMCell"])
@pytest.mark.parametrize(
    ("harm", "cause", "named"),
    [
        ("scale doubled", "weight rounding", "another scale or zero point"),
        ("bias dropped", "bias", "another bias"),
        ("channels swapped", "weight rounding", "another weight"),
    ],
)
def test_a_broken_dynamic_layer_is_found(name, harm, cause, named) -> None:
    """The ledger ranks it first, and explain_diff names what is wrong."""
    model, quantized, x = recurrent(name, "qint8")
    broken = sabotaged(quantized, harm)
    worst = pyqref.ledger(model, broken, x, advice=False).worst()[0]
    assert ("layer", cause) == (worst.layer, worst.cause)
    found = pyqref.explain_diff(quantized, broken, x)
    assert ("layer", named) == (found.first.layer, found.first.cause)
    assert found.first.count == sum(found.first.causes.values())
