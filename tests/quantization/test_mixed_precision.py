"""Searches of bits against brute force, their costs by hand, and going on after a kill."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise, product
from operator import mul

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyqref
from pyqref import measure, nn
from pyqref.quantization import (
    default_per_channel_qconfig,
    mixed_precision,
)
from pyqref.quantization.mixed_precision import FLOAT, Width
from pyqref.quantization.mixed_precision.choosing import best_by_sum, cheapest, next_step
from pyqref.quantization.mixed_precision.costs import Costs
from pyqref.quantization.mixed_precision.units import base_mapping, find_units
from pyqref.quantization.qconfig_mapping.defaults import usual_mapping
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx

QCONFIG = default_per_channel_qconfig


def search_mixed_precision(*args, qconfig=QCONFIG, **options):
    """The search with observers that take little time."""
    return mixed_precision.search_mixed_precision(*args, qconfig=qconfig, **options)


def quantize_with_accuracy_control(*args, **options):
    """The same for the other one."""
    return mixed_precision.quantize_with_accuracy_control(*args, qconfig=QCONFIG, **options)


class Net(nn.Module):
    """Layers and functional nodes of several kinds, with a residual."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        y = self.first(x).relu()
        return self.head(self.second(y).sigmoid() + y)


def net():
    pyqref.manual_seed(0)
    return Net().eval()


def data():
    return pyqref.rand((64, 8), generator=pyqref.manual_seed(1)) - 0.5


def quantized(model, mapping, x):
    prepared = prepare_fx(model, mapping, (x,))
    prepared(x)
    return convert_fx(prepared)


def noise(model, other, x):
    """Noise over signal, as the metric ``"sqnr"`` has it."""
    return 1 / Fraction(10 ** (measure.sqnr(model(x), other(x)) / 10))


def chain_of(layers):
    """Linear layers of different sizes, one behind the other, with a function between them."""
    pyqref.manual_seed(layers)
    sizes = pairwise([8, 12, 6, 10, 7, 9, 4][: layers + 1])
    return nn.Sequential(*(part for pair in sizes for part in (nn.Linear(*pair), nn.Tanh()))).eval()


def measured(model, x, layers, choices):
    """The noise of every choice of widths, each quantized by hand."""
    values = {}
    for widths in product(choices, repeat=len(layers)):
        mapping = usual_mapping("x86", QCONFIG)
        for name, width in zip(layers, widths, strict=True):
            half = 2 ** (width - 1)
            ends = {"quant_min": -half, "quant_max": half - 1} if width < 8 else {}
            weight = QCONFIG.weight.with_args(**ends)
            mapping.set_module_name(name, QCONFIG._replace(weight=weight))
        values[widths] = noise(model, quantized(model, mapping, x), x)
    return values


@pytest.mark.parametrize(
    ("model", "choices", "budgets"),
    [
        (net(), (8, 3), {"bits": 6}),
        (chain_of(4), (8, 4), {"bits": 4.5, "bytes": 6, "bit_operations": 7.25}),
        (chain_of(5), (8, 5), {"bytes": 6}),
    ],
    ids=["3 layers", "4 layers", "5 layers"],
)
def test_exhaustive_search_equals_brute_force(model, choices, budgets):
    """Of all choices within a budget, each quantized and measured by hand, it takes the best."""
    x = data()
    linear = {name: each for name, each in model.named_modules() if isinstance(each, nn.Linear)}
    layers = {name: each.weight.numel() for name, each in linear.items()}
    values = measured(model, x, layers, choices)
    bits = {widths: sum(map(mul, layers.values(), widths)) for widths in values}
    total = sum(layers.values())
    for unit, mean in budgets.items():
        amount = mean * {"bits": 1, "bytes": total / 8, "bit_operations": total * 8}[unit]
        found = search_mixed_precision(model, x, "sqnr", {unit: amount}, choices=choices)
        assert found.exhaustive
        within = [widths for widths, needed in bits.items() if needed <= mean * total]
        best = min(within, key=values.__getitem__)
        assert best == tuple(found.bits[name].weight for name in layers)
        assert float(values[best]) == pytest.approx(float(found.value), rel=1e-12)


def test_the_mapping_of_a_result_makes_its_model():
    """``prepare_fx`` with the mapping, calibrated on the same data, gives the same integers."""
    model, x = net(), data()
    found = search_mixed_precision(model, x, "sqnr", {"bytes": 300}, exhaustive=0)
    again = quantized(model, found.qconfig_mapping, x)
    assert pyqref.equal(again(x), found.model(x))
    assert float(noise(model, again, x)) == pytest.approx(float(found.value), rel=1e-12)
    assert not found.exhaustive
    assert found.cost <= found.budget == 300
    for name in ("first", "second", "head"):
        integers = again.get_submodule(name).weight().int_repr()
        half = 2 ** (found.bits[name].weight - 1)
        assert -half <= int(integers.min()) <= int(integers.max()) < half


