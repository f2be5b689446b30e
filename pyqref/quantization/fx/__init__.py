"""Graph mode, pass by pass."""

from __future__ import annotations
