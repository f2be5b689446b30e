"""The ledger: its entries add up exactly, and the layer that is broken stands first."""

from __future__ import annotations

from collections import OrderedDict
from fractions import Fraction

import numpy as np
import pytest
from explaining.models import FORMS, SABOTAGE, eager, graph, images, made

import pyqref
from pyqref import measure, nn
from pyqref.explaining.accounting import telescope

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
    """Nothing that stood in for layers of the model is left, not even after an error."""
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
