"""Names for the array types that the equations take and return."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoolArray", "Convention", "Engine", "FloatArray", "IntArray"]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]

Engine: TypeAlias = Literal["fbgemm", "x86", "onednn", "qnnpack"]
Convention: TypeAlias = Literal["documented", "torch"]
