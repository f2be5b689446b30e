"""Calibration in pieces: :func:`.calibrate.calibrate` runs a prepared model on any amount of data.

Read :mod:`.sources` (from data to batches), :mod:`.pieces` (what one process does with a few of
them), :mod:`.pools` (which processes do it), :mod:`.checkpoint`, and then :mod:`.calibrate`.
"""

from .calibrate import calibrate
from .pieces import CalibrationError

__all__ = ["CalibrationError", "calibrate"]
