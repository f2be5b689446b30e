"""Version of the package."""

__all__ = ["__version__", "cuda", "hip"]

#: The only place that holds it; between releases it ends in ``.dev0``.
__version__ = "0.2.0.dev0"

#: Versions of CUDA and of ROCm: there is neither.
cuda: str | None = None
hip: str | None = None
