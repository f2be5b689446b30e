"""Bias correction under the name of ``torch.ao.quantization._correct_bias``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice
from typing import Any

from pyqref._typing import Module
from pyqref.nn import quantized as nnq

from .repair import bias_correction as _bias_correction

__all__ = ["bias_correction"]


def bias_correction(
    float_model: Module,
    quantized_model: Module,
    img_data: Iterable[Any],
    target_modules: Collection[type] | None = None,
    neval_batches: int | None = None,
) -> None:
    """Correct the biases of a converted model in place, as torch does (``eq-bias-correction``).

    :func:`pyqref.quantization.repair.bias_correction` with ``reference="layer"``.

    Parameters
    ----------
    float_model
        The model before ``prepare``.
    quantized_model
        The converted model, whose biases change.
    img_data
        Batches of which the first entry is the input, as a DataLoader of images and labels gives
        them.
    target_modules
        Types of layers to correct; ``nn.quantized.Linear`` and ``Conv2d`` if None.
    neval_batches
        How many batches to use; all if None.

    Notes
    -----
    Unlike torch, the quantized model gets no loggers that stay in it. The means are taken in double
    precision, torch's in float32.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> model = quantization.QuantWrapper(nn.Sequential(nn.Linear(4, 2))).eval()
    >>> model.qconfig = quantization.get_default_qconfig("qnnpack")
    >>> prepared = quantization.prepare(model)
    >>> x = pyqref.rand(50, 4)
    >>> _ = prepared(x)
    >>> quantized = quantization.convert(prepared)
    >>> before = quantized.module[0].bias().clone()
    >>> bias_correction(model, quantized, [(x, "labels")])
    >>> bool((quantized.module[0].bias() != before).any())
    True
    """
    kinds = (nnq.Linear, nnq.Conv2d) if target_modules is None else tuple(target_modules)
    layers = [path for path, each in quantized_model.named_modules() if type(each) in kinds]
    inputs = [batch[0] for batch in islice(img_data, neval_batches)]
    _bias_correction(
        float_model, quantized_model, inputs, reference="layer", layers=layers, inplace=True
    )
