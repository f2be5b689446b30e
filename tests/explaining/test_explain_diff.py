"""Two models are compared layer by layer, and every differing integer has one reason."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from explaining.models import FORMS, SABOTAGE, eager, graph, images, layer, made

import pyqref
from pyqref import nn, quantization
from pyqref.explaining import decisions
from pyqref.nn.utils.fusion import fuse_conv_bn_weights
from pyqref.quantization import quantize_fx

MODEL = made()
X = images()
NAMED = {
    "scale doubled": "another scale or zero point",
    "bias dropped": "another bias",
    "channels swapped": "channels permuted",
}


def check(found) -> None:
    """The causes add up to all differences, layer by layer."""
    for each in found.layers:
        assert each.count == sum(each.causes.values()), each


@pytest.mark.parametrize("form", [eager, graph])
@pytest.mark.parametrize("name", ["conv1", "conv2", "fc"])
@pytest.mark.parametrize("harm", SABOTAGE)
def test_a_broken_layer_is_named(form, name, harm) -> None:
    """They part at that layer, for that reason; behind it nothing but the input differs."""
    quantized = form(MODEL)
    found = pyqref.explain_diff(quantized, SABOTAGE[harm](quantized, name), X)
    check(found)
    assert found.first is not None
    assert name == found.first.layer.removeprefix("module.")
    assert NAMED[harm] == found.first.cause
    assert {"its input already differed"} == {
        cause for each in found.layers if each.layer != found.first.layer for cause in each.causes
    }


@pytest.mark.parametrize("form", FORMS)
def test_a_model_equals_itself(form) -> None:
    """No layer differs, and that is said."""
    kind, convert = FORMS[form]
    quantized = convert(made(kind))
    found = pyqref.explain_diff(quantized, copy.deepcopy(quantized), X)
    assert found.first is None
    assert f"All {len(found.layers)} layers give the same." == str(found)
    assert {} == found.causes()


def test_all_channels_permuted() -> None:
    """Weight, scales and bias in another order are one reason."""
    first = graph(MODEL)
    second = copy.deepcopy(first)
    weight, bias = second.conv1._weight_bias()
    order = [2, 0, 1, 3, 5, 4]
    integers = pyqref.cat([weight.int_repr()[k : k + 1] for k in order])
    scales, zeros = weight.q_per_channel_scales()[order], weight.q_per_channel_zero_points()[order]
    moved = pyqref._make_per_channel_quantized_tensor(integers, scales, zeros, 0)
    second.conv1.set_weight_bias(moved, bias[order])
    found = pyqref.explain_diff(first, second, X)
    check(found)
    assert {"channels permuted": found["conv1"].count} == found["conv1"].causes


@pytest.mark.parametrize(
    ("edit", "cause"),
    [
        (lambda q: setattr(q.conv2, "zero_point", q.conv2.zero_point + 3), NAMED["scale doubled"]),
        (lambda q: setattr(q.act, "scale", q.act.scale * 1.5), NAMED["scale doubled"]),
        (lambda q: q.conv2.keep_range(40, 90), "clamp range"),
    ],
)
def test_an_edit_is_named(edit, cause) -> None:
    """An edit of one number is named, in either order of the models."""
    before = graph(MODEL)
    after = copy.deepcopy(before)
    edit(after)
    found = pyqref.explain_diff(before, after, X)
    check(found)
    assert cause == found.first.cause


def test_another_weight() -> None:
    """One integer of a weight changes one channel of the output."""
    before = graph(MODEL)
    after = copy.deepcopy(before)
    weight, bias = after.fc._weight_bias()
    integers = weight.int_repr().clone()
    integers[2] = -integers[2]
    scales, zeros = weight.q_per_channel_scales(), weight.q_per_channel_zero_points()
    after.fc.set_weight_bias(
        pyqref._make_per_channel_quantized_tensor(integers, scales, zeros, 0), bias
    )
    found = pyqref.explain_diff(before, after, X)
    check(found)
    assert "another weight" == found.first.cause
    assert {2} == {each.place[1] for each in found["fc"].worst(8)}


def engines(monkeypatch) -> tuple[nn.Module, nn.Module]:
    """Return one model quantized for two engines."""
    both = []
    for name in ("fbgemm", "qnnpack"):
        monkeypatch.setattr(pyqref.backends.quantized, "engine", name)
        both.append(graph(MODEL))
    return both[0], both[1]


def test_two_engines(monkeypatch) -> None:
    """Fbgemm adds the bias as a float, qnnpack rounds it: that is the reason, and proved here."""
    ours, theirs = engines(monkeypatch)
    x = pyqref.randn(256, 2, 6, 6) * 3
    found = pyqref.explain_diff(ours, theirs, x)
    check(found)
    assert found.first.layer == "conv1"
    assert found["conv1"].count == found["conv1"].causes["bias rounded to integer"] > 0
    assert "not explained" not in found.causes()
    assert 1 == found["conv1"].largest
    # An element recomputed in fractions: with the bias rounded it is theirs, else ours.
    index, a, b = found["conv1"].worst(1)[0]
    grid = ours.c1_input_scale_0 if hasattr(ours, "c1_input_scale_0") else ours.conv1_input_scale_0
    zero = int(ours.conv1_input_zero_point_0)
    q = pyqref.quantize_per_tensor(x, grid, zero, pyqref.quint8)
    weight, bias = ours.conv1._weight_bias()
    n, c, i, j = index
    window = np.zeros((2, 3, 3), dtype=int)
    integers = q.int_repr().numpy()[n].astype(int) - zero
    for k in range(3):
        for m in range(3):
            if 0 <= i + k - 1 < 6 and 0 <= j + m - 1 < 6:
                window[:, k, m] = integers[:, i + k - 1, j + m - 1]
    accumulator = int((window * weight.int_repr().numpy()[c].astype(int)).sum())
    unit = Fraction(float(grid)) * Fraction(float(weight.q_per_channel_scales()[c]))
    real, step = Fraction(float(bias[c])), Fraction(ours.conv1.scale)
    assert a == max(round((accumulator * unit + real) / step), 0) + ours.conv1.zero_point
    rounded = round(real / unit) * unit
    assert b == max(round((accumulator * unit + rounded) / step), 0) + ours.conv1.zero_point


def test_a_tie_and_a_multiplier() -> None:
    """Exact halves are ties; what float32 cannot tell from one is the multiplier's rounding."""
    pyqref.manual_seed(0)
    first = nn.quantized.Linear(2, 3)
    weight = pyqref.quantize_per_tensor(
        pyqref.tensor([[1.0, 0.0], [2.0, 1.0], [-1.0, 3.0]]), 1.0, 0, pyqref.qint8
    )
    first.set_weight_bias(weight, None)
    first.scale, first.zero_point = 2.0, 10
    model = nn.Sequential(first).eval()
    x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, 3.0], [2.0, 5.0]]), 1.0, 0, pyqref.quint8)
    integers = model(x).int_repr().numpy()
    halves = np.array([[1, 5, 8], [2, 9, 13]]) % 2 == 1  # odd sums over a scale of 2
    moved = integers + np.where(halves, np.where(integers % 2 == 0, 1, -1), 0)
    exact = np.array([[1, 5, 8], [2, 9, 13]]) / 2 + 10
    other = np.where(halves, np.round(2 * exact - integers).astype(int), integers)
    assert np.all(np.abs(other - exact) == np.abs(integers - exact))
    found = pyqref.explain_diff(model, {"0": other}, x)
    check(found)
    assert {decisions.TIE: int(halves.sum())} == found.first.causes
    assert moved.shape == other.shape
    first.scale = 2.0 * (1 + 1e-8)
    near = pyqref.explain_diff(model, {"0": other}, x)
    check(near)
    assert {decisions.MULTIPLIER} == set(near.first.causes)


