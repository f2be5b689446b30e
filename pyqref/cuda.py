"""There is no CUDA here; scripts may ask."""

from __future__ import annotations

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    """Always false: everything runs on the CPU."""
    return False


def device_count() -> int:
    """Always 0."""
    return 0


def manual_seed(seed: int) -> None:
    """No device, no stream to seed."""


def manual_seed_all(seed: int) -> None:
    """No device, no stream to seed."""
