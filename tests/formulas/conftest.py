"""Exact arithmetic is slow now and then: examples have no deadline, and never vary."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("exact", deadline=None, derandomize=True)
settings.load_profile("exact")