def test_saturation() -> None:
    """Pairs of products above 16 bits, as processors without VNNI add them."""
    layer_ = nn.quantized.Linear(4, 2)
    weight = pyqref.quantize_per_tensor(
        pyqref.tensor([[127.0, 127.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0]]), 1.0, 0, pyqref.qint8
    )
    layer_.set_weight_bias(weight, None)
    layer_.scale, layer_.zero_point = 512.0, 0
    model = nn.Sequential(layer_).eval()
    x = pyqref.quantize_per_tensor(pyqref.full((1, 4), 255.0), 1.0, 0, pyqref.quint8)
    cut = min(255 * 254, 2**15 - 1) + 510
    device = np.array([[round(Fraction(cut, 512)), round(Fraction(2550, 512))]])
    found = pyqref.explain_diff(model, {"0": device}, x)
    check(found)
    assert {decisions.SATURATION: 1} == found.first.causes


def test_recorded_integers(tmp_path) -> None:
    """A file of a device: what came before a layer is not counted with it."""
    model = graph(MODEL)
    broken = SABOTAGE["bias dropped"](model, "conv2")
    recorded = {}
    handles = [
        layer(broken, name).register_forward_hook(
            lambda module, args, output, name=name: recorded.__setitem__(
                name, output.int_repr().numpy()
            )
        )
        for name in ("conv1", "conv2", "pool", "fc")
    ]
    broken(X)
    for handle in handles:
        handle.remove()
    np.savez(tmp_path / "device.npz", **recorded)
    found = pyqref.explain_diff(model, tmp_path / "device.npz", X)
    check(found)
    assert ["conv1", "conv2", "pool", "fc"] == [each.layer for each in found.layers]
    assert found.first.layer == "conv2"
    assert found["conv1"].count == 0
    assert {"its input already differed"} == set(found["fc"].causes)
    turned = pyqref.explain_diff(recorded, model, X)
    ours, theirs = found.first.worst(1)[0], turned.first.worst(1)[0]
    assert (ours.a, ours.b) == (theirs.b, theirs.a)


