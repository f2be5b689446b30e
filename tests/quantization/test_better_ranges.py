"""The observers that find better ranges: what their documentation says."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from quantization.samples import normal

import pyqref
from pyqref import nn, optim
from pyqref import quantization as q
from pyqref.numerics.squared_error_range import staircase_error

CHANNELS: dict[str, Any] = {"dtype": pyqref.qint8, "qscheme": pyqref.per_channel_symmetric}
OBSERVERS: dict[str, Callable[..., Any]] = {
    "percentile": partial(q.PercentileObserver, 99.0, bins=256),
    "percentile, symmetric": partial(q.PercentileObserver, 99.0, symmetric=True),
    "percentile, onnxruntime": partial(q.PercentileObserver, 99.0, definition="onnxruntime"),
    "entropy": partial(q.EntropyObserver, bins=512, smoothing=1e-4),
    "entropy, onnxruntime": partial(q.EntropyObserver, bins=256, definition="onnxruntime"),
    "MSE": q.MSEObserver,
    "MSE, golden section": partial(q.MSEObserver, "golden_section"),
    "power of two": q.PowerOfTwoObserver,
    "LSQ": q.LSQObserver,
    "percentile per channel": partial(q.PercentileObserver, 99.0, bins=256, **CHANNELS),
    "entropy per channel": partial(q.EntropyObserver, bins=256, smoothing=1e-4, **CHANNELS),
    "MSE per channel": partial(q.MSEObserver, **CHANNELS),
    "power of two per channel": partial(q.PerChannelPowerOfTwoObserver, **CHANNELS),
    "LSQ per channel": partial(q.LSQObserver, **CHANNELS),
}


def qparams(observer: Any) -> list[Any]:
    return [each.tolist() for each in observer.calculate_qparams()]


def shown(observer: Any, *batches: Any) -> Any:
    for each in batches:
        assert observer(each) is each
    return observer


@pytest.mark.parametrize("name", OBSERVERS)
def test_state_goes_through_a_state_dict_and_pickle(name: str) -> None:
    """A new observer with the state of another one gives the same parameters and goes on alike."""
    first = shown(OBSERVERS[name](), 3 * normal(3, 50), normal(3, 50, seed=1))
    second, third = OBSERVERS[name](), pickle.loads(pickle.dumps(first))
    second.load_state_dict(first.state_dict())
    for each in (second, third):
        assert qparams(first) == qparams(each)
    for each in (first, second):
        shown(each, 4 * normal(3, 50, seed=2))
    assert qparams(first) == qparams(second)


@pytest.mark.parametrize("name", OBSERVERS)
def test_empty_tensors_and_resets(name: str) -> None:
    """An empty tensor changes nothing; after a reset the observer is as new, and says so."""
    observer = shown(OBSERVERS[name](), pyqref.empty(3, 0), normal(3, 50))
    before = qparams(observer)
    assert before == qparams(shown(observer, pyqref.empty(3, 0)))
    observer.reset_min_max_vals()
    with pytest.warns(q.UncalibratedWarning, match="has seen no data"):
        assert [[1.0], [0]] == qparams(observer)
    assert before == qparams(shown(observer, normal(3, 50)))


@pytest.mark.parametrize("name", OBSERVERS)
def test_data_must_be_finite(name: str) -> None:
    """Documented: an error for nan and infinity, which leaves the state as it was."""
    observer = shown(OBSERVERS[name](), normal(3, 50))
    before = qparams(observer)
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="calibration data must be finite"):
            observer(pyqref.tensor([[bad], [1.0], [2.0]]))
    assert before == qparams(observer)


@pytest.mark.parametrize("name", [each for each in OBSERVERS if "onnxruntime" not in each])
def test_memory_is_constant(name: str) -> None:
    """Documented: memory does not grow with the data, though its range grows a millionfold."""

    def size(observer: Any) -> int:
        return sum(each.nbytes for each in observer.buffers())

    observer = shown(OBSERVERS[name](), normal(3, 40))
    before = size(observer)
    shown(observer, *(normal(3, 40, seed=seed) * 2.0**seed for seed in range(20)))
    assert before == size(observer)


@pytest.mark.parametrize(
    "name", [each for each in OBSERVERS if "onnxruntime" not in each and "LSQ" not in each]
)
def test_the_order_does_not_matter(name: str) -> None:
    """Nested grids and extremes: each order gives the same."""
    batches = [normal(3, 40, seed=seed) * 3.0**seed for seed in range(4)]
    assert qparams(shown(OBSERVERS[name](), *batches)) == qparams(
        shown(OBSERVERS[name](), *batches[::-1])
    )


@pytest.mark.parametrize("name", [each for each in OBSERVERS if "per channel" in each])
def test_each_channel_has_the_range_of_its_own_numbers(name: str) -> None:
    """A row observed by itself gives its channel's scale; the axis may be any."""
    x = normal(3, 4, 50) * pyqref.tensor([1.0, 5.0, 0.1]).reshape(3, 1, 1)
    scales = qparams(shown(OBSERVERS[name](), x))[0]
    alone = [qparams(shown(OBSERVERS[name](), row[None]))[0][0] for row in x]
    assert alone == scales
    moved = shown(OBSERVERS[name](ch_axis=-1), x.permute(1, 2, 0))
    assert scales == qparams(moved)[0]
    with pytest.raises(IndexError, match="ch_axis"):
        OBSERVERS[name](ch_axis=5)(x)
    with pytest.raises(ValueError, match="channels as before"):
        moved(x)


