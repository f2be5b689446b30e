"""The whole workflow in one call: ``quantize``, ``quantize_qat``, ``add_quant_dequant``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pyqref._typing import Model, Module
from pyqref.quantization.diagnostics import strictly
from pyqref.quantization.stubs import QuantWrapper

from .convert import convert
from .paths import is_leaf, require_module
from .prepare import prepare, prepare_qat

__all__ = ["add_quant_dequant", "default_eval_fn", "quantize", "quantize_qat"]


def default_eval_fn(model: Module, calib_data: Iterable[Any]) -> None:
    """Run a model on calibration data.

    Parameters
    ----------
    model
        The prepared model.
    calib_data
        A dataset of pairs ``(input, target)``, or a list of input tensors.

    Notes
    -----
    torch 2.13 accepts the pairs only; the documentation names both. Source:
    ``torch.quantization.default_eval_fn``.

    Examples
    --------
    >>> import pyqref
    >>> observer = pyqref.quantization.MinMaxObserver()
    >>> default_eval_fn(observer, [pyqref.tensor([1.0]), (pyqref.tensor([-2.0]), 7)])
    >>> observer
    MinMaxObserver(min_val=-2.0, max_val=1.0)
    """
    if not callable(model):
        raise TypeError(f"default_eval_fn: model must be callable, got {model!r}")
    if not hasattr(calib_data, "__iter__") and not hasattr(calib_data, "__getitem__"):
        raise TypeError(
            "default_eval_fn: calib_data must be a dataset or a list of tensors, "
            f"got {type(calib_data).__name__}"
        )
    for item in calib_data:
        model(item[0] if isinstance(item, tuple | list) else item)


def _require_run_fn(name: str, run_fn: Any, run_args: Any) -> None:
    if not callable(run_fn):
        raise TypeError(f"{name}: run_fn must be a function of the model, got {run_fn!r}")
    if not isinstance(run_args, tuple | list):
        raise TypeError(
            f"{name}: run_args must be a list or tuple of further arguments of run_fn, "
            f"got {type(run_args).__name__}; write [data]"
        )


def quantize(
    model: Model,
    run_fn: Callable[..., Any],
    run_args: Sequence[Any],
    mapping: Mapping[Any, Any] | None = None,
    inplace: bool = False,
    strict: bool = False,
) -> Model:
    """Quantize a float model after training: prepare, calibrate, convert.

    Parameters
    ----------
    model
        The float model, with ``qconfig`` attributes.
    run_fn
        Runs the prepared model on calibration data: ``run_fn(model, *run_args)``.
    run_args
        Its further positional arguments.
    mapping
        From types to quantized types; the default table if None.
    inplace
        Change the model itself.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning.

    Returns
    -------
    Module
        The quantized model.

    Notes
    -----
    Source: ``torch.quantization.quantize``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.quantization.QuantWrapper(pyqref.nn.Linear(2, 2))
    >>> model.qconfig = pyqref.quantization.default_qconfig
    >>> data = [pyqref.tensor([[0.0, 127.0]])]
    >>> quantized = quantize(model, default_eval_fn, [data])
    >>> quantized.quant
    Quantize(scale=tensor([1.]), zero_point=tensor([0]), dtype=pyqref.quint8)
    """
    require_module("quantize", model)
    _require_run_fn("quantize", run_fn, run_args)
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    prepare(model, inplace=True, strict=strict)
    with strictly(strict):
        run_fn(model, *run_args)
    return convert(model, mapping, inplace=True, strict=strict)


def quantize_qat(
    model: Model,
    run_fn: Callable[..., Any],
    run_args: Sequence[Any],
    inplace: bool = False,
    strict: bool = False,
) -> Model:
    """Train with fake quantization and quantize: prepare_qat, train, convert.

    Parameters
    ----------
    model
        The float model, with ``qconfig`` attributes.
    run_fn
        Trains the prepared model: ``run_fn(model, *run_args)``.
    run_args
        Its further positional arguments.
    inplace
        Change the model itself.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning.

    Returns
    -------
    Module
        The quantized model.

    Notes
    -----
    Source: ``torch.quantization.quantize_qat``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> model = quantization.QuantWrapper(nn.Linear(4, 2))
    >>> model.train().qconfig = quantization.get_default_qat_qconfig("fbgemm")
    >>> def train(model, data):
    ...     optimizer = pyqref.optim.SGD(model.parameters(), lr=0.1)
    ...     for step in range(3):
    ...         optimizer.zero_grad()
    ...         model(data).square().mean().backward()
    ...         optimizer.step()
    >>> quantized = quantization.quantize_qat(model, train, [pyqref.randn(16, 4)])
    >>> type(quantized.module)
    <class 'pyqref.nn.quantized.modules.linear.Linear'>
    """
    require_module("quantize_qat", model)
    _require_run_fn("quantize_qat", run_fn, run_args)
    if not inplace:
        model = copy.deepcopy(model)
    model.train()
    prepare_qat(model, inplace=True, strict=strict)
    with strictly(strict):
        run_fn(model, *run_args)
    return convert(model, inplace=True, strict=strict)


def add_quant_dequant(module: Module) -> Module:
    """Wrap every leaf module that has a qconfig in a :class:`QuantWrapper`, in place.

    Parameters
    ----------
    module
        A model whose leaf modules have a ``qconfig``.

    Returns
    -------
    Module
        The model; a new :class:`QuantWrapper` around it if it is a leaf itself.

    Notes
    -----
    Source: ``torch.quantization.add_quant_dequant``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Linear(1, 1)
    >>> layer.qconfig = pyqref.quantization.default_qconfig
    >>> type(add_quant_dequant(layer)).__name__
    'QuantWrapper'
    """
    require_module("add_quant_dequant", module)
    if is_leaf(module) and getattr(module, "qconfig", None) is not None:
        return QuantWrapper(module)
    for name, child in list(module.named_children()):
        module._modules[name] = add_quant_dequant(child)
    return module
