"""Quantized embeddings: tables of bytes and of 4 bits, their bags, rows with parameters."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
from parity.harness import parity_case


def quantized_nn(torch: Any, kind: str = "nn.quantized") -> Any:
    """``torch.nn.quantized``, imported."""
    return importlib.import_module(f"{torch.__name__}.{kind}")


def table(torch: Any, rows: int = 10, columns: int = 16, seed: int = 0) -> Any:
    values = np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)
    return torch.from_numpy(values)


def quantized(torch: Any, dtype: str) -> Any:
    """A table with float zero points."""
    weight = table(torch)
    steps = 255 if dtype == "quint8" else 15
    low, high = weight.numpy().min(1), weight.numpy().max(1)
    scales = (high - low) / np.float32(steps)
    zero_points = -low / scales
    parts = torch.from_numpy(scales), torch.from_numpy(zero_points)
    return torch.quantize_per_channel(weight, *parts, 0, getattr(torch, dtype))


def numbers(torch: Any, *values: int, dtype: str = "int64") -> Any:
    return torch.from_numpy(np.array(values, dtype))


@parity_case()
def lookups(torch: Any) -> dict[str, Any]:
    """Rows and bags of both dtypes."""
    ops = torch.ops.quantized
    results: dict[str, Any] = {}
    many = numbers(torch, 9, 6, 5, 7, 8, 8, 9, 2, 8, 6, 6, 9)
    offsets = numbers(torch, 0, 0, 5, 11)
    shares = torch.from_numpy(np.linspace(-1, 2, 12).astype(np.float32))
    for dtype, name in (("quint8", "byte"), ("quint4x2", "4bit")):
        weight = quantized(torch, dtype)
        packed = ops.embedding_bag_prepack(weight)
        unpacked = ops.embedding_bag_unpack(packed)
        results[f"{name}/integers"] = unpacked.int_repr()
        results[f"{name}/scales"] = unpacked.q_per_channel_scales().clone()
        results[f"{name}/zero_points"] = unpacked.q_per_channel_zero_points().clone()
        look, bag = getattr(ops, f"embedding_{name}"), getattr(ops, f"embedding_bag_{name}")
        results[f"{name}/rows"] = look(packed, many)
        results[f"{name}/rows32"] = look(packed, numbers(torch, 3, 1, dtype="int32"))
        results[f"{name}/bags"] = bag(packed, many, offsets)
        results[f"{name}/weighted"] = bag(packed, many, offsets, False, 0, False, shares)
        results[f"{name}/matrix"] = bag(packed, many.reshape(3, 4))
        last = numbers(torch, 0, 4, 12)
        results[f"{name}/last"] = bag(packed, many, last, include_last_offset=True)
    return results


@parity_case()
def rows_of_bytes(torch: Any) -> dict[str, Any]:
    """Float tables to rows that end in scale and offset, back, and their bags."""
    ops = torch.ops.quantized
    weight = table(torch, 8, 24)
    weight[1], weight[2] = 0.0, 3.0
    # Out of the range torch wraps bytes around; fewer bits it clamps.
    narrow, wide = (
        torch.from_numpy(np.tile(np.float32(pair), (8, 1))) for pair in ([-1.5, 2.0], [-5, 4])
    )
    indices, offsets = numbers(torch, 7, 3, 3, 1, 2), numbers(torch, 0, 2)
    results: dict[str, Any] = {}
    for name in ("byte", "4bit", "2bit"):
        rows = getattr(ops, f"embedding_bag_{name}_prepack")(weight)
        results[f"{name}/rows"] = rows
        results[f"{name}/unpacked"] = getattr(ops, f"embedding_bag_{name}_unpack")(rows)
        run = getattr(ops, f"embedding_bag_{name}_rowwise_offsets")
        results[f"{name}/bags"] = run(rows, indices, offsets)
        given = getattr(ops, f"embedding_bag_{name}_prepack_with_rowwise_min_max")
        results[f"{name}/given"] = given(weight, wide if name == "byte" else narrow)
    results["searched"] = ops.embedding_bag_4bit_prepack(weight[3:], True)
    return results


@parity_case()
def modules(torch: Any) -> dict[str, Any]:
    """Look-ups, texts and states of the modules."""
    nnq = quantized_nn(torch)
    results: dict[str, Any] = {}
    byte, nibble = quantized(torch, "quint8"), quantized(torch, "quint4x2")
    made = {
        "embedding": nnq.Embedding(10, 16, _weight=byte),
        "bag": nnq.EmbeddingBag(10, 16, _weight=byte, include_last_offset=True),
        "bag4": nnq.EmbeddingBag(
            10, 16, _weight=nibble, dtype=torch.quint4x2, include_last_offset=True
        ),
    }
    indices = numbers(torch, 9, 6, 5, 7, 8)
    for name, module in made.items():
        arguments = (indices,) if name == "embedding" else (indices, numbers(torch, 0, 2, 5))
        results[name] = module(*arguments)
        results[f"{name}/repr"] = repr(module)
        results[f"{name}/keys"] = list(module.state_dict())
        weight = module.weight()
        results[f"{name}/weight"] = weight.int_repr()
    return results


@parity_case()
def conversion(torch: Any) -> dict[str, Any]:
    """Static and dynamic conversion, and training with fake-quantized tables."""
    nn, q = torch.nn, importlib.import_module(f"{torch.__name__}.ao.quantization")
    tables = importlib.import_module(f"{torch.__name__}.ao.quantization.quantization_mappings")
    indices = numbers(torch, 9, 6, 5, 7, 8, 1).reshape(2, 3)
    results: dict[str, Any] = {}

    def filled(module: Any) -> Any:
        module.weight.data = table(torch)
        return nn.Sequential(module)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("float_qparams_weight_only_qconfig", "float_qparams_weight_only_qconfig_4bit"):
            model = filled(nn.EmbeddingBag(10, 16, mode="sum"))
            model.qconfig = getattr(q, name)
            converted = q.convert(q.prepare(model))
            results[name] = {"y": converted(indices), "text": repr(converted)}
        model = filled(nn.Embedding(10, 16))
        dynamic = q.quantize_dynamic(model, {nn.Embedding: q.float_qparams_weight_only_qconfig})
        results["dynamic"] = {"y": dynamic(indices), "text": repr(dynamic)}
        for name, qconfig in (
            ("qat", q.default_embedding_qat_qconfig),
            ("qat4", q.default_embedding_qat_qconfig_4bit),
        ):
            model = filled(nn.EmbeddingBag(10, 16, mode="sum")).train()
            model.qconfig = qconfig
            prepared = q.prepare_qat(model, tables.get_embedding_qat_module_mappings())
            y = prepared(indices.reshape(6, 1))
            (y * y).sum().backward()
            results[name] = {"y": y, "gradient": prepared[0].weight.grad}
            mapping = tables.get_embedding_static_quant_module_mappings()
            converted = q.convert(prepared.eval(), mapping)
            results[name]["converted"] = converted(indices)
    return results
