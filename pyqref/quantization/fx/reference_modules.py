"""Pass: layers with weights become reference layers.

::

    dequantize -> conv (ConvReLU2d(Conv2d, ReLU)) -> quantize                       before
    dequantize -> conv (ConvReLU2d(reference.Conv2d, ReLU)) -> quantize             after

Layers trained with fake quantization become float layers first.
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.quantization.backend_config import BackendConfig
from pyqref.quantization.constant_channels import QuantizedWeight

from .failures import telling
from .paths import replace_module
from .quantized_weights import reference_weights
from .weight_grids import weight_grids

__all__ = ["make_reference_modules"]


def make_reference_modules(
    model: GraphModule, backend_config: BackendConfig, qconfigs: dict[str, Any], observed: set[str]
) -> list[QuantizedWeight]:
    """Replace the called layers, in place.

    Parameters
    ----------
    model
        The model, with quantize and dequantize nodes.
    backend_config
        Says what the reference layer of a layer is.
    qconfigs
        Of the nodes by name.
    observed
        Names of the nodes that are quantized.

    Returns
    -------
    list of QuantizedWeight
        The weights of the layers that were made.
    """
    weights: list[QuantizedWeight] = []
    configs = backend_config.configs
    references = {
        each.root_module: each.reference_quantized_module
        for each in configs
        if each.root_module is not None and each.reference_quantized_module is not None
    }
    trained = {each.qat_module for each in configs if each.qat_module is not None}
    done: set[str] = set()
    for node in model.graph.nodes:
        if node.op != "call_module" or node.target in done:
            continue
        module = model.get_submodule(node.target)
        qconfig = qconfigs.get(node.name)
        if qconfig is None or node.name not in observed or not _has_quantized_weight(qconfig):
            if type(module) in trained:
                replace_module(model, node.target, _to_float(module))
            continue
        fake_quantize = None
        if type(module) in trained:
            fake_quantize = module.weight_fake_quant
            module = _to_float(module)
        root = module[0] if isinstance(module, _FusedModule) else module
        if type(root) not in references:
            continue
        with telling(model, node):
            grid = weight_grids(root, qconfig, fake_quantize)
            reference = references[type(root)].from_float(root, grid)
        weights += reference_weights(reference, node.target, type(module).__name__)
        if isinstance(module, _FusedModule):
            module[0] = reference
        else:
            module = reference
        replace_module(model, node.target, module)
        done.add(node.target)
    return weights


def _to_float(module: Any) -> Any:
    made = module.to_float()
    made.train(module.training)
    return made


def _has_quantized_weight(qconfig: Any) -> bool:
    dtype = getattr(qconfig.weight() if qconfig.weight else None, "dtype", None)
    return dtype is not None and (dtype.is_quantized or str(dtype).endswith("float16"))
