"""Plan of a run of the demo: what it does, and how much."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Plan", "available_threads"]

EPOCHS = 5
QUICK_EPOCHS = 3


def available_threads() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Plan:
    """Options of the command line, and the sizes that follow from them.

    Attributes
    ----------
    out
        Folder of the report.
    seed
        Chooses the split, the first weights and the order of the images.
    threads
        Threads of the kernels; no number but the latencies depends on it.
    quick
        Fewer epochs, fewer widths, fewer repetitions of each timing.
    epochs
        Passes of the CNN over the training images; 0 for the usual number.
    train_limit, test_limit
        Use only so many images; None for all.
    """

    out: Path = Path("pyqref-report")
    seed: int = 0
    threads: int = field(default_factory=available_threads)
    quick: bool = False
    epochs: int = 0
    train_limit: int | None = None
    test_limit: int | None = None

    @property
    def cnn_epochs(self) -> int:
        """Epochs of the float CNN."""
        return self.epochs or (QUICK_EPOCHS if self.quick else EPOCHS)

    @property
    def qat_epochs(self) -> int:
        """Epochs of fine-tuning with fake quantization: as many again."""
        return self.cnn_epochs

    @property
    def lstm_epochs(self) -> int:
        """Epochs of the LSTM, which needs more of them because they are short."""
        return 3 * self.cnn_epochs

    @property
    def bits(self) -> tuple[int, ...]:
        """Widths of the sweep."""
        return (2, 3, 4, 6, 8) if self.quick else (2, 3, 4, 5, 6, 7, 8)

    @property
    def trained_bits(self) -> tuple[int, ...]:
        """Widths of the sweep for which the network is also trained on."""
        return () if self.quick else (2, 3, 4)

    @property
    def repeats(self) -> dict[int, int]:
        """Number of calls that are timed for each batch size."""
        return {1: 31, 64: 7} if self.quick else {1: 101, 64: 25}
