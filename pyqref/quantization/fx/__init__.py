"""Graph mode, pass by pass."""

from __future__ import annotations

from . import custom_config as custom_config

__all__ = ["custom_config"]
