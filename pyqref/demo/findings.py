"""Findings of a run: one row for each variant, and the numbers behind every figure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

__all__ = ["Findings", "Reading", "Row"]

Array = np.ndarray[Any, Any]


@dataclass
class Row:
    """One line of the table.

    Attributes
    ----------
    network
        ``"CNN"`` or ``"LSTM"``.
    method
        ``"float"``, ``"fused"``, ``"static"``, ``"qat"`` or ``"dynamic"``.
    engine, weights, observer
        How it was quantized; empty where that has no meaning.
    float_accuracy
        Of the same weights without rounding, in percent.
    fake_accuracy
        Of the fake-quantized model, in percent; None where there is none.
    quantized_accuracy
        Of the converted model, in percent; None for a float model.
    weight_bytes
        Bytes of the state dict.
    latency
        For each batch size, microseconds an image.
    sqnr
        Of the logits, in dB, against the same weights in float32; None for a float model.
    """

    network: str
    method: str
    engine: str = ""
    weights: str = ""
    observer: str = ""
    float_accuracy: float | None = None
    fake_accuracy: float | None = None
    quantized_accuracy: float | None = None
    weight_bytes: int = 0
    latency: dict[int, float] = field(default_factory=dict)
    sqnr: float | None = None

    @property
    def name(self) -> str:
        """All that tells this row from the others, in words."""
        words = (self.network, self.method, self.engine, self.weights, self.observer)
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Reading:
    """Readings of one test image by two models.

    Attributes
    ----------
    pixels
        `(8, 8)`.
    label
        The digit that it is.
    exact, rounded
        What the float and the quantized model say.
    margin
        By how much the quantized model's largest logit exceeds the next one.
    """

    pixels: Array
    label: int
    exact: int
    rounded: int
    margin: float


@dataclass
class Findings:
    """Everything that the report is made of.

    Attributes
    ----------
    rows
        The table.
    environment
        Label and value of what the numbers depend on.
    ranges
        For each layer: its activations, and the range that each observer chose.
    layer_errors
        For each variant and layer, dB.
    logit_errors
        For each variant, quantized minus float.
    channel_errors
        For each variant, percent for each output channel.
    channel_layer
        The layer that these channels belong to.
    bits
        For each variant and width, accuracy in percent.
    readings
        Every test image, the one with the smallest margin first.
    """

    rows: list[Row]
    environment: dict[str, str]
    ranges: dict[str, tuple[Array, dict[str, tuple[float, float]]]]
    layer_errors: dict[str, dict[str, float]]
    logit_errors: dict[str, Array]
    channel_errors: dict[str, Array]
    channel_layer: str
    bits: dict[str, dict[int, float]]
    readings: list[Reading]

    def row(self, network: str, method: str, **wanted: str) -> Row:
        """The first row with these properties."""
        wanted = {"network": network, "method": method, **wanted}
        for row in self.rows:
            if all(getattr(row, key) == value for key, value in wanted.items()):
                return row
        raise LookupError(f"no row of the table has {wanted}")

    def numbers(self) -> dict[str, Any]:
        """Return the contents of ``results.json``; all but the latencies follow from the seed."""
        return {
            "environment": self.environment,
            "rows": [asdict(row) for row in self.rows],
            "ranges": {layer: chosen for layer, (_, chosen) in self.ranges.items()},
            "layer_sqnr_db": self.layer_errors,
            "channel_error_percent": {
                name: each.tolist() for name, each in self.channel_errors.items()
            },
            "accuracy_by_bits": self.bits,
        }
