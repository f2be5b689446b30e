"""The float weight and bias that a quantized layer was made of, found by its path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import nn
from .._typing import Tensor
from ..nn.modules import Module
from ..nn.utils.fusion import fuse_conv_bn_weights, fuse_linear_bn_weights
from .running import called
from .values import as_float

__all__ = ["Original", "Originals"]

WEIGHTED = (
    nn.Linear,
    nn.Conv1d,
    nn.Conv2d,
    nn.Conv3d,
    nn.ConvTranspose1d,
    nn.ConvTranspose2d,
    nn.ConvTranspose3d,
)
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class Original(NamedTuple):
    """The parameters that a quantized layer stands for, batch norm folded."""

    weight: Any
    bias: Any


class Originals:
    """Finds layers and their parameters in a float model.

    Parameters
    ----------
    model
        The float model, fused or not.
    quantized
        The quantized one; where it still has a batch norm, none is folded.
    inputs
        What the float model runs on once, to see which batch norm follows which layer.
    """

    def __init__(self, model: Module, quantized: Module, inputs: tuple[Any, ...]) -> None:
        self.model = model
        self.modules = dict(model.named_modules())
        kept = dict(quantized.named_modules())
        self.norms = {
            path: norm
            for path, (norm, its_path) in _following_norms(model, inputs).items()
            if "BatchNorm" not in type(kept.get(its_path)).__name__
            and not type(kept.get(its_path)).__name__.startswith("BNReLU")
        }

    def module(self, path: str) -> Module | None:
        """The module at a path, or at its end: a wrapper may have put a name before it."""
        found = self.modules.get(path)
        return self.modules.get(path.partition(".")[2]) if found is None else found

    def parameters(self, path: str, weight: Tensor, transposed: bool) -> Original | None:
        """Weight and bias of a layer; of a function, those that are nearest to its weight."""
        module = self.module(path)
        if module is None or not path:
            return self._nearest(weight)
        norm = self.norms.get(path) or self.norms.get(path.partition(".")[2])
        if isinstance(module, nn.intrinsic._FusedModule) and not isinstance(module, WEIGHTED):
            inner = list(module.children())
            norm = next((each for each in inner if isinstance(each, NORMS)), None)
            module = next((each for each in inner if isinstance(each, WEIGHTED)), module)
        if not isinstance(module, WEIGHTED) or getattr(module, "weight", None) is None:
            return self._nearest(weight)
        own: Any = module.weight.detach()
        bias: Any = module.bias
        bias = None if bias is None else bias.detach()
        norm = getattr(module, "bn", norm)
        if norm is not None:
            own, bias = _folded(module, own, bias, norm, transposed)
        return Original(own, bias) if tuple(own.shape) == tuple(weight.shape) else None

    def _nearest(self, weight: Any) -> Original | None:
        """The parameter of the same shape that differs least, and the bias beside it."""
        wanted = np.asarray(as_float(weight), dtype=np.float64)
        best, found = np.inf, None
        parameters: Mapping[str, Any] = dict(self.model.named_parameters())
        for name, each in parameters.items():
            if tuple(each.shape) == wanted.shape:
                distance = float(np.sum((np.asarray(each.detach(), np.float64) - wanted) ** 2))
                if distance < best:
                    best, found = distance, name
        if found is None:
            return None
        head, _, last = found.rpartition(".")
        beside = last.replace("weight", "bias") if "weight" in last else "b"
        bias = parameters.get(f"{head}.{beside}" if head else beside)
        bias = bias if bias is not None and bias.ndim == 1 else None
        return Original(parameters[found].detach(), None if bias is None else bias.detach())


def _following_norms(model: Module, inputs: tuple[Any, ...]) -> dict[str, tuple[Module, str]]:
    """Return, by the path of a layer, the batch norm that takes its result, and its path."""
    made: dict[int, tuple[str, Any]] = {}
    found: dict[str, tuple[Module, str]] = {}
    handles = []

    def hook(path: str) -> Any:
        def look(module: Module, args: Any, output: Any) -> None:
            if isinstance(module, NORMS):
                if args and id(args[0]) in made:
                    found[made[id(args[0])][0]] = module, path
            else:
                made[id(output)] = path, output

        return look

    for path, module in model.named_modules():
        if isinstance(module, (*WEIGHTED, *NORMS)):
            handles.append(module.register_forward_hook(hook(path)))
    try:
        called(model, inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found


def _folded(layer: Module, weight: Any, bias: Any, norm: Any, transposed: bool) -> tuple[Any, Any]:
    statistics = (norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias)
    if isinstance(layer, nn.Linear):
        pair = fuse_linear_bn_weights(weight, bias, *statistics)
    else:
        pair = fuse_conv_bn_weights(weight, bias, *statistics, transposed)
    return pair[0].detach(), pair[1].detach()
