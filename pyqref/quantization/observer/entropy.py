"""``EntropyObserver``: the range that keeps most of the information."""

from __future__ import annotations

from typing import Any, Literal

from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_tensor_affine, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.entropy_range import EntropyRules, entropy_bins
from pyqref.numerics.percentile_range import fold_magnitudes
from pyqref.numerics.qparams import EPS
from pyqref.tape import Array

from .counted import CountedObserverBase, one_of, whole_number

__all__ = ["EntropyObserver"]

_DEFINITIONS = {
    "tensorrt": EntropyRules(True, 128, "empty", 0.0, "even", False),
    "onnxruntime": EntropyRules(False, 128, "filled", 1e-4, "last", True),
}


class EntropyObserver(CountedObserverBase):
    r"""Observe counts, and quantize the range whose levels differ least from the data.

    For each candidate range, the counts of its bins, with all others added to its ends, are
    compared with the same counts merged to levels (``eq-quantized-distribution``). The range with
    the least divergence of Kullback and Leibler is chosen (``eq-entropy-range``), and cut to the
    extremes. Scale and zero point follow as in :class:`MinMaxObserver`.

    Parameters
    ----------
    bins
        Number of bins, a multiple of 4. Half of them are on each side of zero.
    definition
        ``"tensorrt"``: S. Migacz's, on nested grids, which merge exactly.
        ``"onnxruntime"``: that of ``CalibrationMethod.Entropy``, whose first tensor fixes the
        width of a bin; the result is equal if each tensor is a call of its ``collect_data``.
        It sets the six details that follow, where they are None.
    symmetric
        Whether magnitudes are counted and candidates begin at zero (``"tensorrt"``: True), or
        values, with candidates around zero (``"onnxruntime"``: False).
    quantized_bins
        Number of levels, at least 2 (both: 128).
    zero_bins
        ``"empty"`` (``"tensorrt"``) or ``"filled"`` (``"onnxruntime"``): whether bins without data
        get nothing when a level is spread out again, or as much as others.
    smoothing
        What a bin without data counts afterwards (``"tensorrt"``: 0.0, ``"onnxruntime"``: 1e-4).
    remainder
        ``"even"`` (``"tensorrt"``) or ``"last"`` (``"onnxruntime"``): which level gets the bins
        that do not divide by the levels.
    zero_spike
        ``"kept"`` (both), or ``"flattened"``: the bin that holds zero counts as much as the next
        one (``eq-flattened-zero``), as NVIDIA's calibration toolkit does. For data after a ReLU.
    ch_axis
        The axis of the channels for a per-channel scheme, each of which gets a range.
    dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps
        As in :class:`UniformQuantizationObserverBase`.
    is_dynamic
        Must be False.

    Attributes
    ----------
    rules : EntropyRules
        The details.
    histogram, exponent, edges, min_val, max_val : Tensor
        As in :class:`CountedObserverBase`. Memory does not grow with the data.

    Raises
    ------
    ValueError
        A number or a name is out of range; when called: the data holds nan or infinity.
    NotImplementedError
        ``is_dynamic``, or onnxruntime's definition with a per-channel scheme.

    Notes
    -----
    onnxruntime's own default is ``bins=128``, with which the first tensor has only one
    candidate, its extremes. onnxruntime truncates levels to integers, as this observer does under
    its definition. Without smoothing, a candidate whose last bin is empty while numbers lie beyond
    it has an infinite divergence: few data need few bins, or smoothing. TensorRT's threshold is
    half a bin above the last edge of a candidate of m bins: :math:`T = (m + \frac{1}{2})\, w`.
    Source: S. Migacz, *8-bit inference with TensorRT*, GTC 2017.

    Examples
    --------
    >>> import pyqref
    >>> _ = pyqref.manual_seed(0)
    >>> observer = EntropyObserver(smoothing=1e-4)
    >>> _ = observer(pyqref.cat([pyqref.randn(10000), pyqref.tensor([40.0])]))
    >>> low, high = observer.find_range()
    >>> observer.max_val.item(), 2.0 < high.item() < 6.0
    (40.0, True)
    """

    def __init__(
        self,
        bins: int = 8192,
        definition: Literal["tensorrt", "onnxruntime"] = "tensorrt",
        symmetric: bool | None = None,
        quantized_bins: int | None = None,
        zero_bins: Literal["empty", "filled"] | None = None,
        smoothing: float | None = None,
        remainder: Literal["even", "last"] | None = None,
        zero_spike: Literal["kept", "flattened"] | None = None,
        ch_axis: int = 0,
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
    ) -> None:
        name = type(self).__name__
        one_of(name, "definition", definition, tuple(_DEFINITIONS))
        rules = _rules(
            name,
            definition,
            symmetric=symmetric,
            quantized_bins=quantized_bins,
            zero_bins=zero_bins,
            smoothing=smoothing,
            remainder=remainder,
            zero_spike=zero_spike,
        )
        super().__init__(
            bins=bins,
            grid="nested" if definition == "tensorrt" else "values",
            ch_axis=ch_axis,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
        )
        self.rules = rules
        self.definition = definition
        least = rules.quantized_bins * (2 if rules.symmetric else 1)
        if self.bins < least:
            raise ValueError(
                f"{name}: bins must be at least {least} for quantized_bins={rules.quantized_bins}, "
                f"got {bins}"
            )

    def range_of(self, counts: Array, edges: Array) -> tuple[float, float]:
        """The range with the least divergence."""
        if not self.rules.symmetric:
            first, after = entropy_bins(counts, self.rules)
            return float(edges[first]), float(edges[after])
        half = counts.size // 2
        _, after = entropy_bins(fold_magnitudes(counts), self.rules)
        end = (after + 0.5) * float(edges[half + 1] - edges[half])
        return -end, end


def _rules(name: str, definition: str, **chosen: Any) -> EntropyRules:
    """The details of a definition, with those that were chosen."""
    allowed = {
        "symmetric": (True, False),
        "zero_bins": ("empty", "filled"),
        "remainder": ("even", "last"),
        "zero_spike": ("kept", "flattened"),
    }
    given = {key: value for key, value in chosen.items() if value is not None}
    for key in allowed.keys() & given.keys():
        one_of(name, key, given[key], allowed[key])
    if "quantized_bins" in given:
        whole_number(name, "quantized_bins", given["quantized_bins"], 2, 2**16)
    smoothing = given.get("smoothing", 0.0)
    if isinstance(smoothing, bool) or not isinstance(smoothing, int | float):
        raise TypeError(f"{name}: smoothing must be a number, got {smoothing!r}")
    if not 0 <= smoothing < 1:
        raise ValueError(f"{name}: smoothing must be in [0, 1), got {smoothing}")
    return _DEFINITIONS[definition]._replace(**given)
