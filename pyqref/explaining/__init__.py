"""Where the numbers of a quantized model come from, and what makes them wrong.

:func:`ledger` splits the error of a quantized model into layers and causes that add up exactly.
"""

from .accounting import ledger as ledger
from .book import Entry as Entry
from .book import Ledger as Ledger

__all__ = [
    "Entry",
    "Ledger",
    "ledger",
]
