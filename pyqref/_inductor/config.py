"""Settings of a compiler that is not there: any can be set."""

from types import SimpleNamespace

__all__ = ["cpp", "cpp_wrapper", "freezing", "max_autotune", "trace", "triton"]

cpp = SimpleNamespace(threads=-1)
cpp_wrapper = False
freezing = False
max_autotune = False
trace = SimpleNamespace(enabled=False)
triton = SimpleNamespace(cudagraphs=False)
