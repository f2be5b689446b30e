"""Following the messages of the model report works."""

from __future__ import annotations

import pytest
from messages.following import says

import pyqref
from pyqref import nn, quantization
from pyqref.quantization import quantize_fx
from pyqref.quantization.fx import _model_report as reports


def report(detector: reports.DetectorBase) -> reports.ModelReport:
    """Return the report of a model with one linear layer."""
    mapping = quantization.get_default_qconfig_mapping()
    model = nn.Sequential(nn.Linear(2, 2)).eval()
    return reports.ModelReport(
        quantize_fx.prepare_fx(model, mapping, (pyqref.ones(1, 2),)), {detector}
    )


def test_steps_in_their_order() -> None:
    """Prepare, calibrate, report; remove last."""
    made = report(reports.OutlierDetector())
    with says("call prepare_detailed_calibration() first"):
        made.generate_model_report(False)
    model = made.prepare_detailed_calibration()
    with says("Run the report generation next after calibration"):
        made.prepare_detailed_calibration()
    model(pyqref.randn(8, 2))
    with says("call generate_model_report() first"):
        made.generate_visualizer()
    made.generate_model_report(remove_inserted_observers=False)
    made.generate_visualizer()
    made.generate_model_report(True)
    with says("pass remove_inserted_observers=False to go on"):
        made.generate_model_report(False)


def test_one_feature_is_drawn() -> None:
    """The message lists those that can be."""
    made = report(reports.OutlierDetector())
    made.prepare_detailed_calibration()(pyqref.randn(8, 2))
    made.generate_model_report(False)
    shown = made.generate_visualizer()
    with pytest.raises(ValueError, match=r"as one of .*'outlier_detection_.*got 'outlier'"):
        shown._get_plottable_data("outlier", "")
    assert shown._get_plottable_data("percentile_ratios", "")[2]


def test_nothing_is_equalized() -> None:
    """The other mapping is there."""
    made = report(reports.InputWeightEqualizationDetector(0.01))
    made.prepare_detailed_calibration()(pyqref.randn(8, 2))
    with says("use the qconfig of generate_quantization_qconfig, whose weights may be per channel"):
        made.generate_equalization_mapping()
    assert list(made.generate_qconfig_mapping().module_name_qconfigs)


def test_arguments() -> None:
    """Each message names its argument."""
    for make, text in [
        (lambda: reports.ModelReport(nn.Linear(1, 1), set()), "at least 1 desired report"),
        (lambda: reports.OutlierDetector(reference_percentile=3), "reference_percentile must be"),
        (lambda: reports.InputWeightEqualizationDetector(2.0), "ratio_threshold must be > 0"),
        (lambda: reports.PerChannelDetector("x"), "backend must be one of 'fbgemm'"),
        (
            lambda: reports.ModelReport(
                nn.Linear(1, 1), {reports.OutlierDetector(), reports.OutlierDetector()}
            ),
            "must be of different kinds",
        ),
        (lambda: reports.ModelReportObserver()(pyqref.ones(3)), "must have elements and an axis 1"),
    ]:
        with pytest.raises(ValueError, match=text):
            make()
    with pytest.raises(RuntimeError, match="should not be called"):
        reports.ModelReportObserver().calculate_qparams()
    observer = reports.ModelReportObserver()
    observer(pyqref.ones(2, 2))
    with pytest.raises(ValueError, match="Range for Epoch is 0"):
        observer.get_batch_to_epoch_ratio()
    observer.reset_batch_and_epoch_values()
    assert observer.num_batches_tracked == 0
