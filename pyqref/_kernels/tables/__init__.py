"""Rows of tables of floats or bytes, looked up or joined bag by bag.

As in :mod:`pyqref.numerics.embedding` and :mod:`pyqref.numerics.float_embedding`.
"""

from .bags import embedding_bag as embedding_bag
from .bags import embedding_rows as embedding_rows
from .bags import float_bag as float_bag
from .bags import float_rows as float_rows
from .bags import packed_bag as packed_bag

__all__ = ["embedding_bag", "embedding_rows", "float_bag", "float_rows", "packed_bag"]