def test_fake_quantized_and_converted() -> None:
    """Training shows on real numbers what the integers will be, up to ties and multipliers."""
    model = made()
    prepared = quantize_fx.prepare_qat_fx(
        model.train(), quantization.get_default_qat_qconfig_mapping("fbgemm"), (X,)
    )
    prepared(X)
    prepared.eval()
    prepared.apply(quantization.disable_observer)
    converted = quantize_fx.convert_fx(copy.deepcopy(prepared))
    found = pyqref.explain_diff(prepared, converted, X)
    check(found)
    assert {"conv1", "conv2", "fc"} <= {each.layer for each in found.layers}
    # The batch norm learned on after the weight was observed, so the converted weight is another.
    trained, bn = prepared.conv1, prepared.conv1.bn
    folded, _ = fuse_conv_bn_weights(
        *(trained.weight.detach(), trained.bias, bn.running_mean, bn.running_var),
        *(bn.eps, bn.weight, bn.bias),
    )
    assert not pyqref.equal(
        trained.weight_fake_quant(folded).detach(), converted.conv1.weight().dequantize()
    )
    assert {"another weight"} == set(found["conv1"].causes)
    for name in ("conv2", "fc"):
        assert "not explained" not in found[name].causes


@pytest.mark.filterwarnings("ignore:arithmetic .* does not define")
@pytest.mark.parametrize("name", pyqref.arithmetic.names())
def test_every_arithmetic_is_explained(name) -> None:
    """One model in two arithmetics: every integer that differs has a reason."""
    quantized = graph(MODEL)
    weight, bias = quantized.conv2._weight_bias()
    integers = (weight.int_repr().sign() * 127).to(pyqref.int8)  # so that pairs saturate
    scales, zeros = weight.q_per_channel_scales(), weight.q_per_channel_zero_points()
    quantized.conv2.set_weight_bias(
        pyqref._make_per_channel_quantized_tensor(integers, scales, zeros, 0), bias
    )
    pyqref.manual_seed(0)
    x = 3 * pyqref.randn(64, 2, 6, 6).abs()
    found = pyqref.explain_diff(
        quantized, quantized, x, contexts=(None, lambda: pyqref.arithmetic.use(name))
    )
    check(found)
    assert "not explained" not in found.causes()
    if "saturating" in name:
        assert found["conv2"].causes[decisions.SATURATION] > 0
    if name in ("tflite", "cmsis-nn"):
        assert found["conv1"].causes[decisions.TWICE] > 0


def test_a_dynamic_layer() -> None:
    """A dynamic layer has another weight than a float one, and rounds its input as it runs."""
    found = pyqref.explain_diff(MODEL, quantization.quantize_dynamic(MODEL, {nn.Linear}), X)
    check(found)
    assert found.first.layer == "fc"
    assert {"another weight", "its input rounded as it runs"} == set(found.first.causes)


def test_contexts() -> None:
    """Each side runs in its own, and layers that are run again do so as well."""
    entered = []

    def context(name):
        @contextmanager
        def inside():
            entered.append(name)
            yield

        return inside

    quantized = graph(MODEL)
    broken = SABOTAGE["bias dropped"](quantized, "fc")
    pyqref.explain_diff(quantized, broken, X, contexts=(context("a"), context("b")))
    assert ["a", "b", "a"] == entered[:3]
    assert ["a", "b"] == entered[3:]  # for the derivations


