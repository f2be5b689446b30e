"""The plugin of pyqref for pytest: fixtures that run a test on every engine and every kernel.

pytest finds it by itself where pyqref is installed. It imports pyqref only for tests that ask for a
fixture: ``pyqref_engine`` sets each engine in turn, ``pyqref_kernel`` each kernel that this machine
can run; both are put back afterwards. Their values are the names.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

__all__ = ["pyqref_engine", "pyqref_kernel", "pytest_generate_tests"]

#: Engines whose integers differ.
ENGINES = ("fbgemm", "qnnpack")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for ``pyqref_kernel`` once for each kernel."""
    if "pyqref_kernel" in metafunc.fixturenames:
        from pyqref import kernels

        metafunc.parametrize("pyqref_kernel", kernels.usable(), indirect=True)


@pytest.fixture(params=ENGINES)
def pyqref_engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each engine in turn, set as ``pyqref.backends.quantized.engine``."""
    from pyqref.backends import quantized

    before = quantized.engine
    quantized.engine = request.param
    yield request.param
    quantized.engine = before


@pytest.fixture
def pyqref_kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each kernel in turn that is built and that this machine can run, put to use."""
    from pyqref import kernels

    with kernels.use(request.param):
        yield request.param
