"""Record of a model that ran: arrays with their grids, layer by layer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...tensor.quantized import PerTensorQuantizer

__all__ = ["Layer", "Names", "Stored", "grid_of", "narrow", "stored"]

#: Characters of a name, at most.
LONGEST = 80


@dataclass(eq=False)
class Stored:
    """An array under its name, and what its integers stand for.

    Attributes
    ----------
    name : str
        As in ``vectors.npz``.
    array : ndarray
        Stored integers, or real numbers.
    grid : dict
        ``dtype``, ``scale``, ``zero_point``, ``quant_min``, ``quant_max`` and, of a weight with a
        scale for each channel, ``axis``; empty of real numbers.
    """

    name: str
    array: np.ndarray
    grid: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Layer:
    """A quantized layer, or another quantized operation, that ran once.

    Attributes
    ----------
    path : str
        As in the model: of the module, or the name of the node. A layer that runs again is
        ``path#1``.
    node : str
        Its path in the graph that is kept beside the vectors.
    name : str
        The path, or what of it may be a name of a file; no two layers have the same.
    operation : str
        Class of the module, or name of the function.
    arithmetic : str
        What gave its integers.
    inputs : list of Stored
        Where one is the output of another layer, it has the name of that.
    output : Stored
    parameters : list of Stored
        ``weight`` and ``bias_real``, where it has them.
    stages : list of Stored
        What lies between input and output (:mod:`.stages`).
    clamp : tuple of int, optional
        The ends that the output was clamped to.
    geometry : dict
        Of a convolution: stride, padding, dilation, groups and so on.
    note : str
        Why there are no stages; empty where there are.
    """

    path: str
    node: str
    name: str
    operation: str
    arithmetic: str
    inputs: list[Stored]
    output: Stored
    parameters: list[Stored] = field(default_factory=list)
    stages: list[Stored] = field(default_factory=list)
    clamp: tuple[int, int] | None = None
    geometry: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def stored(self) -> list[Stored]:
        """Its arrays, but those that another layer gave."""
        inputs = [each for each in self.inputs if each.name.startswith(f"{self.name}/")]
        return [*inputs, *self.parameters, *self.stages, self.output]


class Names:
    """Names that may be names of files, each given once.

    Examples
    --------
    >>> names = Names()
    >>> names("block.conv"), names("../etc"), names("Block.conv"), names("")
    ('block.conv', 'etc', 'Block.conv_1', 'model')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def __call__(self, path: str) -> str:
        """The path, with other characters in the place of those that a file may not have."""
        clean = re.sub(r"[^A-Za-z0-9_.]+", "_", path).strip("._")[:LONGEST] or "model"
        name, count = clean, 0
        # Some file systems do not tell capital letters from small ones.
        while name.lower() in self._taken:
            count += 1
            name = f"{clean}_{count}"
        self._taken.add(name.lower())
        return name


def stored(name: str, tensor: Any) -> Stored:
    """A tensor of the model under a name."""
    array = np.ascontiguousarray(tensor.detach()._array).reshape(tuple(tensor.shape))
    return Stored(name, array.copy(), grid_of(tensor) if tensor.is_quantized else {})


def grid_of(tensor: Any) -> dict[str, Any]:
    """Return the meaning of a quantized tensor's integers, as plain values."""
    quantizer: Any = tensor._quantizer
    low, high = tensor.dtype.quant_min, tensor.dtype.quant_max
    ends = {"quant_min": int(low), "quant_max": int(high)}
    kind = {"dtype": str(tensor.dtype).rpartition(".")[2]}
    if isinstance(quantizer, PerTensorQuantizer):
        numbers = {"scale": float(quantizer.scale), "zero_point": int(quantizer.zero_point)}
        return {**kind, **numbers, **ends}
    return {
        **kind,
        "scale": np.asarray(tensor.q_per_channel_scales()).tolist(),
        "zero_point": np.asarray(tensor.q_per_channel_zero_points()).tolist(),
        "axis": int(tensor.q_per_channel_axis()),
        **ends,
    }


def narrow(array: Any) -> np.ndarray:
    """Integers of 64 bits with 32 bits, if all of them fit; other arrays as they are.

    Examples
    --------
    >>> narrow([1, 2]).dtype.name, narrow([1, 2**40]).dtype.name
    ('int32', 'int64')
    """
    values = np.asarray(array)
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return values
    limits = np.iinfo(np.int32)
    fits = limits.min <= values.min(initial=0) and values.max(initial=0) <= limits.max
    return values.astype(np.int32 if fits else np.int64)
