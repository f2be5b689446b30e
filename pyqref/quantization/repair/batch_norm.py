"""Moments of batch normalization, measured anew."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pyqref._typing import Model, Module
from pyqref.autograd import no_grad
from pyqref.nn.modules.batchnorm import BatchNormBase
from pyqref.quantization.fake_quantize import FakeQuantizeBase

from .running import batches, called

__all__ = ["reestimate_batch_norm"]


def reestimate_batch_norm(model: Model, data: Iterable[Any], *, inplace: bool = False) -> Model:
    r"""Measure the running moments of all batch normalizations of a model again.

    .. math:: \mu = \frac1B \sum_b \mu_b, \qquad \sigma^2 = \frac1B \sum_b \sigma^2_b

    over the batches of ``data``. A network that was trained with fake quantization has moments that
    lag behind its weights, or jump with them from one integer to the next.

    Parameters
    ----------
    model
        A model with batch normalizations, such as one from ``prepare_qat`` after training. Fused
        layers of ``nn.intrinsic.qat`` are included. All else stays as it is: parameters, ranges,
        and the mode of each module.
    data
        Batches; a tuple or list stands for the arguments of one call.
    inplace
        Change the model itself.

    Returns
    -------
    Module
        The model with new moments.

    Raises
    ------
    ValueError
        The model has no running moments, or ``data`` is empty.

    Notes
    -----
    The mean of the variances, as ``momentum=None`` takes it. Source: Nagel et al. 2022, section
    5.1.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.BatchNorm1d(1)).eval()
    >>> data = [pyqref.tensor([[1.0], [3.0]]), pyqref.tensor([[5.0], [7.0]])]
    >>> again = reestimate_batch_norm(model, data)
    >>> again[0].running_mean.item(), again[0].running_var.item(), again.training
    (4.0, 2.0, False)
    """
    if not inplace:
        model = copy.deepcopy(model)
    norms = [
        each
        for each in model.modules()
        if isinstance(each, BatchNormBase) and each.running_mean is not None
    ]
    if not norms:
        raise ValueError(
            f"reestimate_batch_norm: {type(model).__name__} has no batch normalization with "
            "running moments"
        )
    with _only_moments_move(model, norms), no_grad():
        for each in norms:
            each.reset_running_stats()
        for batch in batches(data, "reestimate_batch_norm"):
            called(model, batch)
    return model


@contextmanager
def _only_moments_move(model: Module, norms: list[Any]) -> Iterator[None]:
    """Inside, batch normalizations average their moments over batches, and nothing else changes."""
    modes = {each: each.training for each in model.modules()}
    momenta = [each.momentum for each in norms]
    kept = {
        each: {name: buffer.clone() for name, buffer in each.named_buffers(recurse=False)}
        for each in model.modules()
        if each not in norms
    }
    model.eval()
    for each in model.modules():
        if isinstance(each, FakeQuantizeBase):
            each.disable_observer()
    for each in norms:
        each.training, each.momentum = True, None
    try:
        yield
    finally:
        for each, momentum in zip(norms, momenta, strict=True):
            each.momentum = momentum
        for each, mode in modes.items():
            each.training = mode
        for each, buffers in kept.items():
            each._buffers.update(buffers)