def test_ledger_of_a_search_is_that_of_sensitivity():
    """Width 8 of a layer alone is what ``pyqref.measure.sensitivity`` measures."""
    model, x = net(), data()
    options = {"choices": (8, 4), "exhaustive": 0}
    found = search_mixed_precision(model, x, "sqnr", {"bits": 8}, **options)
    alone = measure.sensitivity(model, QCONFIG, x, layers=["first", "second", "head"])
    for name, ratio in alone.items():
        value = float(found.sensitivities[name, Width(8, 8)])
        assert ratio == pytest.approx(-10 * math.log10(value), abs=1e-9)


tables = st.integers(1, 4).flatmap(
    lambda parts: st.lists(
        st.lists(
            st.tuples(st.integers(-3, 9), st.integers(0, 9), st.integers(0, 9)),
            min_size=1,
            max_size=4,
        ),
        min_size=parts,
        max_size=parts,
    )
)


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(0, 30))
def test_branch_and_bound_equals_brute_force(table, limit):
    """Over random damages, noises and costs, the best sum within a budget is found, always."""
    damages = [[(Fraction(d), Fraction(n)) for d, n, _ in options] for options in table]
    costs = [sorted((c for _, _, c in options), reverse=True) for options in table]

    def cost(choice):
        return Fraction(sum(costs[part][option] for part, option in enumerate(choice)))

    def total(choice):
        picked = [damages[part][option] for part, option in enumerate(choice)]
        return sum(d for d, _ in picked), sum(n for _, n in picked), choice

    last = cheapest(damages)
    every = product(*(range(len(options)) for options in damages))
    within = [total(choice) for choice in every if cost(choice) <= limit]
    if within:
        assert min(within)[-1] == best_by_sum(damages, cost, Fraction(limit), last)
    step = next_step(damages, cost, (0,) * len(damages))
    assert step is None or cost(step) < cost((0,) * len(damages))


class Counted(nn.Module):
    """Layers of which every product can be counted."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, groups=2)
        self.up = nn.ConvTranspose2d(4, 3, 2, stride=2)
        self.rows = nn.Embedding(5, 6)
        self.lstm = nn.LSTM(6, 4)
        self.linear = nn.Linear(4, 2)

    def forward(self, image, words):
        y = self.linear(self.lstm(self.rows(words))[0])
        return self.up(self.conv(image)), pyqref.matmul(y, y.transpose(1, 2))


def test_weights_and_products_are_counted_by_hand():
    """Taps of each output, or of each input of a transposed convolution; gates of each step."""
    inputs = pyqref.rand(3, 2, 6, 6), pyqref.tensor([[1, 2, 3]] * 5)
    units, left = find_units("test", Counted().eval(), base_mapping(None), inputs)
    counted = {name: (each.weights, each.macs) for name, each in units.items()}
    outputs, positions = 3 * 4 * 4 * 4, 5 * 3
    assert (4 * 9, outputs * 9) == counted["conv"]
    assert (4 * 3 * 4, outputs * 3 * 4) == counted["up"]
    assert (5 * 6, 0) == counted["rows"]
    assert (16 * 6 + 16 * 4, positions * (16 * 6 + 16 * 4)) == counted["lstm"]
    assert (8, positions * 8) == counted["linear"]
    assert (0, 5 * 3 * 3 * 2) == counted["matmul"]
    assert {} == left
    assert ["dynamic", "weight only"] == [units[name].kind for name in ("lstm", "rows")]


def test_a_layer_reads_the_bits_that_the_one_before_gives():
    """Its own where that is float; behind a layer of 4 bits it reads 4, whatever it gives."""
    units, _ = find_units("test", net(), base_mapping(None), (data(),))
    costs = Costs(units, 64)
    macs = {"first": 128, "second": 256, "head": 64}
    assert costs.of("bit_operations", {}) == 32 * 32 * sum(macs.values())
    chosen = {"first": Width(8, 4), "second": Width(2, 8), "head": Width(4, 3), "add": Width(8, 5)}
    expected = 128 * 8 * 4 + 256 * 2 * 4 + 64 * 4 * 5
    assert expected == costs.of("bit_operations", chosen)
    chosen["first"] = FLOAT
    expected = 128 * 32 * 32 + 256 * 2 * 8 + 64 * 4 * 5
    assert expected == costs.of("bit_operations", chosen)


def test_search_on_any_budget_and_on_activations():
    """Each measure keeps its budget, and pairs of widths narrow activations, too."""
    model, x = net(), data()
    options = {"choices": (32, 8, (4, 6)), "exhaustive": 0}
    for budget in ({"bytes": 300}, {"bit_operations": 16_000}):
        found = search_mixed_precision(model, x, "sqnr", budget, **options)
        assert found.cost <= found.budget
        assert Fraction(next(iter(budget.values()))) == found.budget
    values = [each.value for each in found.frontier]
    assert sorted(values, reverse=True) == values
    assert found.plot().get_xlabel() == "operations of one input [bit operations]"


def test_a_wide_budget_leaves_the_widest():
    found = search_mixed_precision(net(), data(), "sqnr", {"bits": 32}, choices=(32, 8))
    assert {FLOAT} == set(found.bits.values()) - {Width(8, 8)}
    assert found.bits["first"] == found.bits["head"] == FLOAT


def accuracy_data():
    model, x = net(), data()
    return [(x[:40], model(x[:40]).argmax(1)), (x[40:], model(x[40:]).argmax(1))]


def test_accuracy_control_keeps_the_bound_with_the_fewest_layers():
    """No set with fewer layers in float keeps it, by brute force; without a drop nothing is."""
    model, x = net(), data()
    found = quantize_with_accuracy_control(model, x, "sqnr", 0.0)
    assert found.drop == 0
    assert found.model is model
    assert set(found.bits.values()) == {FLOAT}
    loose = quantize_with_accuracy_control(model, x, "sqnr", 1.0)
    assert ((), True) == (loose.put_back, loose.fewest)
    assert 0 < loose.drop == loose.quantized_value
    bound = float(loose.drop) / 2
    found = quantize_with_accuracy_control(model, x, "sqnr", bound, exhaustive=1000)
    assert 0 < len(found.put_back) < len(found.bits)
    assert found.drop <= bound
    assert found.fewest
    again = quantized(model, found.qconfig_mapping, x)
    assert pyqref.equal(again(x), found.model(x))


def test_accuracy_control_takes_accuracy_and_own_metrics():
    """Where more is better, a drop is a fall."""
    model = net()
    found = quantize_with_accuracy_control(model, accuracy_data(), "accuracy", 0.02)
    assert found.float_value == 1
    assert found.drop == 1 - found.value <= Fraction(0.02)

    def closeness(output, target):
        return -(output - target).abs().max()

    found = quantize_with_accuracy_control(model, data(), closeness, 0.004, better="higher")
    assert -found.value == found.drop <= Fraction(0.004)


SCRIPT = """
import os, signal, sys
from quantization.test_mixed_precision import data, net, search_mixed_precision