def test_percentiles_hold_their_share() -> None:
    """The range holds at least the percentage, and a bin less would not."""
    x = normal(20000)
    for percentile in (99.5, 99.0, 80.0):
        low, high = shown(q.PercentileObserver(percentile, bins=4096), x).find_range()
        inside = ((x >= low) & (x < high)).sum().item()
        width = 4 / 4096 * x.abs().max().item()
        fewer = ((x >= low + width) & (x < high - width)).sum().item()
        assert fewer <= percentile * 200 <= inside


def test_constant_data() -> None:
    """One point gives scale 1 and zero point 0, as with the other observers."""
    for name in ("percentile", "percentile, onnxruntime", "MSE", "power of two"):
        assert [[1.0], [0]] == qparams(shown(OBSERVERS[name](), pyqref.full((8,), 5.0)))


@pytest.mark.parametrize("search", ["grid", "golden_section"])
def test_no_share_has_less_error(search: Any) -> None:
    """The squared error is the least of all shares that the grid looks at, within a hundredth."""
    x = normal(4000)
    observer = shown(q.MSEObserver(search, quant_min=0, quant_max=15), x)
    edges = observer._edges(0)[None]

    def error(low: Any, high: Any) -> float:
        scale, zero_point = observer._from_range(np.atleast_1d(low), np.atleast_1d(high))
        return float(
            staircase_error(observer.histogram.numpy(), edges, scale, zero_point, 0, 15)[0]
        )

    low, high = observer.min_val.numpy(), observer.max_val.numpy()
    least = min(error(low * share, high * share) for share in np.arange(1, 101) / 100)
    found = error(*(each.numpy() for each in observer.find_range()))
    assert found <= least * (1.0 if search == "grid" else 1.01)
    by_numbers = pyqref.quantize_per_tensor(x, *qparams_of(observer), pyqref.quint8).dequantize()
    assert ((by_numbers - x) ** 2).mean().item() > 0


