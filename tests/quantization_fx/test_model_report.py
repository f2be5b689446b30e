"""The model report: its numbers are those of torch, recorded and live."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.quantization.fx import _model_report as ours
from pyqref.quantization.fx._model_report.model_report_observer import ModelReportObserver

DETECTORS: dict[str, tuple[str, dict[str, Any]]] = {
    "dynamic_vs_static_detector": ("DynamicStaticDetector", {"tolerance": 0.6}),
    "input_weight_equalization_detector": (
        "InputWeightEqualizationDetector",
        {"ratio_threshold": 0.8},
    ),
    "outlier_detector": ("OutlierDetector", {"ratio_threshold": 2, "reference_percentile": 0.8}),
    "per_channel_detector": ("PerChannelDetector", {"backend": "fbgemm"}),
}


def numbers(seed: int, *shape: int) -> np.ndarray:
    """Normal numbers on a grid of eighths, so that sums of products are exact in any order."""
    normal = np.random.default_rng(seed).standard_normal(shape)
    return (np.rint(8 * normal) / 8).astype(np.float32)


def prepared(torch: Any) -> Any:
    """A convolution with a ReLU, a grouped one and two linear layers, with known weights."""
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, groups=2), nn.Flatten()),
        *(nn.Linear(16, 5), nn.Sigmoid(), nn.Linear(5, 3)),
    ).eval()
    for seed, each in enumerate(model.parameters()):
        each.data = torch.from_numpy(numbers(seed, *each.shape))
    fx = import_module(f"{torch.__name__}.ao.quantization.quantize_fx")
    mapping = torch.ao.quantization.get_default_qconfig_mapping("fbgemm")
    return fx.prepare_fx(model, mapping, (torch.zeros(1, 2, 4, 4),))


def report(torch: Any, name: str) -> tuple[Any, tuple[str, dict[str, Any]]]:
    """The report of one detector after three batches of different size."""
    package = f"{torch.__name__}.ao.quantization.fx._model_report"
    kind, options = DETECTORS[name]
    detector = getattr(import_module(f"{package}.detector"), kind)(**options)
    made = import_module(f"{package}.model_report").ModelReport(prepared(torch), {detector})
    model = made.prepare_detailed_calibration()
    for batch in range(3):
        x = numbers(20 + batch, 3, 2, 4, 4) * (1 + batch)
        if batch == 1:
            x[:, 1] = 0.25  # a channel that is constant
        model(torch.from_numpy(x))
    return made, made.generate_model_report(remove_inserted_observers=False)[name]


def plain(value: Any) -> Any:
    """Tensors as lists."""
    if hasattr(value, "detach"):
        return value.detach().tolist()
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value


def close(one: Any, other: Any) -> None:
    """Equal, floats to 1e-6."""
    if isinstance(one, dict):
        assert sorted(one) == sorted(other)
        for name in one:
            close(one[name], other[name])
    elif isinstance(one, list) or type(one) is float:
        np.testing.assert_allclose(np.float64(one), np.float64(other), rtol=1e-6, atol=1e-6)
    else:
        assert one == other


@pytest.mark.parametrize("name", DETECTORS)
def test_the_numbers_are_those_of_torch(name: str) -> None:
    """Live: the same features of the same modules, the same words, the same suggestions."""
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, (words, expected) = report(torch, name)
    mine, (text, found) = report(pyqref, name)
    close(plain(expected), plain(found))
    if name != "outlier_detector":  # whose words have floats in them
        assert words == text
    else:
        assert words.count("\n") == text.count("\n")
    assert theirs.get_observers_of_interest() == mine.get_observers_of_interest()
    mapping = theirs.generate_qconfig_mapping().module_name_qconfigs
    for path, qconfig in mine.generate_qconfig_mapping().module_name_qconfigs.items():
        for each in ("weight", "activation"):
            wanted, got = getattr(mapping.pop(path), each, None), getattr(qconfig, each)
            break
        assert type(wanted()).__name__ == type(got()).__name__
    assert not mapping


def test_recorded_numbers() -> None:
    """The numbers for the first layer are those of torch 2.13."""
    _, (_, dynamic) = report(pyqref, "dynamic_vs_static_detector")
    _, (_, outliers) = report(pyqref, "outlier_detector")
    _, (_, equalization) = report(pyqref, "input_weight_equalization_detector")
    found = {
        "before": dynamic["0.0"]["input_activation_dynamic_static_comp_stat"],
        "behind": dynamic["0.0"]["output_activation_dynamic_static_comp_stat"],
        "outliers": outliers["0.0"]["outlier_detection_percentile_ratios"],
        "constant": outliers["0.0"]["constant_batch_counts"],
        "equalization": equalization["0.0"]["input_weight_channel_comparison_metrics"],
        "grouped": equalization["2"]["input_weight_channel_comparison_metrics"],
    }
    close(RECORDED, plain(found))


RECORDED: dict[str, Any] = {
    "before": 0.6169590950012207,
    "behind": 0.6022180318832397,
    "outliers": [2.5166666507720947, 2.069444417953491],
    "constant": [0, 1],
    "equalization": [0.8507699966430664, 1.0],
    "grouped": [1.021382451057434, 1.0788025856018066, 1.0, 1.0204451084136963],
}


def test_tables() -> None:
    """Modules with different numbers of channels stand in one table; filters choose."""
    made, _ = report(pyqref, "outlier_detector")
    shown = made.generate_visualizer()
    assert "0.0" in shown.get_all_unique_module_fqns()
    names = shown.get_all_unique_feature_names()
    assert "outlier_detection_percentile_ratios" in names
    assert "outliers_detected" in shown.get_all_unique_feature_names(False) - names
    headers, rows = shown.generate_filtered_tables(feature_filter="per_channel_max")[
        "channel_level_info"
    ]
    assert ["idx", "layer_fqn", "channel", "input_activation_per_channel_max"] == headers
    assert list(range(len(rows))) == [row[0] for row in rows]
    assert [("0.0", 0), ("0.0", 1)] == [tuple(row[1:3]) for row in rows][:2]
    _, only = shown.generate_filtered_tables(module_fqn_filter="6")["tensor_level_info"]
    assert ["6"] == [row[1] for row in only]
    assert ([], []) == shown.generate_filtered_tables("nothing")["tensor_level_info"]


def test_tables_and_figures_are_shown(capsys, monkeypatch) -> None:
    """Tables are printed on standard output, and figures drawn."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    made, _ = report(pyqref, "dynamic_vs_static_detector")
    shown = made.generate_visualizer()
    shown.generate_table_visualization("comp_stat")
    text = capsys.readouterr().out
    assert text.startswith("Tensor Level Information \nidx  layer_fqn  input_activation_dynamic")
    shown.generate_plot_visualization("input_activation_dynamic_static_comp_stat")
    line = pyplot.gca().get_lines()[0]
    assert [0, 1, 2, 3] == list(line.get_xdata())
    shown.generate_histogram_visualization("input_activation_dynamic_static_comp_stat", num_bins=3)
    assert 4 == sum(bar.get_height() for bar in pyplot.gca().patches)
    pyplot.close("all")
    made, _ = report(pyqref, "outlier_detector")
    made.generate_visualizer().generate_plot_visualization("per_channel_max")
    pyplot.close("all")


def test_observers_come_and_go() -> None:
    """Removed observers leave the graph as it was."""
    model = prepared(pyqref)
    before = str(model.graph)
    made = ours.ModelReport(model, {ours.DynamicStaticDetector(), ours.OutlierDetector()})
    made.prepare_detailed_calibration()
    assert before != str(model.graph)
    model(pyqref.from_numpy(numbers(0, 2, 2, 4, 4)))
    made.generate_model_report(remove_inserted_observers=True)
    assert before == str(model.graph)
    assert not any("model_report" in name for name, _ in model.named_modules())


def test_ratios_beyond_float32() -> None:
    """Finite data whose ratio overflows: the largest number counts, and nothing is warned of."""
    observer = ModelReportObserver()
    observer(pyqref.tensor([[1.0, 2.0**-126], [1.0, 4.0]]))
    largest = float(np.finfo(np.float32).max)
    assert [1.0, largest] == observer.average_percentile_ratio.tolist()
