"""The run itself: train, quantize in every way, measure, look inside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyqref
from pyqref import Tensor, nn

from . import bits, dynamic, inspection, measure, qat, static
from .console import Console
from .data import Digits, load_digits
from .environment import describe
from .findings import Array, Findings, Row
from .models import DigitCNN, RowLSTM
from .plan import Plan
from .train import predict, train

__all__ = ["Study"]

CNN_LR = 5e-3
LSTM_LR = 2e-2
OBSERVED_LAYERS = ["quant", "stem.conv", "widen.conv", "block"]
COMPARED_LAYER = "block.conv1"
TRAINED = "per channel, trained on"


@dataclass
class Candidate:
    """A model, its row of the table, and the engine that runs it."""

    row: Row
    model: nn.Module
    engine: str = "fbgemm"


class Study:
    """All steps of the demo, in the order in which :meth:`run` takes them.

    Parameters
    ----------
    plan
        What to do.
    console
        Where the progress is shown.
    """

    def __init__(self, plan: Plan, console: Console) -> None:
        self.plan = plan
        self.console = console
        self.candidates: list[Candidate] = []

    def run(self) -> Findings:
        """Do everything; what was found out is returned, nothing is written."""
        pyqref.set_num_threads(self.plan.threads)
        with blas_threads(1):
            self.digits = self.load()
            self.cnn = self.train_cnn()
            self.quantize_statically()
            self.fine_tune()
            self.lstm = self.train_lstm()
            self.quantize_dynamically()
            sweep = self.sweep_bits()
            findings = self.look_inside(sweep)
            self.time_all()
        return findings

    def load(self) -> Digits:
        """Load the digits, or as many as the plan allows."""
        with self.console.stage("Load the digits", 1) as step:
            digits = load_digits(self.plan.seed)
            train_limit = self.plan.train_limit or len(digits.train_images)
            digits = digits.limited(train_limit, self.plan.test_limit or len(digits.test_images))
            step(f"{len(digits.train_images)} to learn, {len(digits.test_images)} to test")
        return digits

    def train_cnn(self) -> nn.Module:
        """Train the CNN; its row, and that of its fused copy."""
        model = self.train(DigitCNN, "Train the CNN", self.plan.cnn_epochs, CNN_LR)
        self.fused = static.fused(model)
        self.add_float(Row("CNN", "float"), model)
        self.add_float(Row("CNN", "fused"), self.fused)
        return model

    def train_lstm(self) -> nn.Module:
        """Train the LSTM, and add its row."""
        model = self.train(RowLSTM, "Train the LSTM", self.plan.lstm_epochs, LSTM_LR)
        self.add_float(Row("LSTM", "float"), model)
        return model

    def train(self, network: type[nn.Module], title: str, epochs: int, lr: float) -> nn.Module:
        """Train one network from the seed, with a bar."""
        pyqref.manual_seed(self.plan.seed)
        model = network()
        with self.console.stage(title, epochs) as step:
            train(
                model,
                self.digits.train_images,
                self.digits.train_labels,
                epochs=epochs,
                lr=lr,
                after_epoch=lambda loss: step(f"loss {loss:.3f}"),
            )
        return model

    def quantize_statically(self) -> None:
        """Every engine with every kind of weight and of activation observer."""
        ways = [
            (engine, weights, observer)
            for engine in ("fbgemm", "qnnpack")
            for weights in ("per tensor", "per channel")
            for observer in static.OBSERVERS
        ]
        logits = predict(self.fused, self.digits.test_images)
        with self.console.stage("Quantize statically", len(ways)) as step:
            for engine, weights, observer in ways:
                model = static.quantize_static(
                    self.cnn,
                    self.digits.calibration_images,
                    engine=engine,
                    weights=weights,
                    observer=observer,
                )
                row = Row("CNN", "static", engine, weights, observer)
                self.add_quantized(row, model, logits)
                step(f"{row.quantized_accuracy:.1f} %")

    def fine_tune(self) -> None:
        """Train on with fake quantization, convert, add the row."""
        pyqref.manual_seed(self.plan.seed)
        engine = "fbgemm"
        with self.console.stage("Quantization-aware training", self.plan.qat_epochs) as step:
            student = qat.fine_tuned(
                self.cnn,
                self.digits,
                engine=engine,
                epochs=self.plan.qat_epochs,
                after_epoch=lambda loss: step(f"loss {loss:.3f}"),
            )
        row = Row("CNN", "qat", engine, "per channel", "MovingAverage")
        row.fake_accuracy = self.accuracy(predict(student, self.digits.test_images))
        logits = predict(qat.without_fake_quant(student), self.digits.test_images)
        self.add_quantized(row, qat.converted(student, engine=engine), logits)

    def quantize_dynamically(self) -> None:
        """The LSTM with integer and with float16 weights."""
        logits = predict(self.lstm, self.digits.test_images)
        for engine, dtype in (
            ("fbgemm", pyqref.qint8),
            ("qnnpack", pyqref.qint8),
            ("fbgemm", pyqref.float16),
        ):
            model = dynamic.quantize_recurrent(self.lstm, engine=engine, dtype=dtype)
            weights = "float16" if dtype is pyqref.float16 else "per tensor"
            self.add_quantized(Row("LSTM", "dynamic", engine, weights), model, logits)

    def sweep_bits(self) -> dict[str, dict[int, float]]:
        """Accuracy of the fake-quantized CNN for each width, without and with training."""
        calibration = self.digits.calibration_images
        sweep: dict[str, dict[int, float]] = {"per tensor": {}, "per channel": {}}
        steps = 2 * len(self.plan.bits) + len(self.plan.trained_bits)
        with self.console.stage("Try every width", steps) as step:
            for weights, found in sweep.items():
                for width in self.plan.bits:
                    model = bits.fake_quantized(self.cnn, calibration, bits=width, weights=weights)
                    found[width] = self.accuracy(predict(model, self.digits.test_images))
                    step(f"{width} bits {found[width]:.1f} %")
            for width in self.plan.trained_bits:
                pyqref.manual_seed(self.plan.seed)
                model = bits.fine_tuned(self.cnn, self.digits, bits=width, epochs=2)
                accuracy = self.accuracy(predict(model, self.digits.test_images))
                sweep.setdefault(TRAINED, {})[width] = accuracy
                step(f"{width} bits {accuracy:.1f} %")
        return sweep

    def look_inside(self, sweep: dict[str, dict[int, float]]) -> Findings:
        """Compute the numbers for the figures."""
        images = self.digits.test_images
        compared = [c for c in self.candidates if c.row.method == "static" and c.engine == "fbgemm"]
        ranges, layer_errors, channel_errors = {}, {}, {}
        steps = len(OBSERVED_LAYERS) + len(compared)
        with self.console.stage("Look inside", steps) as step, static.use_engine("fbgemm"):
            observed = inspection.activations(
                self.fused, self.digits.calibration_images, OBSERVED_LAYERS
            )
            for layer, values in observed.items():
                ranges[layer] = (values, inspection.observer_ranges(values))
                step(layer)
            for candidate in compared:
                row, model = candidate.row, candidate.model
                name = f"{row.weights}, {row.observer}"
                layer_errors[name] = inspection.layer_errors(self.fused, model, images)
                channel_errors[row.weights] = inspection.channel_errors(
                    self.fused, model, COMPARED_LAYER
                )
                step(name)
        exact = predict(self.fused, images).numpy()
        logits = self.static_logits()
        return Findings(
            rows=[candidate.row for candidate in self.candidates],
            environment=describe(self.plan),
            ranges=ranges,
            layer_errors=layer_errors,
            logit_errors={name: each - exact for name, each in logits.items()},
            channel_errors=channel_errors,
            channel_layer=COMPARED_LAYER,
            bits=sweep,
            readings=inspection.readings(
                images, self.digits.test_labels, exact, list(logits.values())[-1]
            ),
        )

    def static_logits(self) -> dict[str, Array]:
        """Logits of the farthest and of the closest static variant."""
        variants = [each for each in self.candidates if each.row.method == "static"]
        variants.sort(key=lambda each: each.row.sqnr or 0.0)
        logits = {}
        for each in (variants[0], variants[-1]):
            with static.use_engine(each.engine):
                name = f"{each.engine} {each.row.weights}, {each.row.observer}"
                logits[name] = predict(each.model, self.digits.test_images).numpy()
        return logits

    def time_all(self) -> None:
        """Fill in the latencies of all rows, one after the other."""
        with self.console.stage("Measure the latencies", len(self.candidates)) as step:
            for candidate in self.candidates:
                with static.use_engine(candidate.engine):
                    for batch_size, repeats in self.plan.repeats.items():
                        candidate.row.latency[batch_size] = measure.latency(
                            candidate.model, self.digits.test_images[:batch_size], repeats=repeats
                        )
                step("")

    def add_float(self, row: Row, model: nn.Module) -> None:
        """Measure a float model and add its row."""
        row.float_accuracy = self.accuracy(predict(model, self.digits.test_images))
        row.weight_bytes = measure.weight_bytes(model)
        self.candidates.append(Candidate(row, model))

    def add_quantized(self, row: Row, model: nn.Module, float_logits: Tensor) -> None:
        """Measure a quantized model against the logits of its float weights, and add its row."""
        with static.use_engine(row.engine):
            logits = predict(model, self.digits.test_images)
        row.float_accuracy = self.accuracy(float_logits)
        row.quantized_accuracy = self.accuracy(logits)
        row.sqnr = measure.sqnr(float_logits, logits)
        row.weight_bytes = measure.weight_bytes(model)
        self.candidates.append(Candidate(row, model, row.engine))

    def accuracy(self, logits: Tensor) -> float:
        """Percent of the test images that ``logits`` classify correctly."""
        return measure.accuracy(logits, self.digits.test_labels)


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Hold the BLAS behind NumPy to ``count`` threads.

    It adds in another order with another number of threads. One thread makes the same
    seed give the same numbers; matrices as small as these are no faster with more.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=count, user_api="blas"):
        yield