def qparams_of(observer: Any) -> tuple[float, int]:
    scale, zero_point = observer.calculate_qparams()
    return scale.item(), int(zero_point.item())


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("rounding", ["up", "nearest"])
def test_powers_of_two_in_fused_fake_quantizers(per_channel: bool, rounding: Any) -> None:
    """The grid of training is the grid of convert, and its scale is a power of two."""
    observer: Any = q.PerChannelPowerOfTwoObserver if per_channel else q.PowerOfTwoObserver
    scheme = pyqref.per_channel_affine if per_channel else pyqref.per_tensor_affine
    fused = q.FusedMovingAvgObsFakeQuantize(
        observer=observer, averaging_constant=0.5, qscheme=scheme, rounding=rounding
    )
    for seed in range(3):
        fused(normal(3, 20, seed=seed))
    assert qparams(fused) == [fused.scale.tolist(), fused.zero_point.tolist()]
    assert [0.5] * len(fused.scale) == [np.frexp(each)[0] for each in fused.scale.tolist()]


@pytest.mark.parametrize("per_channel", [False, True])
def test_lsq_trains_its_scale(per_channel: bool) -> None:
    """The first tensor sets the scale, then the optimizer made before it moves it."""
    arguments = {**CHANNELS, "ch_axis": 0} if per_channel else {}
    lsq = q.LSQFakeQuantize(quant_min=-8, quant_max=7, **arguments)
    sgd = optim.SGD(lsq.parameters(), lr=0.1)
    x = normal(3, 40)
    lsq(x)
    begins = lsq.scale.tolist()
    expected = qparams(shown(q.LSQObserver(quant_min=-8, quant_max=7, **arguments), x))[0]
    assert expected == begins
    losses = []
    for _ in range(20):
        sgd.zero_grad()
        loss = ((lsq(x) - x) ** 2).sum()
        loss.backward()
        sgd.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert begins != lsq.scale.tolist()
    assert all(each == 0 for each in lsq.zero_point.tolist())
    other = q.LSQFakeQuantize(quant_min=-8, quant_max=7, **arguments)
    other.load_state_dict(lsq.state_dict())
    assert lsq(x).tolist() == other(x).tolist()


def test_pact_trains_its_level() -> None:
    """A level far too low rises to where the loss is least."""
    pact = q.PACTFakeQuantize(alpha=0.25, quant_max=15)
    x = normal(500)
    sgd = optim.SGD(pact.parameters(), lr=0.002)
    target = x.clamp(0.0, 1.0)
    for _ in range(60):
        sgd.zero_grad()
        ((pact(x) - target) ** 2).sum().backward()
        sgd.step()
    assert 0.9 < pact.alpha.item() < 1.1
    pact.disable_fake_quant()
    assert x.clamp(0.0, pact.alpha.item()).tolist() == pact(x).tolist()


def network() -> nn.Module:
    pyqref.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


@pytest.mark.parametrize("name", OBSERVERS)
def test_eager_and_graph_mode(name: str) -> None:
    """In a QConfig: prepare, calibrate and convert in both modes give the same numbers."""
    weight = OBSERVERS[name] if "channel" in name else q.default_weight_observer
    recipe = q.default_observer if "channel" in name else OBSERVERS[name]
    if name == "LSQ":
        recipe = partial(recipe, dtype=pyqref.quint8, qscheme=pyqref.per_tensor_affine)
    qconfig = q.QConfig(activation=recipe, weight=weight)
    x = normal(30, 6)
    wrapped = q.QuantWrapper(network()).eval()
    wrapped.qconfig = qconfig
    prepared = q.prepare(wrapped)
    prepared(x)
    mapping = q.QConfigMapping().set_global(qconfig)
    graph = q.quantize_fx.prepare_fx(network().eval(), mapping, (x,))
    graph(x)
    eager = q.convert(prepared)
    expected = eager(x)
    error = (expected - network()(x)).abs().max().item()
    assert error < 1.5
    assert pyqref.isfinite(q.quantize_fx.convert_fx(graph)(x)).all()


