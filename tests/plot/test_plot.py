"""The figures: what is drawn is what was given, and every axis says what it measures."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from plot.figures import ledger

import pyqref
from pyqref import plot
from pyqref.plot.style import CYCLES

matplotlib.use("agg")


@pytest.fixture
def ax():
    """Axes of an empty figure in constrained layout."""
    return Figure(layout="constrained").subplots()


def lines_by_label(ax):
    """The drawn lines by the label of their series."""
    return {line.get_label(): line for line in ax.get_lines()}


ACCURACIES = {"per tensor": {2: 15.0, 8: 99.0, 4: 80.0}, "per channel": {2: 30.0, 4: 90.0}}
RATIOS = {"a": {"first": 50.0, "last": 30.0}, "b": {"first": 52.0, "last": 33.0}}
CHANNELS = {"per tensor": [3.0, 1.0, 2.0], "per channel": [0.3, 0.2, 0.1]}
RANGES = {"MinMax": (0.0, 4.0), "Histogram": (-0.5, 3.0)}


def quantized_weight():
    """100 weights in 4 channels with one scale."""
    weight = pyqref.linspace(0, 4, 100).reshape(4, 25)
    return pyqref.quantize_per_tensor(weight, 0.05, 0, pyqref.qint8)


def draw_all(ax_of):
    """Every function of the package, each on axes of its own."""
    values = np.linspace(0, 4, 100)
    return [
        plot.bits_sweep(ACCURACIES, reference=99.0, ax=ax_of()),
        plot.layer_sqnr(RATIOS, ax=ax_of()),
        plot.channel_error(CHANNELS, ax=ax_of()),
        plot.observer_range(values, RANGES, ax=ax_of()),
        plot.error_histogram({"a": values - 2}, unit="logit", ax=ax_of()),
        plot.quantization_grid(0.5, 2, quant_max=7, unit="V", ax=ax_of()),
        plot.sensitivity({"a": 30.0, "b": 40.0}, together=29.0, ax=ax_of()),
        plot.frontier([(4.0, 30.0)], chosen=(4.0, 30.0), budget=5.0, ax=ax_of()),
        plot.waterfall(ledger(), ax=ax_of()),
        plot.weights_and_scales(values.reshape(4, 25), quantized_weight(), ax=ax_of()),
    ]


def test_axes_are_labelled_with_units():
    """Each label names a unit in brackets, says that there is none, or counts things."""
    for ax in draw_all(lambda: Figure(layout="constrained").subplots()):
        for label in (ax.get_xlabel(), ax.get_ylabel()):
            assert label
            has_unit = "[" in label or "no unit" in label
            assert has_unit or label.startswith(("count", "layer", "output channel"))


def test_functions_return_the_axes_they_are_given():
    made = []

    def new_axes():
        made.append(Figure(layout="constrained").subplots())
        return made[-1]

    assert made == draw_all(new_axes)


def test_bits_sweep_draws_widths_in_order(ax):
    plot.bits_sweep(ACCURACIES, ax=ax)
    line = lines_by_label(ax)["per tensor"]
    assert [2, 4, 8] == list(line.get_xdata())
    assert [15.0, 80.0, 99.0] == list(line.get_ydata())


def test_bits_sweep_draws_the_reference(ax):
    plot.bits_sweep(ACCURACIES, reference=97.5, ax=ax)
    assert [97.5, 97.5] == list(lines_by_label(ax)["float32"].get_ydata())


def test_layer_sqnr_puts_the_first_layer_on_top(ax):
    plot.layer_sqnr(RATIOS, ax=ax)
    assert ["first", "last"] == [label.get_text() for label in ax.get_yticklabels()]
    assert ax.yaxis_inverted()
    assert [52.0, 33.0] == list(lines_by_label(ax)["b"].get_xdata())


def test_layer_sqnr_refuses_other_layers(ax):
    with pytest.raises(ValueError, match=r"layers of 'b' must be \['x'\], got \['y'\]"):
        plot.layer_sqnr({"a": {"x": 1.0}, "b": {"y": 1.0}}, ax=ax)


def test_channel_error_sorts_all_series_by_the_first(ax):
    plot.channel_error(CHANNELS, ax=ax)
    lines = lines_by_label(ax)
    assert [1.0, 2.0, 3.0] == list(lines["per tensor"].get_ydata())
    assert [0.2, 0.1, 0.3] == list(lines["per channel"].get_ydata())


def test_channel_error_refuses_another_number_of_channels(ax):
    with pytest.raises(ValueError, match="'b' must have 2 channels"):
        plot.channel_error({"a": [1.0, 2.0], "b": [1.0]}, ax=ax)


def test_observer_range_draws_each_bracket_at_its_ends(ax):
    plot.observer_range(np.linspace(0, 4, 50), RANGES, ax=ax)
    lines = lines_by_label(ax)
    assert [0.0, 4.0] == list(lines["MinMax"].get_xdata())
    assert [-0.5, 3.0] == list(lines["Histogram"].get_xdata())


def test_observer_range_brackets_lie_below_the_bars(ax):
    """The highest bracket stays under the foot of the histogram."""
    plot.observer_range(np.linspace(0, 4, 50), RANGES, ax=ax)
    bottom, top = np.log10(ax.get_ylim())
    foot = (np.log10(0.7) - bottom) / (top - bottom)
    assert all(line.get_ydata()[0] < foot for line in ax.get_lines())


def test_error_histogram_integrates_to_the_share_inside(ax):
    """The outline is a density: at most 0.1 % of its mass lies outside."""
    errors = np.random.default_rng(0).normal(size=20_000)
    plot.error_histogram({"a": errors}, bins=31, ax=ax)
    counts, edges, _ = ax.patches[-1].get_data()
    assert 0.998 <= float(np.sum(counts * np.diff(edges))) <= 1.0


def test_error_histogram_of_exact_results(ax):
    """All errors zero: the limits stay finite and one bin holds everything."""
    plot.error_histogram({"exact": np.zeros(10)}, ax=ax)
    assert np.all(np.isfinite(ax.get_xlim()))


def test_image_shows_the_pixels_from_paper_to_ink(ax):
    pixels = np.eye(8)
    assert ax is plot.image(pixels, "3: 3 → 5", ax=ax)
    (drawn,) = ax.get_images()
    assert np.array_equal(pixels, drawn.get_array())
    assert (0, 1) == drawn.get_clim()
    assert "3: 3 → 5" == ax.get_title()


@pytest.mark.parametrize("name", sorted(CYCLES))
def test_theme_sets_the_colours_and_restores_them(name):
    before = matplotlib.rcParams["axes.prop_cycle"]
    with plot.theme(name):
        assert CYCLES[name] == matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
    assert before == matplotlib.rcParams["axes.prop_cycle"]


def test_theme_names_the_choices():
    with pytest.raises(ValueError, match=r"must be one of \['dark', 'light'\], got 'sepia'"):
        plot.theme("sepia").__enter__()


def luminance(colour):
    """Relative luminance as the accessibility guidelines define it."""
    channels = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("name", sorted(CYCLES))
def test_lines_stand_out_from_the_paper(name):
    """Contrast of at least 3 : 1, as the guidelines ask for graphics."""
    with plot.theme(name):
        paper = luminance(matplotlib.rcParams["axes.facecolor"])
    for colour in CYCLES[name]:
        low, high = sorted((paper, luminance(colour)))
        assert (high + 0.05) / (low + 0.05) >= 3


def test_a_new_figure_is_made_where_no_axes_are_given():
    from matplotlib import pyplot

    ax = plot.error_histogram([0.1, -0.1])
    assert ax.figure.get_layout_engine() is not None
    pyplot.close(ax.figure)


def test_quantization_grid_keeps_the_bound_inside_and_leaves_it_outside(ax):
    """Half a step, and the excess of float32 that the theory page bounds."""
    plot.quantization_grid(0.25, 2, quant_min=0, quant_max=7, error=True, ax=ax)
    (upper, _, error, *_) = ax.get_lines()
    x, y = np.asarray(error.get_xdata()), np.asarray(error.get_ydata())
    inside = (x >= -0.5) & (x <= 1.25)
    assert 0.125 == upper.get_ydata()[0]
    assert np.abs(y[inside]).max() <= 0.125 * 1.0001
    assert np.abs(y[~inside]).max() > 0.125


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0.0, 0), "scale must be above 0, got 0.0"), ((1.0, 256), r"must be in \[0, 255\], got 256")],
)
def test_quantization_grid_refuses_impossible_grids(arguments, message):
    with pytest.raises(ValueError, match=message):
        plot.quantization_grid(*arguments)


def test_error_histogram_draws_the_box_of_the_bound(ax):
    """Half a step to either side, of area one."""
    plot.error_histogram(np.linspace(-0.5, 0.5, 1000), bound=0.5, ax=ax)
    heights, edges, _ = ax.patches[-1].get_data()
    assert [1.0] == list(heights)
    assert [-0.5, 0.5] == list(edges)


def test_sensitivity_puts_the_worst_layer_on_top(ax):
    plot.sensitivity({"good": 50.0, "bad": 20.0}, ax=ax)
    assert ["bad", "good"] == [label.get_text() for label in ax.get_yticklabels()]
    assert ax.yaxis_inverted()


def test_sensitivity_needs_a_layer():
    with pytest.raises(ValueError, match="one layer at least"):
        plot.sensitivity({})


def test_waterfall_begins_each_bar_where_the_one_before_ends(ax):
    """The last ends at the quantized model, and layers that change least share a line."""
    plot.waterfall(ledger(), layers=1, ax=ax)
    assert ["a", "2 layers"] == [label.get_text() for label in ax.get_yticklabels()]
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert [(0, 4), (4, 7), (7, 6), (6, 8)] == bars
    assert [8.0, 8.0] == list(lines_by_label(ax)["quantized model"].get_xdata())


def test_waterfall_needs_an_entry():
    with pytest.raises(ValueError, match="layers must be 1 at least, got 0"):
        plot.waterfall(ledger(), layers=0)
    with pytest.raises(ValueError, match="one entry at least"):
        plot.waterfall(SimpleNamespace(entries=[]))


def test_weights_and_scales_draws_the_reach_of_the_integers(ax):
    """-128 and 127 times the scale."""
    weight = pyqref.linspace(0, 4, 100).reshape(4, 25)
    plot.weights_and_scales(weight, {"q": quantized_weight()}, ax=ax)
    ends = sorted(float(patch.get_data().values[0]) for patch in ax.patches)
    assert [-128 * 0.05, 127 * 0.05] == pytest.approx(ends)


def test_weights_and_scales_refuses_another_number_of_channels():
    weight = pyqref.zeros(3, 2)
    scales, zeros = pyqref.ones(2), pyqref.zeros(2, dtype=pyqref.int64)
    quantized = pyqref.quantize_per_channel(pyqref.zeros(2, 2), scales, zeros, 0, pyqref.qint8)
    with pytest.raises(ValueError, match="must have 3 channels, got 2"):
        plot.weights_and_scales(weight, quantized)


def test_channel_error_refuses_bounds_of_unknown_variants():
    with pytest.raises(ValueError, match=r"must name variants of errors, \['a'\], got \['b'\]"):
        plot.channel_error({"a": [1.0]}, bounds={"b": [1.0]})


def test_observer_range_asks_an_observer(ax):
    """0 to 25.5 with 8 bits: the grid reaches as far as the data."""
    observer = pyqref.quantization.MinMaxObserver()
    observer(pyqref.tensor([0.0, 25.5]))
    plot.observer_range([0.0, 25.5], {"MinMax": observer}, ax=ax)
    assert [0.0, 25.5] == pytest.approx(list(lines_by_label(ax)["MinMax"].get_xdata()))


@pytest.mark.parametrize(
    "call",
    [
        lambda: plot.error_histogram({}),
        lambda: plot.error_histogram([]),
        lambda: plot.error_histogram([float("nan")]),
        lambda: plot.error_histogram([0.0], bound=0),
        lambda: plot.channel_error({}),
        lambda: plot.layer_sqnr({}),
        lambda: plot.bits_sweep({}),
        lambda: plot.observer_range([], {}),
        lambda: plot.observer_range([float("inf")], {}),
        lambda: plot.weights_and_scales(np.zeros((2, 2)), {}),
    ],
)
def test_what_cannot_be_drawn_is_refused(call):
    """An error names the argument that cannot be drawn."""
    from matplotlib import pyplot

    with pytest.raises(ValueError, match=r"(errors|bound|ratios|values|quantized)"):
        call()
    pyplot.close("all")


def test_observer_range_refuses_observers_of_channels(ax):
    observer = pyqref.quantization.PerChannelMinMaxObserver()
    observer(pyqref.rand(3, 4))
    with pytest.raises(ValueError, match=r"observer 'weight' must have one scale, got 3"):
        plot.observer_range([1.0], {"weight": observer}, ax=ax)


def test_frontier_tells_the_beaten_from_the_best(ax):
    """The staircase stays at a value until the next cost; what is beaten stands beside it."""
    best = [(4.0, 0.9), (8.0, 0.97)]
    plot.frontier([*best, (5.0, 0.8)], frontier=best, chosen=best[0], budget=6.0, ax=ax)
    lines = lines_by_label(ax)
    assert best == list(zip(*lines["frontier"].get_data(), strict=True))
    assert [5.0] == list(lines["beaten"].get_xdata())
    assert [6.0, 6.0] == list(lines["budget"].get_xdata())
    assert [(4.0, 0.9)] == list(zip(*lines["chosen"].get_data(), strict=True))
    stairs = next(each for each in ax.get_lines() if each.get_drawstyle() == "steps-post")
    assert best == list(zip(*stairs.get_data(), strict=True))


def test_frontier_needs_a_point(ax):
    with pytest.raises(ValueError, match="points must have one model at least"):
        plot.frontier([], ax=ax)