def kill(count):
    if count == 5:
        os.kill(os.getpid(), signal.SIGKILL)

options = {"choices": (8, 4), "checkpoint": sys.argv[1], "progress": kill}
search_mixed_precision(net(), data(), "sqnr", {"bits": 6}, **options)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_search_goes_on(tmp_path, request):
    """After kill -9 it measures only what is missing, and finds the same."""
    path = tmp_path / "search.safetensors"
    tests = str(request.config.rootpath / "tests")
    code = f"import sys; sys.path.insert(0, {tests!r})\n{SCRIPT}"
    run = subprocess.run([sys.executable, "-c", code, path], cwd=tmp_path, check=False)
    assert -signal.SIGKILL == run.returncode
    assert not list(tmp_path.glob("*.part"))
    kept = pyqref.load(path)["measured"]
    whole = search_mixed_precision(net(), data(), "sqnr", {"bits": 6}, choices=(8, 4))
    counts = []
    with pytest.MonkeyPatch.context() as patch:
        from pyqref.quantization.mixed_precision import measuring

        measured = measuring.Meter.measured
        patch.setattr(
            measuring.Meter, "measured", lambda *args: counts.append(1) or measured(*args)
        )
        options = {"choices": (8, 4), "checkpoint": path}
        found = search_mixed_precision(net(), data(), "sqnr", {"bits": 6}, **options)
    assert 5 + len(counts) == len({*whole.sensitivities}) + len(whole.points) + 1
    assert len(pyqref.load(path)["measured"]) > len(kept)
    assert str(whole) == str(found)
    assert (whole.points, whole.sensitivities) == (found.points, found.sensitivities)


def test_a_checkpoint_serves_other_budgets_and_refuses_other_data(tmp_path):
    model, x, path = net(), data(), tmp_path / "search.safetensors"
    options = {"checkpoint": path, "choices": (8, 4)}
    search_mixed_precision(model, x, "sqnr", {"bits": 5}, **options)
    before = path.read_bytes()
    search_mixed_precision(model, x, "sqnr", {"bits": 4.5}, **options)
    assert before == path.read_bytes()
    with pytest.raises(ValueError, match="was written for another model, other data or other"):
        search_mixed_precision(model, x + 1, "sqnr", {"bits": 5}, **options)
    kept = pyqref.load(path)
    pyqref.save({**kept, "measured": kept["measured"][:-1]}, path)
    with pytest.raises(ValueError, match="cannot be read as a checkpoint"):
        search_mixed_precision(model, x, "sqnr", {"bits": 5}, **options)
    path.write_bytes(b"no tensors")
    with pytest.raises(ValueError, match="cannot be read as a checkpoint"):
        search_mixed_precision(model, x, "sqnr", {"bits": 5}, **options)


def test_progress_counts_the_measurements():
    counts = []
    found = search_mixed_precision(
        net(), data(), "sqnr", {"bits": 5}, choices=(8, 4), progress=counts.append
    )
    assert list(range(1, len(counts) + 1)) == counts
    assert len(counts) >= len(found.points) + len(found.sensitivities)
