"""Findings made up by hand, and one tiny real run shared by all tests that look at it."""

from __future__ import annotations

import io

import numpy as np
import pytest

from pyqref.demo.findings import Findings, Reading, Row


@pytest.fixture
def findings():
    """A complete set of findings with round numbers, no network involved."""
    generator = np.random.default_rng(0)
    static = [
        Row(
            "CNN",
            "static",
            engine,
            weights,
            observer,
            float_accuracy=99.0,
            quantized_accuracy=98.5,
            weight_bytes=25_000,
            latency={1: 120.0, 64: 12.0},
            sqnr=30.0 + 2 * (weights == "per channel") + (observer == "Histogram"),
        )
        for engine in ("fbgemm", "qnnpack")
        for weights in ("per tensor", "per channel")
        for observer in ("MinMax", "Histogram")
    ]
    rows = [
        Row("CNN", "float", float_accuracy=99.0, weight_bytes=100_000, latency={1: 90, 64: 9}),
        Row("CNN", "fused", float_accuracy=99.0, weight_bytes=98_000, latency={1: 80, 64: 8}),
        *static,
        Row("CNN", "qat", "fbgemm", "per channel", "MovingAverage", 99.0, 98.9, 98.8, 25_000),
        Row("LSTM", "float", float_accuracy=96.0, weight_bytes=78_000),
        Row("LSTM", "dynamic", "fbgemm", "per tensor", "", 96.0, None, 95.8, 20_000, {}, np.inf),
    ]
    ranges = {"MinMax": (0.0, 4.0), "MovingAverage": (0.0, 3.8), "Histogram": (0.0, 3.0)}
    layers = {"quant": 50.0, "conv": 38.0, "head": 33.0}
    return Findings(
        rows=rows,
        environment={"pyqref": "0.0", "processor": "a <fast> & small one"},
        ranges={name: (generator.exponential(0.5, 500), ranges) for name in "abcd"},
        layer_errors={"per tensor, MinMax": layers, "per channel, MinMax": layers},
        logit_errors={"good": generator.normal(0, 0.1, 99), "bad": generator.normal(0, 0.3, 99)},
        channel_errors={"per tensor": np.array([2.0, 1.0]), "per channel": np.array([0.5, 0.6])},
        channel_layer="conv",
        bits={
            "per tensor": {2: 15.0, 4: 97.0, 8: 99.0},
            "per channel": {2: 30.0, 4: 98.5, 8: 99.0},
        },
        readings=[
            Reading(generator.random((8, 8)), label=3, exact=3, rounded=5, margin=0.1),
            Reading(generator.random((8, 8)), label=7, exact=1, rounded=1, margin=0.2),
            Reading(generator.random((8, 8)), label=2, exact=2, rounded=2, margin=4.0),
        ],
    )


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """The whole demo at its smallest: what it found, its folder, what it printed."""
    from pyqref.demo.plan import Plan
    from pyqref.demo.run import run

    plan = Plan(
        out=tmp_path_factory.mktemp("demo") / "report",
        quick=True,
        epochs=1,
        threads=1,
        train_limit=128,
        test_limit=64,
    )
    stream = io.StringIO()
    return run(plan, stream), plan, stream.getvalue()
