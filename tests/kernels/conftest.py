"""Every test that asks for ``kernel`` runs once for each kernel that this machine can run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyqref import kernels
from pyqref._kernels import threads

N_THREADS = (1, 2, 3)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The reference does not know how many threads there are: one number is enough for it."""
    given = {
        name for mark in metafunc.definition.iter_markers("parametrize") for name in mark.args[:1]
    }
    names = {"kernel", "n_threads"} & {*metafunc.fixturenames} - given
    if names == {"n_threads"}:
        metafunc.parametrize("n_threads", N_THREADS, indirect=True)
    elif names == {"kernel"}:
        metafunc.parametrize("kernel", kernels.usable(), indirect=True)
    elif names:
        pairs = [
            (kernel, n_threads)
            for kernel in kernels.usable()
            for n_threads in (N_THREADS if kernel != "reference" else (1,))
        ]
        metafunc.parametrize(("kernel", "n_threads"), pairs, indirect=True)


@pytest.fixture
def kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    with kernels.use(request.param):
        yield request.param


@pytest.fixture(params=[name for name in kernels.usable() if name != "reference"])
def compiled_kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    with kernels.use(request.param):
        yield request.param


@pytest.fixture
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
