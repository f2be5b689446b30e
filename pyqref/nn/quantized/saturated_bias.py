"""Biases that qnnpack cuts off at 32 bits, told with the path of the layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.nn.diagnostics import SaturatedBiasWarning, warn
from pyqref.nn.module_path import describe_module, running_module
from pyqref.ops.quantized.packed import report_saturated_bias

__all__: list[str] = []

_ENDS = (-(2**31), 2**31 - 1)


def _warn(packed: Any, integers: Any, input_scale: float) -> None:
    cut = np.flatnonzero(np.isin(integers, _ENDS))
    index = int(cut[0])
    unit = float(input_scale * np.broadcast_to(packed.weight_scales, integers.shape)[index])
    value, kept = float(packed.bias_tensor._array[index]), float(integers[index]) * unit
    if abs(value) <= abs(kept) * (1 + 1e-6):  # it fits, but only just
        return
    others = f" (and {len(cut) - 1} more)" if len(cut) > 1 else ""
    # The smallest scale of the weight at which the largest of these biases is in range.
    largest = float(np.abs(packed.bias_tensor._array[cut]).max())
    needed = np.ceil(np.log2(largest / _ENDS[1] / input_scale))
    eps = f", such as 2**{int(needed)}" if np.isfinite(needed) else ""
    warn(
        f"{_place(packed)}: the engine qnnpack keeps the bias as 32-bit integers in steps of input "
        f"scale times weight scale, {unit:.3g}: element {index}{others}, {value:g}, was cut to "
        f"{kept:.3g}; give the weight observer a larger eps{eps}, or convert with "
        "pyqref.backends.quantized.engine = 'x86', which keeps biases real",
        SaturatedBiasWarning,
    )


def _place(packed: Any) -> str:
    """The layer that is running; for a function in a graph also where its weight is kept."""
    module = running_module()
    if module is None:
        return "a quantized operation"
    names = [name for name, value in vars(module).items() if value is packed]
    place = describe_module(module)
    is_layer = hasattr(module, "set_weight_bias")
    return f"{place}.{names[0]}" if names and not is_layer else place


report_saturated_bias(_warn)
