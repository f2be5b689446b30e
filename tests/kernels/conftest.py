"""Every test that asks for ``kernel`` runs once for each kernel that this machine can run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pyqref import kernels
from pyqref._kernels import threads

HERE = Path(__file__).parent
#: Alone, and so many that few things can be split among them evenly.
N_THREADS = (1, 3)


def pairs() -> list[tuple[str, int]]:
    """Kernels and numbers of threads.

    What is split among threads stands in the one body that is compiled for every instruction set:
    one of them, the fastest, runs with either number, the others are split as well. The reference
    does not know how many there are.
    """
    *slower, fastest = kernels.usable()
    found = [(kernel, 1 if kernel == "reference" else N_THREADS[-1]) for kernel in slower]
    return [*found, *((fastest, each) for each in N_THREADS)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give ``kernel`` and ``n_threads`` their values, where a test does not."""
    given = {
        name for mark in metafunc.definition.iter_markers("parametrize") for name in mark.args[:1]
    }
    names = {"kernel", "n_threads"} & {*metafunc.fixturenames} - given
    if names == {"n_threads"}:
        metafunc.parametrize("n_threads", N_THREADS, indirect=True)
    elif names == {"kernel"}:
        metafunc.parametrize("kernel", kernels.usable(), indirect=True)
    elif names:
        metafunc.parametrize(("kernel", "n_threads"), pairs(), indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the reference one set of parameters of each test.

    It is the equations: to compare it with them shows that they are called, and once is enough.
    """
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    seen: set[tuple[Path, str]] = set()
    for item in items:
        test = item.path, getattr(item, "originalname", item.name)
        values = getattr(getattr(item, "callspec", None), "params", {})
        is_reference = item.path.parent == HERE and values.get("kernel") == "reference"
        (left_out if is_reference and test in seen else kept).append(item)
        if is_reference:
            seen.add(test)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


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
