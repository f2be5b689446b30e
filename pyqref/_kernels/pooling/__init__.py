"""Pooling of bytes: the largest of each window, or the rounded mean.

The same arguments and results as in :mod:`pyqref.numerics.pooling`.
"""

from .windows import adaptive_avg_pool as adaptive_avg_pool
from .windows import avg_pool as avg_pool
from .windows import max_pool as max_pool

__all__ = ["adaptive_avg_pool", "avg_pool", "max_pool"]
