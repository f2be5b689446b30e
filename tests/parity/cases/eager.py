"""Whole workflows of eager mode: every scale, zero point, stored integer and output.

The scripts are those a user would write; the same numbers go in on both sides. Where
floats are summed (a library may do that in any order), either the numbers are small
multiples of a power of two, so that every order gives the same sum, or the result has a
bound.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from parity.eager_models import (
    FLOAT_SUMS,
    FUSED,
    exact_values,
    fill,
    images,
    outputs,
    random_values,
    residual_network,
    stored,
)
from parity.harness import Bound, parity_case


def static(torch: Any, engine: str, qconfig: Any) -> dict[str, Any]:
    """Fuse, prepare, calibrate, convert: nothing in it depends on the order of sums."""
    torch.backends.quantized.engine = engine
    q = torch.ao.quantization
    model = fill(torch, residual_network(torch).eval(), exact_values)
    model = q.fuse_modules(model, FUSED)
    model.qconfig = qconfig
    prepared = q.prepare(model)
    for seed in (1, 2):
        prepared(images(torch, seed))
    quantized = q.convert(prepared)
    return {"stored": stored(quantized), **outputs(quantized, images(torch, 3, 1))}


def static_random(torch: Any, engine: str, qconfig: Any) -> dict[str, Any]:
    """Random weights; the ranges of activations are set, so that they are equal."""
    torch.backends.quantized.engine = engine
    q = torch.ao.quantization
    model = fill(torch, residual_network(torch).eval(), random_values)
    model.bn1, model.bn2, model.relu1 = (torch.nn.Identity() for _ in range(3))
    model = q.fuse_modules(model, [["conv3", "relu3"]])
    model.qconfig = qconfig
    prepared = q.prepare(model)
    prepared(images(torch, 1))
    for path, module in prepared.named_children():
        if hasattr(module, "activation_post_process"):
            observer = module.activation_post_process
            observer.min_val = torch.tensor(0.0 if path == "skip" else -2.0)
            observer.max_val = torch.tensor(2.5)
    quantized = q.convert(prepared)
    return {"stored": stored(quantized), **outputs(quantized, images(torch, 3, 1))}


# The oneDNN library, which the engine x86 uses in part, strays by one at near ties.
ONEDNN = {
    "layers/integers*": Bound("oneDNN strays by one in about 100,000", absolute=1),
    "output": Bound("one step of the head's output", absolute=0.04),
}


@parity_case()
def static_per_tensor_fbgemm(torch: Any) -> dict[str, Any]:
    return static(torch, "fbgemm", torch.ao.quantization.default_qconfig)


@parity_case()
def static_histogram_per_channel_fbgemm(torch: Any) -> dict[str, Any]:
    return static(torch, "fbgemm", torch.ao.quantization.get_default_qconfig("fbgemm"))


@parity_case()
def static_histogram_qnnpack(torch: Any) -> dict[str, Any]:
    return static(torch, "qnnpack", torch.ao.quantization.get_default_qconfig("qnnpack"))


@parity_case()
def static_moving_average_fbgemm(torch: Any) -> dict[str, Any]:
    q = torch.ao.quantization
    qconfig = q.QConfig(
        activation=q.MovingAverageMinMaxObserver.with_args(reduce_range=True),
        weight=q.default_per_channel_weight_observer,
    )
    return static(torch, "fbgemm", qconfig)


@parity_case()
def static_random_per_tensor_fbgemm(torch: Any) -> dict[str, Any]:
    return static_random(torch, "fbgemm", torch.ao.quantization.default_qconfig)


@parity_case()
def static_random_per_channel_fbgemm(torch: Any) -> dict[str, Any]:
    return static_random(torch, "fbgemm", torch.ao.quantization.default_per_channel_qconfig)


@parity_case(ONEDNN)
def static_random_per_channel_x86(torch: Any) -> dict[str, Any]:
    return static_random(torch, "x86", torch.ao.quantization.default_per_channel_qconfig)


@parity_case()
def static_random_qnnpack(torch: Any) -> dict[str, Any]:
    return static_random(torch, "qnnpack", torch.ao.quantization.default_qconfig)


@parity_case()
def quantize_in_one_call(torch: Any) -> dict[str, Any]:
    """``quantize`` with ``default_eval_fn`` on pairs of input and target."""
    torch.backends.quantized.engine = "fbgemm"
    q = torch.quantization
    model = q.QuantWrapper(torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU()))
    fill(torch, model, exact_values)
    model.qconfig = q.default_qconfig
    rng = np.random.default_rng(9)
    data = [
        (torch.from_numpy((rng.integers(-8, 9, (4, 5)) / 4).astype(np.float32)), 0)
        for _ in range(3)
    ]
    quantized = q.quantize(model, q.default_eval_fn, [data])
    return {"stored": stored(quantized), "output": quantized(data[0][0])}


# Quantization-aware training.


def train(torch: Any, qconfig: Any, steps: int) -> dict[str, Any]:
    """Fuse for training, prepare, train a few steps, freeze, convert."""
    torch.backends.quantized.engine = "fbgemm"
    q = torch.ao.quantization
    model = fill(torch, residual_network(torch, eps=1e-5).train(), random_values)
    model = q.fuse_modules_qat(model, FUSED)
    model.qconfig = qconfig
    prepared = q.prepare_qat(model)
    optimizer = torch.optim.SGD(prepared.parameters(), lr=0.01)
    losses = []
    for step in range(steps):
        loss = (prepared(images(torch, step)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    prepared.eval()
    prepared.apply(q.disable_observer)
    named = sorted(dict(prepared.named_parameters()).items())
    fake = prepared(images(torch, 50)).detach()
    quantized = q.convert(prepared)
    return {
        "loss": np.float64(losses),
        "names": str([name for name, _ in named]),
        "float": np.concatenate([value.detach().numpy().ravel() for _, value in named]),
        "fake": fake,
        "kinds": str([type(each).__name__ for each in quantized.children()]),
    }


# Training adds roundings up: a fake-quantized number near a tie may fall to either side.
TRAINING = {
    "loss": Bound("sums in another order, and a tie or two", relative=2e-3),
    "float": Bound("gradients of the same", absolute=1e-3, relative=1e-3),
    "fake": Bound("a tie or two, each one step of the output", absolute=0.1),
}


@parity_case(TRAINING, conventions="torch")
def training_fused(torch: Any) -> dict[str, Any]:
    return train(torch, torch.ao.quantization.get_default_qat_qconfig("fbgemm"), 3)


@parity_case(TRAINING, conventions="torch")
def training_separate(torch: Any) -> dict[str, Any]:
    return train(torch, torch.ao.quantization.default_qat_qconfig, 3)


@parity_case({"outputs/scale*": FLOAT_SUMS}, conventions="torch")
def converted_after_training(torch: Any) -> dict[str, Any]:
    """Weights of layers without batch norm, after ``convert``: integers exactly."""
    torch.backends.quantized.engine = "fbgemm"
    q = torch.ao.quantization
    model = torch.nn.Sequential(
        q.QuantStub(), torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 4)
    )
    fill(torch, model, random_values)
    model = q.fuse_modules_qat(model, [["1", "2"]])
    model.qconfig = q.get_default_qat_qconfig("fbgemm")
    prepared = q.prepare_qat(model.train())
    rng = np.random.default_rng(3)
    for _ in range(3):
        prepared(torch.from_numpy(rng.standard_normal((4, 6)).astype(np.float32)))
    return stored(q.convert(prepared.eval()))


# Dynamic quantization.


def dynamic(torch: Any, model: Any, x: Any, **options: Any) -> dict[str, Any]:
    quantized = torch.quantization.quantize_dynamic(model, **options)
    kinds = str([type(each).__name__ for each in quantized.modules()])
    return {"output": quantized(x), "kinds": kinds, "stored": stored(quantized)}


@parity_case()
def dynamic_linear(torch: Any) -> dict[str, Any]:
    """Exact: the parameters of the input, the integers, and the one rounding at the end."""
    results = {}
    x = np.random.default_rng(1).standard_normal((9, 17)).astype(np.float32)
    for engine in ("fbgemm", "qnnpack"):
        torch.backends.quantized.engine = engine
        for spec in ("default_dynamic_qconfig", "per_channel_dynamic_qconfig"):
            if (engine, spec[0]) == ("qnnpack", "p"):
                continue
            model = fill(torch, torch.nn.Sequential(torch.nn.Linear(17, 11)), random_values)
            qconfig = getattr(torch.ao.quantization, spec)
            results[f"{engine}/{spec}"] = dynamic(
                torch, model, torch.from_numpy(x), qconfig_spec={torch.nn.Linear: qconfig}
            )
    return results


@parity_case({"*/output/*": Bound("sigmoid and tanh to a few ulps", absolute=1e-5)})
def dynamic_recurrent(torch: Any) -> dict[str, Any]:
    torch.backends.quantized.engine = "fbgemm"
    x = torch.from_numpy(np.random.default_rng(2).standard_normal((5, 3, 4)).astype(np.float32))
    results = {}
    for name in ("LSTM", "GRU"):
        layer = getattr(torch.nn, name)(4, 6, num_layers=2, bidirectional=name == "LSTM")
        model = fill(torch, torch.nn.Sequential(layer), random_values)
        results[name] = dynamic(torch, model, x)
    return results


@parity_case({"*output*": Bound("float16 weights, float32 sums in another order", relative=1e-6)})
def dynamic_float16(torch: Any) -> dict[str, Any]:
    torch.backends.quantized.engine = "fbgemm"
    x = torch.from_numpy(np.random.default_rng(2).standard_normal((5, 12)).astype(np.float32))
    model = fill(torch, torch.nn.Sequential(torch.nn.Linear(12, 7)), random_values)
    quantized = torch.quantization.quantize_dynamic(model, dtype=torch.float16)
    return {"output": quantized(x), "kind": type(quantized[0]).__name__}


# Which module becomes what.


@parity_case(conventions="torch")
def observed_and_swapped(torch: Any) -> dict[str, Any]:
    """Where ``prepare`` puts observers, of which kind, in both modes; what ``convert`` makes."""
    nn, q = torch.nn, torch.ao.quantization
    results: dict[str, Any] = {"observers": [], "converted": []}
    for training in (False, True):
        layers = {
            "quant": q.QuantStub(),
            "linear": nn.Linear(2, 2),
            "conv1d": nn.Conv1d(1, 1, 1),
            "conv2d": nn.Conv2d(1, 1, 1),
            "conv3d": nn.Conv3d(1, 1, 1),
            "relu": nn.ReLU(),
            "relu6": nn.ReLU6(),
            "sigmoid": nn.Sigmoid(),
            "tanh": nn.Tanh(),
            "hardsigmoid": nn.Hardsigmoid(),
            "softmax": nn.Softmax(-1),
            "dropout": nn.Dropout(),
            "identity": nn.Identity(),
            "max_pool": nn.MaxPool2d(2),
            "avg_pool": nn.AvgPool2d(2),
            "flatten": nn.Flatten(),
            "batch_norm": nn.BatchNorm1d(2),
            "gelu": nn.GELU(),
            "functional": torch.ao.nn.quantized.FloatFunctional(),
            "conv_relu": torch.ao.nn.intrinsic.ConvReLU2d(nn.Conv2d(1, 1, 1), nn.ReLU()),
            "inner": nn.Sequential(nn.Linear(1, 1), nn.ReLU()),
            "dequant": q.DeQuantStub(),
        }
        model = nn.Sequential()
        for name, layer in layers.items():
            model.add_module(name, layer)
        model.train(training)
        model.qconfig = q.default_qconfig
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # calibrated in training mode, and a lone BatchNorm1d
            prepared = q.prepare(model)
        for path, module in prepared.named_modules():
            observer = getattr(module, "activation_post_process", None)
            results["observers"].append(f"{path}: {type(observer).__name__}")
        for path, observer in prepared.named_modules():
            if path.endswith("activation_post_process") and hasattr(observer, "reset_min_max_vals"):
                observer(torch.tensor([-1.0, 1.0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            converted = q.convert(prepared)
        for path, module in converted.named_children():
            results["converted"].append(f"{path}: {type(module).__name__}")
    return {name: str(texts) for name, texts in results.items()}


def inverted_residuals(torch: Any) -> Any:
    """A small MobileNetV2 as the tutorials have it: subclassed Sequential, depthwise layers."""
    nn, q = torch.nn, torch.quantization

    class ConvBNReLU(nn.Sequential):
        def __init__(self, inputs: int, outputs: int, size: int = 3, groups: int = 1) -> None:
            super().__init__(
                nn.Conv2d(
                    inputs, outputs, size, padding=(size - 1) // 2, groups=groups, bias=False
                ),
                nn.BatchNorm2d(outputs, eps=0.0),
                nn.ReLU(inplace=False),
            )

    class InvertedResidual(nn.Module):
        def __init__(self, channels: int, hidden: int) -> None:
            super().__init__()
            self.conv = nn.Sequential(
                ConvBNReLU(channels, hidden, size=1),
                ConvBNReLU(hidden, hidden, groups=hidden),
                nn.Conv2d(hidden, channels, 1, bias=False),
                nn.BatchNorm2d(channels, eps=0.0),
            )
            self.skip_add = nn.quantized.FloatFunctional()

        def forward(self, x: Any) -> Any:
            return self.skip_add.add(x, self.conv(x))

    class MobileNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(ConvBNReLU(2, 4), InvertedResidual(4, 8))
            self.relu6 = nn.ReLU6()
            self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(4, 3))
            self.quant = q.QuantStub()
            self.dequant = q.DeQuantStub()

        def forward(self, x: Any) -> Any:
            x = self.relu6(self.features(self.quant(x)))
            return self.dequant(self.classifier(x.mean([2, 3])))

        def fuse_model(self) -> None:
            for module in self.modules():
                if type(module) is ConvBNReLU:
                    q.fuse_modules(module, ["0", "1", "2"], inplace=True)
                if type(module) is InvertedResidual:
                    q.fuse_modules(module.conv, ["2", "3"], inplace=True)

    return MobileNet()


@parity_case()
def mobile_network(torch: Any) -> dict[str, Any]:
    """The script of the static quantization tutorial, in place throughout."""
    torch.backends.quantized.engine = "fbgemm"
    model = fill(torch, inverted_residuals(torch), exact_values)
    model.eval()
    model.fuse_model()
    model.qconfig = torch.quantization.default_qconfig
    torch.quantization.prepare(model, inplace=True)
    for seed in (1, 2):
        model(images(torch, seed))
    torch.quantization.convert(model, inplace=True)
    kinds = str([type(each).__name__ for each in model.modules()])
    return {"kinds": kinds, "stored": stored(model), "output": model(images(torch, 3, 2))}
