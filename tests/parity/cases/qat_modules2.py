"""Training with fake quantization: the layers in one and three dimensions, and linear groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.cases.qat_modules import _fill, _qconfig, _train
from parity.cases.quantizable import sixteenths
from parity.cases.quantized_modules import module, numbers, tensor, together
from parity.harness import Bound, parity_case

# Sums of at most 4 * 27 products in another order: each rounding is 2**-24 of the largest
# partial sum, and batch norm divides by a standard deviation of about 1.
_SUMS = Bound("float32 sums of up to 108 products in another order", relative=108 * 2.0**-24)
_NOTHING = Bound("64 terms of at most 5 that cancel", absolute=64 * 5 * 2.0**-24)
_BOUNDS = {"*grad_of_nothing*": _NOTHING, "*output*": _SUMS, "*grad*": _SUMS, "*running*": _SUMS}


def _size(name: str) -> tuple[int, ...]:
    return (4,) if "1d" in name else (2, 2, 2)


@parity_case(bounds=_BOUNDS, conventions="torch")
def convolutions(torch: Any) -> dict[str, Any]:
    results = {}
    for path in (
        "ao.nn.qat.Conv1d",
        "ao.nn.qat.Conv3d",
        "ao.nn.intrinsic.qat.ConvReLU1d",
        "ao.nn.intrinsic.qat.ConvReLU3d",
    ):
        package, _, name = path.rpartition(".")
        cls = getattr(module(torch, package), name)
        layer = cls(4, 2, 3, padding=1, groups=2, qconfig=_qconfig(torch))
        _fill(torch, layer)
        results[name] = _train(torch, layer, 1, 4, *_size(name))
    return results


def _group(torch: Any, name: str, **options: Any) -> Any:
    cls = getattr(module(torch, "ao.nn.intrinsic.qat"), name)
    if name == "LinearBn1d":
        layer = cls(7, 3, qconfig=_qconfig(torch), **options)
    else:
        layer = cls(4, 3, 3, padding=1, qconfig=_qconfig(torch), **options)
    _fill(torch, layer)
    layer.bn.running_mean.copy_(tensor(torch, 70, 3, spread=0.2))
    layer.bn.running_var.copy_(tensor(torch, 71, 3, spread=0.2).abs() + 0.7)
    return layer


_GROUPS = ("ConvBn1d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU3d", "LinearBn1d")


@parity_case(bounds=_BOUNDS, conventions="torch")
def groups(torch: Any) -> dict[str, Any]:
    results = {}
    for name in _GROUPS:
        shape = (6, 7) if name == "LinearBn1d" else (1, 4, *_size(name))
        results[name] = _train(torch, _group(torch, name), *shape)
    options = {"bias": True, "freeze_bn": True}
    results["frozen"] = _train(torch, _group(torch, "ConvBn1d", **options), 2, 4, 5)
    return results


@parity_case(conventions="torch")
def conversion(torch: Any) -> dict[str, Any]:
    """Integers of the folded weights, texts, and the way back to float."""
    quantized = module(torch, "ao.nn.quantized")
    fused = module(torch, "ao.nn.intrinsic.quantized")
    targets = (quantized.Conv1d, quantized.Conv3d, fused.ConvReLU1d, fused.ConvReLU3d)
    weights, biases, texts = {}, {}, []
    for name, cls in zip(_GROUPS, (*targets, quantized.Linear), strict=True):
        layer = _group(torch, name, bias=True).eval()
        observer = module(torch, "ao.quantization").MinMaxObserver(dtype=torch.quint8)
        observer(torch.tensor([-1.3, 2.9]))
        layer.activation_post_process = observer
        made = cls.from_float(layer)
        weights[name], biases[name] = made.weight(), made.bias()
        texts += [repr(made), repr(layer.to_float())]
    return {"texts": " ".join(texts), **together(weights), "biases": numbers(biases)}


@parity_case()
def tables(torch: Any) -> dict[str, Any]:
    """Which layer becomes which, by name."""
    quantization = module(torch, "ao.quantization")
    found = {}
    for name in (
        "get_default_static_quant_module_mappings",
        "get_default_dynamic_quant_module_mappings",
        "get_default_qat_module_mappings",
        "get_default_static_quant_reference_module_mappings",
    ):
        table = getattr(module(torch, "ao.quantization.quantization_mappings"), name)()
        pairs = sorted(f"{_path(key)} -> {_path(value)}" for key, value in table.items())
        found[name] = "\n".join(pairs)
    custom = module(torch, "ao.quantization.quantize").get_default_custom_config_dict()
    del quantization
    for name, table in custom.items():
        pairs = sorted(f"{_path(key)} -> {_path(value)}" for key, value in table.items())
        found[name] = "\n".join(pairs)
    return found


def _path(cls: Any) -> str:
    """A class with the packages that tell it apart, the same in both libraries."""
    kinds = [part for part in cls.__module__.split(".") if part not in ("ao", "nn", "modules")]
    families = ("intrinsic", "qat", "quantized", "dynamic", "reference", "quantizable")
    return ".".join([*(part for part in kinds if part in families), cls.__name__])


@parity_case(conventions="torch")
def flow(torch: Any) -> dict[str, Any]:
    """Fuse, prepare_qat, one pass, convert: in three dimensions and with linear batch norm."""
    nn, quantization = torch.nn, module(torch, "ao.quantization")
    torch.backends.quantized.engine = "fbgemm"
    model = nn.Sequential(
        nn.Conv3d(2, 3, 2),
        nn.BatchNorm3d(3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(24, 4),
        nn.BatchNorm1d(4),
    ).train()
    model = quantization.fuse_modules_qat(model, [["0", "1", "2"], ["4", "5"]])
    for seed, parameter in enumerate(model.parameters()):
        parameter.data = sixteenths(torch, 80 + seed, *parameter.shape, spread=0.3).abs() + 0.25
    model.qconfig = quantization.get_default_qat_qconfig("fbgemm")
    prepared = quantization.prepare_qat(model)
    types = [_path(type(each)) for each in prepared]
    prepared(torch.from_numpy(np.linspace(-1, 1, 4 * 54, dtype=np.float32).reshape(4, 2, 3, 3, 3)))
    converted = quantization.convert(prepared.eval())
    return {
        "prepared": " ".join(types),
        "converted": " ".join(_path(type(each)) for each in converted),
    }


@parity_case(conventions="torch")
def dynamic_linear(torch: Any) -> dict[str, Any]:
    """nn.qat.dynamic.Linear observes its input, and becomes a dynamic layer."""
    nn, quantization = torch.nn, module(torch, "ao.quantization")
    qat = module(torch, "ao.nn.qat.dynamic")
    dynamic = module(torch, "ao.nn.quantized.dynamic")
    torch.backends.quantized.engine = "fbgemm"
    model = nn.Sequential(nn.Linear(6, 4)).train()
    _fill(torch, model[0])
    model.qconfig = quantization.default_dynamic_qat_qconfig
    prepared = quantization.prepare_qat(model, mapping={nn.Linear: qat.Linear})
    y = prepared(sixteenths(torch, 90, 5, 6))
    converted = quantization.convert(prepared.eval(), mapping={qat.Linear: dynamic.Linear})
    return {
        "weight": converted[0].weight(),
        "y": converted(tensor(torch, 91, 3, 6)),
        "texts": repr(converted) + str(tuple(y.shape)),
    }
