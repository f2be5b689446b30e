"""Version of the package."""

__all__ = ["__version__", "cuda", "hip"]

__version__ = "0.1.0"

#: Versions of CUDA and of ROCm: there is neither.
cuda: str | None = None
hip: str | None = None
