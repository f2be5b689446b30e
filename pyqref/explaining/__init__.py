"""Where the numbers of a quantized model come from, and what makes them wrong.

:func:`ledger` splits the error of a quantized model into layers and causes that add up exactly;
:func:`explain_diff` says where two quantized models part, and why.
"""

from .accounting import ledger as ledger
from .book import Entry as Entry
from .book import Ledger as Ledger
from .differences import explain_diff as explain_diff
from .report import Differences as Differences
from .report import Element as Element
from .report import LayerDifference as LayerDifference

__all__ = [
    "Differences",
    "Element",
    "Entry",
    "LayerDifference",
    "Ledger",
    "explain_diff",
    "ledger",
]
