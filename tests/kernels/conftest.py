"""Every test that asks for ``kernel`` runs once for each kernel that this machine can run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyqref import _kernels, kernels


@pytest.fixture(params=kernels.usable())
def kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    with kernels.use(request.param):
        yield request.param


@pytest.fixture(params=[name for name in kernels.usable() if name != "reference"])
def compiled_kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    with kernels.use(request.param):
        yield request.param


@pytest.fixture(params=[1, 2, 3])
def n_threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = _kernels.get_num_threads()
    _kernels.set_num_threads(request.param)
    yield request.param
    _kernels.set_num_threads(before)
