"""The layers of quantization-aware training: outputs, gradients, statistics, conversion."""

from __future__ import annotations

from typing import Any

from parity.cases.quantized_modules import module, numbers, tensor, together
from parity.harness import Bound, parity_case

# Sums of at most 4 * 9 products (forward) or 4 * 4 (gradients of the weight), in
# another order than torch's: each rounding is 2**-24 of the largest partial sum, and
# batch norm divides by a standard deviation of about 1.
_SUMS = Bound("float32 sums of up to 36 products in another order", relative=36 * 2.0**-24)
# A bias before batch norm has no effect, so its gradient is zero but for rounding.
_NOTHING = Bound("32 terms of at most 5 that cancel", absolute=32 * 5 * 2.0**-24)
_BOUNDS = {"*grad_of_nothing*": _NOTHING, "*output*": _SUMS, "*grad*": _SUMS, "*running*": _SUMS}


def _qconfig(torch: Any) -> Any:
    return module(torch, "quantization").get_default_qat_qconfig("fbgemm")


def _fill(torch: Any, layer: Any) -> None:
    """Give every parameter a value that does not depend on a random stream."""
    for seed, (name, parameter) in enumerate(layer.named_parameters()):
        values = tensor(torch, 40 + seed, *parameter.shape, spread=0.3)
        parameter.data = values.abs() + 0.5 if name == "bn.weight" else values


def _train(torch: Any, layer: Any, *shape: int) -> dict[str, Any]:
    """Two steps of training: outputs, gradients, what the fake quantizer has seen."""
    results: dict[str, Any] = {}
    for step in range(2):
        layer.zero_grad()
        x = tensor(torch, 50 + step, *shape)
        x.requires_grad = True
        y = layer(x)
        (y * tensor(torch, 60 + step, *y.shape)).sum().backward()
        gradients = {name: each.grad for name, each in layer.named_parameters()}
        if hasattr(layer, "bn") and layer.bias is not None and layer.bn.training:
            results[f"grad_of_nothing{step}"] = gradients.pop("bias")
        results[f"output{step}"] = y
        results[f"grad{step}"] = numbers({"input": x.grad, **gradients})
        fake_quant = layer.weight_fake_quant
        results[f"scale{step}"] = fake_quant.scale
        results[f"zero_point{step}"] = fake_quant.zero_point
        if hasattr(layer, "bn"):
            running = {"mean": layer.bn.running_mean, "var": layer.bn.running_var}
            results[f"running{step}"] = numbers(running)
    results["eval_output"] = layer.eval()(tensor(torch, 50, *shape))
    return results


@parity_case(bounds=_BOUNDS, conventions="torch")
def linear(torch: Any) -> dict[str, Any]:
    results = {}
    for path in ("nn.qat.Linear", "nn.intrinsic.qat.LinearReLU"):
        package, _, name = path.rpartition(".")
        layer = getattr(module(torch, package), name)(7, 5, qconfig=_qconfig(torch))
        _fill(torch, layer)
        results[name] = _train(torch, layer, 6, 7)
    return results


@parity_case(bounds=_BOUNDS, conventions="torch")
def conv2d(torch: Any) -> dict[str, Any]:
    results = {}
    for path in ("nn.qat.Conv2d", "nn.intrinsic.qat.ConvReLU2d"):
        package, _, name = path.rpartition(".")
        cls = getattr(module(torch, package), name)
        layer = cls(4, 6, 3, padding=1, groups=2, qconfig=_qconfig(torch))
        _fill(torch, layer)
        results[name] = _train(torch, layer, 1, 4, 4, 4)
    return results


def _conv_bn(torch: Any, name: str, **options: Any) -> Any:
    cls = getattr(module(torch, "nn.intrinsic.qat"), name)
    layer = cls(4, 3, 3, padding=1, qconfig=_qconfig(torch), **options)
    _fill(torch, layer)
    layer.bn.running_mean.copy_(tensor(torch, 70, 3, spread=0.2))
    layer.bn.running_var.copy_(tensor(torch, 71, 3, spread=0.2).abs() + 0.7)
    return layer


@parity_case(bounds=_BOUNDS, conventions="torch")
def conv_bn(torch: Any) -> dict[str, Any]:
    return {
        "plain": _train(torch, _conv_bn(torch, "ConvBn2d"), 1, 4, 4, 4),
        "bias": _train(torch, _conv_bn(torch, "ConvBn2d", bias=True), 1, 4, 4, 4),
        "relu": _train(torch, _conv_bn(torch, "ConvBnReLU2d"), 1, 4, 4, 4),
        "frozen": _train(torch, _conv_bn(torch, "ConvBn2d", freeze_bn=True), 1, 4, 4, 4),
    }


