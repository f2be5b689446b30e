"""The questions of ``quantization.utils``, and what fuses with what."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from parity.cases.scripts_static import kinds
from parity.eager_models import fill, random_values
from parity.harness import Bound, parity_case

QCONFIGS = (
    "default_qconfig",
    "default_per_channel_qconfig",
    "default_debug_qconfig",
    "default_dynamic_qconfig",
    "per_channel_dynamic_qconfig",
    "float16_dynamic_qconfig",
    "float16_static_qconfig",
    "default_qat_qconfig",
    "default_dynamic_qat_qconfig",
    "float_qparams_weight_only_qconfig",
    "float_qparams_weight_only_qconfig_4bit",
    "default_embedding_qat_qconfig",
    "default_symmetric_qnnpack_qconfig",
)
QUESTIONS = (
    "activation_dtype",
    "weight_dtype",
    "get_qconfig_dtypes",
    "activation_is_statically_quantized",
    "activation_is_dynamically_quantized",
    "activation_is_int8_quantized",
    "activation_is_int32_quantized",
    "weight_is_quantized",
    "weight_is_statically_quantized",
    "op_is_int8_dynamically_quantized",
    "get_quant_type",
)


def utils(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.ao.quantization.utils")


@parity_case()
def questions_about_qconfigs(torch: Any) -> dict[str, Any]:
    answers = {}
    for name in QCONFIGS:
        qconfig = getattr(torch.ao.quantization.qconfig, name)
        found = [f"{each}: {getattr(utils(torch), each)(qconfig)!r}" for each in QUESTIONS]
        answers[name] = ", ".join(found)
    return answers


@parity_case()
def ranges_of_integers(torch: Any) -> dict[str, Any]:
    types = ("quint8", "qint8", "quint4x2", "qint32", "uint8", "int8", "int16", "int32")
    answers: dict[str, Any] = {}
    for name in types:
        dtype = getattr(torch, name)
        found = [utils(torch).to_underlying_dtype(dtype)]
        for reduce in (False, True):
            found.append(utils(torch).calculate_qmin_qmax(0, 255, False, dtype, reduce))
        answers[name] = str(found)
    for low, high in ((0, 15), (-128, 127), (-7, 8)):
        dtype = torch.qint8 if low < 0 else torch.quint8
        found = utils(torch).calculate_qmin_qmax(low, high, True, dtype, True)
        answers[f"custom/{low}"] = np.int64(found)
    return answers


@parity_case(conventions="torch")
def parameters_of_ranges(torch: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    low, high = np.sort(rng.standard_normal((2, 40)).astype(np.float32), axis=0)
    low, high = torch.from_numpy(low), torch.from_numpy(high)
    eps = torch.tensor([2.0**-23])
    answers = {}
    for scheme in ("affine", "symmetric"):
        for quant_min, quant_max, custom in ((0, 255, False), (0, 127, False), (0, 100, True)):
            found = utils(torch).determine_qparams(
                low,
                high,
                quant_min,
                quant_max,
                torch.quint8,
                eps,
                custom,
                getattr(torch, f"per_channel_{scheme}"),
            )
            answers[f"{scheme}/{quant_max}"] = dict(
                zip(("scale", "zero_point"), found, strict=True)
            )
    return answers


@parity_case()
def all_parameters_of_an_observer(torch: Any) -> dict[str, Any]:
    q = torch.ao.quantization
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32))
    answers = {}
    for name in ("MinMaxObserver", "PerChannelMinMaxObserver", "FakeQuantize"):
        observer = getattr(q, name)()
        observer(x)
        answers[name] = {
            key: value if hasattr(value, "numpy") else str(value)
            for key, value in utils(torch).get_qparam_dict(observer).items()
        }
    return answers


@parity_case({"output/*": Bound("float32 sums of 18 terms, in another order", absolute=1e-5)})
def every_fusion(torch: Any) -> dict[str, Any]:
    """All sequences of eager mode: what they become, for inference and for training."""
    nn, q = torch.nn, torch.ao.quantization
    sequences = {}
    for n, shape in ((1, (2, 2, 5)), (2, (2, 2, 5, 5)), (3, (2, 2, 4, 4, 4))):
        layers = {each: getattr(nn, f"{each}{n}d") for each in ("Conv", "BatchNorm")}
        transposed = getattr(nn, f"ConvTranspose{n}d")
        conv, bn = layers["Conv"], layers["BatchNorm"]
        sequences |= {
            f"conv{n}_bn": (lambda conv=conv, bn=bn: [conv(2, 3, 3), bn(3)], shape),
            f"conv{n}_bn_relu": (
                lambda conv=conv, bn=bn: [conv(2, 3, 3), bn(3), nn.ReLU()],
                shape,
            ),
            f"conv{n}_relu": (lambda conv=conv: [conv(2, 3, 3), nn.ReLU()], shape),
            f"transposed{n}_bn": (lambda t=transposed, bn=bn: [t(2, 3, 3), bn(3)], shape),
        }
        if n > 1:
            sequences[f"bn{n}_relu"] = (lambda bn=bn: [bn(2), nn.ReLU()], shape)
    sequences["linear_relu"] = (lambda: [nn.Linear(2, 3), nn.ReLU()], (4, 2))
    sequences["linear_bn"] = (lambda: [nn.Linear(2, 3), nn.BatchNorm1d(3)], (4, 2))
    output, fused_kinds = {}, {}
    for name, (make, shape) in sequences.items():
        x = torch.from_numpy(np.random.default_rng(1).standard_normal(shape).astype(np.float32))
        layers = make()
        paths = [str(index) for index in range(len(layers))]
        model = fill(torch, nn.Sequential(*layers), random_values).eval()
        fused = q.fuse_modules(model, [paths])
        fused_kinds[name] = kinds(fused)
        output[name] = fused(x).detach()
        if not name.startswith("transposed"):
            fused_kinds[f"{name}/training"] = kinds(q.fuse_modules_qat(model.train(), [paths]))
    return {"kinds": str(fused_kinds), "output": output}
