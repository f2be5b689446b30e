"""Environment on which the numbers of a run depend."""

from __future__ import annotations

import platform
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

import pyqref

from .plan import Plan

__all__ = ["describe"]


def describe(plan: Plan) -> dict[str, str]:
    """Label and value, in the order in which the report shows them."""
    return {
        "pyqref": pyqref.__version__,
        "kernel": pyqref.kernels.in_use(),
        "threads": str(plan.threads),
        "seed": str(plan.seed),
        "epochs": f"{plan.cnn_epochs} CNN, {plan.qat_epochs} QAT, {plan.lstm_epochs} LSTM",
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def processor() -> str:
    """Name of the processor, as the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
