"""Types under the names that scripts import from ``torch.jit.annotations``."""

from __future__ import annotations

from typing import Any as Any
from typing import Dict as Dict  # noqa: UP035
from typing import Final as Final
from typing import List as List  # noqa: UP035
from typing import NamedTuple as NamedTuple
from typing import Optional as Optional
from typing import Tuple as Tuple  # noqa: UP035
from typing import Union as Union

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Dict",
    "Final",
    "List",
    "NamedTuple",
    "Optional",
    "Tuple",
    "Union",
]


class _BroadcastingList:
    """A number, or a list of numbers: ``BroadcastingList2[int]``."""

    def __getitem__(self, kind: Any) -> Any:
        return Union[kind, List[kind]]  # noqa: UP006, UP007


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()
