"""Fixtures for every test: the installed package with its default settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import pyqref

# The same examples in every run, however slow the machine.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")


def pytest_report_header() -> str:
    """Say which package is tested, on which kernel."""
    return f"pyqref {pyqref.__version__} from {Path(pyqref.__file__).parent}"


@pytest.fixture(autouse=True)
def _default_settings() -> Iterator[None]:
    """Each test starts from, and leaves behind, the default engine and conventions."""
    settings = pyqref.backends.quantized
    engine, conventions = settings.engine, settings.conventions
    yield
    settings.engine, settings.conventions = engine, conventions