@parity_case(conventions="torch")
def switches(torch: Any) -> dict[str, Any]:
    """freeze_bn_stats, update_bn_stats, reset_running_stats; keys of the state."""
    layer = _conv_bn(torch, "ConvBn2d")
    package = module(torch, "nn.intrinsic.qat")
    results: dict[str, Any] = {"keys": ", ".join(layer.state_dict())}
    layer.apply(package.freeze_bn_stats)
    results["frozen"] = [layer.freeze_bn, layer.bn.training, layer.train().bn.training]
    layer.apply(package.update_bn_stats)
    results["updating"] = [layer.freeze_bn, layer.bn.training, layer.eval().bn.training]
    layer.reset_running_stats()
    results["mean"], results["var"] = layer.bn.running_mean, layer.bn.running_var
    layer.reset_bn_parameters()
    weight = layer.bn.weight
    results["weight"] = [bool((weight >= 0).all()), bool((weight < 1).all())]
    results["bias"] = layer.bn.bias
    return results


def _observer(torch: Any) -> Any:
    observer = module(torch, "quantization").MinMaxObserver(dtype=torch.quint8)
    observer(torch.tensor([-1.3, 2.9]))
    return observer


@parity_case(conventions="torch")
def conversion(torch: Any) -> dict[str, Any]:
    """from_float of trained and of calibrated layers: integers of the weight, parameters."""
    texts, weights, biases = [], {}, {}
    quantized, fused = module(torch, "nn.quantized"), module(torch, "nn.intrinsic.quantized")
    qat, fused_qat = module(torch, "nn.qat"), module(torch, "nn.intrinsic.qat")
    intrinsic, nn = module(torch, "nn.intrinsic"), torch.nn
    qconfig = _qconfig(torch)
    static = module(torch, "quantization").get_default_qconfig("fbgemm")
    pairs = {
        "qat.Linear": (quantized.Linear, qat.Linear(7, 5, qconfig=qconfig)),
        "qat.LinearReLU": (fused.LinearReLU, fused_qat.LinearReLU(7, 5, qconfig=qconfig)),
        "qat.Conv2d": (quantized.Conv2d, qat.Conv2d(4, 3, 3, stride=2, qconfig=qconfig)),
        "qat.ConvReLU2d": (fused.ConvReLU2d, fused_qat.ConvReLU2d(4, 3, 3, qconfig=qconfig)),
        "qat.ConvBn2d": (quantized.Conv2d, _conv_bn(torch, "ConvBn2d")),
        "qat.ConvBnReLU2d": (fused.ConvReLU2d, _conv_bn(torch, "ConvBnReLU2d", bias=True)),
        "Linear": (quantized.Linear, nn.Linear(7, 5, bias=False)),
        "LinearReLU": (fused.LinearReLU, intrinsic.LinearReLU(nn.Linear(7, 5), nn.ReLU())),
        "Conv1d": (quantized.Conv1d, nn.Conv1d(4, 3, 3)),
        "Conv2d": (quantized.Conv2d, nn.Conv2d(4, 3, 3, padding=1)),
        "Conv3d": (quantized.Conv3d, nn.Conv3d(4, 3, 2)),
        "ConvReLU2d": (fused.ConvReLU2d, intrinsic.ConvReLU2d(nn.Conv2d(4, 3, 3), nn.ReLU())),
        "ConvReLU3d": (fused.ConvReLU3d, intrinsic.ConvReLU3d(nn.Conv3d(4, 3, 2), nn.ReLU())),
    }
    for name, (cls, layer) in pairs.items():
        _fill(torch, layer)
        if not name.startswith("qat"):
            layer.qconfig = static
            for child in layer.children():
                child.qconfig = static
        layer.activation_post_process = _observer(torch)
        made = cls.from_float(layer)
        texts.append(repr(made))
        weights[name] = made.weight()
        if made.bias() is not None:
            biases[name] = made.bias()
    return {"texts": "\n".join(texts), "weights": together(weights), "biases": numbers(biases)}


@parity_case(conventions="torch")
def dynamic_conversion(torch: Any) -> dict[str, Any]:
    """from_float of the dynamic layers: weights per tensor, per channel and float16."""
    results = {}
    dynamic, quantization = module(torch, "nn.quantized.dynamic"), module(torch, "quantization")
    qconfigs = {
        "default": quantization.default_dynamic_qconfig,
        "channel": quantization.per_channel_dynamic_qconfig,
        "float16": quantization.float16_dynamic_qconfig,
        "none": None,
    }
    for name, qconfig in qconfigs.items():
        linear = torch.nn.Linear(7, 5)
        lstm = torch.nn.LSTM(3, 4, bidirectional=True)
        for layer in (linear, lstm):
            _fill(torch, layer)
            layer.qconfig = qconfig
        made = dynamic.Linear.from_float(linear)
        recurrent = dynamic.LSTM.from_float(lstm)
        weights = {"weight": made.weight(), **recurrent.get_weight()}
        results[name] = {
            "weights": (numbers if name == "float16" else together)(weights),
            "bias": made.bias(),
            "text": f"{made} {recurrent}",
        }
    return results
