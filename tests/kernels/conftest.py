"""Every test that asks for ``kernel`` runs once for each kernel that this machine can run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyqref import kernels
from pyqref._kernels import threads


@pytest.fixture(params=kernels.usable())
def kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    with kernels.use(request.param):
        yield request.param


@pytest.fixture(params=[name for name in kernels.usable() if name != "reference"])
def compiled_kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    with kernels.use(request.param):
        yield request.param


@pytest.fixture(params=[1, 2, 3])
def n_threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Give kernels this number, however little there is to do.

    It is set behind set_num_threads, which would warn of it without OpenMP.
    """
    monkeypatch.setattr(threads, "limit", request.param)
    parallel = getattr(threads, "_parallel", None)
    if parallel is not None:
        parallel.use_every_thread(True)
    yield request.param
    if parallel is not None:
        parallel.use_every_thread(False)