def test_the_report() -> None:
    """It fits a terminal where causes are short, and escapes nothing twice."""
    quantized = eager(MODEL)
    found = pyqref.explain_diff(quantized, SABOTAGE["channels swapped"](quantized, "conv1"), X)
    text = str(found)
    assert text.startswith("They part at module.conv1: channels permuted. 9 of 10 layers differ.")
    assert all(len(line) <= 100 for line in text.splitlines())
    assert repr(found) == text
    assert "<table" in found._repr_html_()
    with pytest.raises(KeyError, match="'nothing' is not among the layers"):
        _ = found["nothing"]
    assert "840 of" in repr(found.first)


def test_both_derivations_stand_side_by_side() -> None:
    """For the elements that differ most, the steps end with the integers and show the cause."""
    quantized = graph(MODEL)
    broken = SABOTAGE["bias dropped"](quantized, "conv2")
    found = pyqref.explain_diff(quantized, broken, X)
    worst = found.first.worst()
    assert [each.element for each in found.pairs] == worst
    for pair in found.pairs:
        assert pair.layer == "conv2"
        for side, integer in ((pair.a, pair.element.a), (pair.b, pair.element.b)):
            assert str(integer) in [line.value for line in side if line.name == "clamped"]
        beside = [(a.name, a.value == b.value) for a, b in pair.rows() if a and b]
        assert ("accumulator", True) in beside
        assert ("clamped", False) in beside
    text, html = str(found), found._repr_html_()
    assert f"conv2{list(worst[0].place)}, step by step:" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    assert 4 == html.count("<details") == html.count("</details>")
    assert "fl32(" in html
    turned = pyqref.explain_diff({"conv2": _of(broken)}, quantized, X)
    assert turned.pairs[0].a is None
    assert turned.pairs[0].b
    assert "of a there are no steps" in str(turned)


def _of(model: nn.Module) -> np.ndarray:
    """The integers of conv2."""
    kept = []
    handle = model.conv2.register_forward_hook(lambda m, args, y: kept.append(y.int_repr().numpy()))
    model(X)
    handle.remove()
    return kept[0]


@pytest.mark.filterwarnings("ignore:arithmetic .* does not define")
def test_derivations_of_another_arithmetic() -> None:
    """A layer that ran in another arithmetic is explained by its steps."""
    quantized = graph(MODEL)
    pyqref.manual_seed(0)
    x = 3 * pyqref.randn(64, 2, 6, 6)
    other = (None, lambda: pyqref.arithmetic.use("tflite-single"))
    pair = pyqref.explain_diff(quantized, quantized, x, contexts=other).pairs[0]
    assert str(pair.element.a) in [line.value for line in pair.a if line.name == "clamped"]
    assert "rsu" in next(line.formula for line in pair.b if line.name == "rounded")
    assert str(pair.element.b) == pair.b[-1].value


def test_bad_input() -> None:
    """Every message says which argument it is about."""
    quantized = graph(MODEL)
    for arguments, error, text in [
        ((1, 2, X), TypeError, "a or b must be a Module"),
        ((quantized, 3, X), TypeError, "recorded integers must be a mapping"),
        ((quantized, {"fc": np.zeros(3)}, X), ValueError, "must have the shape"),
        ((quantized, {"fc": np.full((16, 5), 999)}, X), ValueError, "must be integers of"),
        ((quantized, {"nothing": np.zeros(3)}, X), ValueError, "must have names of layers"),
    ]:
        with pytest.raises(error, match=text):
            pyqref.explain_diff(*arguments)


def test_layers_by_themselves() -> None:
    """A model may be a single layer: it is named ``(model)``."""
    layers = []
    for scale in (1.0, 0.5):
        layer = pyqref.nn.quantized.Linear(2, 1)
        weight = pyqref.quantize_per_tensor(pyqref.tensor([[10.0, 20.0]]), 1.0, 0, pyqref.qint8)
        layer.set_weight_bias(weight, None)
        layer.scale, layer.zero_point = scale, 3
        layers.append(layer)
    x = pyqref.quantize_per_tensor(pyqref.ones(1, 2), 0.5, 0, pyqref.quint8)
    found = pyqref.explain_diff(*layers, x)
    assert [(each.layer, each.count) for each in found.layers] == [("(model)", 1)]