def test_learned_fake_quantizers_in_training() -> None:
    """In a QConfig of quantization-aware training: prepare, train and convert."""
    qconfig = q.QConfig(
        activation=q.PACTFakeQuantize.with_args(alpha=3.0),
        weight=q.LSQFakeQuantize.with_args(quant_min=-127, **CHANNELS),
    )
    model = q.QuantWrapper(network()).train()
    model.qconfig = qconfig
    prepared = q.prepare_qat(model)
    x = normal(30, 6).abs()
    prepared(x).sum().backward()
    weights = prepared.module[0].weight_fake_quant
    assert (8,) == tuple(weights.scale.shape) == tuple(weights.scale.grad.shape)
    converted = q.convert(prepared.eval())
    assert weights.calculate_qparams()[0].tolist() == pytest.approx(
        converted.module[0].weight().q_per_channel_scales().tolist(), rel=2**-23
    )
    assert pyqref.isfinite(converted(x)).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: q.PercentileObserver(101), r"percentile must be in \(0, 100\], got 101"),
        (lambda: q.PercentileObserver(bins=6), "bins must be a multiple of 4, got 6"),
        (lambda: q.PercentileObserver(definition="torch"), "definition must be one of"),
        (lambda: q.PercentileObserver(symmetric=2), "symmetric must be one of"),
        (lambda: q.EntropyObserver(quantized_bins=1), r"quantized_bins must be in \[2, 65536\]"),
        (lambda: q.EntropyObserver(bins=128), "bins must be at least 256"),
        (lambda: q.EntropyObserver(zero_bins="some"), "zero_bins must be one of"),
        (lambda: q.EntropyObserver(smoothing=1.0), r"smoothing must be in \[0, 1\), got 1.0"),
        (lambda: q.EntropyObserver(remainder="first"), "remainder must be one of"),
        (lambda: q.EntropyObserver(zero_spike="cut"), "zero_spike must be one of"),
        (lambda: q.MSEObserver("random"), "search must be one of"),
        (lambda: q.MSEObserver(steps=0), r"steps must be in \[1, 10000\], got 0"),
        (lambda: q.PowerOfTwoObserver(rounding="down"), "rounding must be one of"),
        (
            lambda: q.LSQObserver(quant_min=-8, quant_max=0),
            "quant_max must exceed the zero point 0",
        ),
        (lambda: q.PACTFakeQuantize(alpha=0.0), "alpha must be positive and finite, got 0.0"),
        (lambda: q.PACTFakeQuantize(quant_max=256), r"\[0, 255\] for pyqref.quint8"),
    ],
)
def test_bad_options_name_themselves(make: Callable[[], Any], message: str) -> None:
    """The error says which option, what it may be and what was got."""
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: q.PercentileObserver(is_dynamic=True), "use MinMaxObserver"),
        (lambda: q.MSEObserver(qscheme=pyqref.per_channel_affine_float_qparams), "qscheme must be"),
        (
            lambda: q.PercentileObserver(definition="onnxruntime", **CHANNELS),
            "leave definition out",
        ),
    ],
)
def test_unsupported_combinations(make: Callable[[], Any], message: str) -> None:
    """A combination that an observer does not support says what to do instead."""
    with pytest.raises(NotImplementedError, match=message):
        make()


@pytest.mark.parametrize(
    "make", [q.PercentileObserver, q.EntropyObserver, q.MSEObserver, q.LSQObserver]
)
def test_the_axis_of_channels_is_an_int(make: Callable[..., Any]) -> None:
    """Each of them refuses another type by the name of the argument."""
    with pytest.raises(TypeError, match=r"ch_axis must be an int, got 1\.5"):
        make(ch_axis=1.5)


def test_a_first_tensor_too_small_for_its_grid() -> None:
    """Under onnxruntime's definition bins are added without end: the error says how to go on."""
    observer = shown(q.EntropyObserver(definition="onnxruntime"), pyqref.tensor([1e-6]))
    with pytest.raises(ValueError, match="show the observer a typical tensor first"):
        observer(pyqref.tensor([1.0]))
