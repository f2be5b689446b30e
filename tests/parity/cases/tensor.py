"""Tensors: arithmetic, shapes, indexing, gradients, random streams, printing, quantized tensors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from parity.harness import Bound, parity_case

ULPS = Bound("libm and torch's vector functions differ by a few ulp of float32", relative=2.0**-21)
SUMS = Bound("sums of at most 24 float32 numbers in another order", relative=24 * 2.0**-24)


def _array(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _text(value: Any) -> str:
    return repr(value).replace("torch.", "").replace("pyqref.", "")


@parity_case()
def arithmetic(torch: Any) -> dict[str, Any]:
    """Exact: every operation is rounded once, but for a number over a tensor."""
    a, b = torch.from_numpy(_array(3, 4)), torch.from_numpy(_array(4, seed=1))
    n = torch.arange(-6, 6).reshape(3, 4)
    return {
        "sum": a + b,
        "scaled": torch.add(a, b, alpha=2),
        "difference": 1 - a,
        "product": a * b,
        "quotient": a / b,
        "number_over_tensor": torch.stack([3 / a, 0.1 / a]),
        "integers": n / 4,
        "floor": n // 4,
        "trunc": torch.div(n, 4, rounding_mode="trunc"),
        "remainder": n % 4,
        "fmod": torch.fmod(n, 4),
        "remainder_float": a % 0.3,
        "square": a**2,
        "cube": a**3,
        "maximum": torch.maximum(a, b),
        "clamp": a.clamp(-0.5, 0.5),
        "where": torch.where(a > b, a, b),
        "round": torch.round(a * 4) / 4,
        "mixed": a + n,
        "bytes": torch.tensor([250], dtype=torch.uint8) + 10,
        "lerp": torch.lerp(a, b.expand(3, 4), 0.25),
    }


@parity_case({"*": ULPS})
def functions(torch: Any) -> dict[str, Any]:
    """Elementary functions."""
    x = torch.from_numpy(np.abs(_array(40)) + 0.1)
    names = ["exp", "log", "log1p", "log2", "expm1", "sqrt", "rsqrt", "sin", "cos", "tanh"]
    names += ["sigmoid", "erf", "atan", "sinh"]
    return {"all": torch.stack([getattr(torch, name)(x) for name in names])}


@parity_case({"*": SUMS})
def reductions(torch: Any) -> dict[str, Any]:
    """Over all axes, some, and along one."""
    x = torch.from_numpy(_array(2, 3, 4))
    results: dict[str, Any] = {}
    for name in ("sum", "mean", "std", "var", "norm", "amax", "amin"):
        results[name] = getattr(x, name)()
        results[f"{name}_dim"] = getattr(x, name)(dim=(0, 2), keepdim=True)
    for name in ("max", "min", "sort", "median", "kthvalue"):
        options = {"k": 2} if name == "kthvalue" else {}
        values, indices = getattr(x, name)(dim=1, **options)
        results[f"{name}_values"], results[f"{name}_indices"] = values, indices
    results["topk"] = x.topk(2)[1]
    results["argmax"] = x.argmax(dim=2)
    results["cumsum"] = x.cumsum(1)
    results["prod"] = x.prod(1)
    results["histc"] = torch.histc(x, bins=5)
    return results


@parity_case()
def shapes(torch: Any) -> dict[str, Any]:
    """Elements, strides and offsets of views and copies."""
    x = torch.arange(24).reshape(2, 3, 4)
    views = {
        "permute": x.permute(2, 0, 1),
        "select": x[1, :, 2],
        "slice": x[:, 1:, ::2],
        "expand": x[0, 0].expand(3, 4),
        "as_strided": x.as_strided((2, 3), (5, 2), 1),
        "diagonal": x.diagonal(0, 1, 2),
        "unfold": x.unfold(2, 2, 1),
        "chunk": x.chunk(2, 2)[1],
        "flip": x.flip(0, 2),
        "roll": x.roll(1, 2),
        "repeat": x.repeat(1, 2, 1),
        "cat": torch.cat([x, x.flip(0)], 1),
        "stack": torch.stack([x, x], -1),
        "tril": x.tril(),
        "flatten": x.flatten(1),
        "movedim": x.movedim(0, 2),
    }
    places = [(name, tuple(v.stride()), v.storage_offset()) for name, v in views.items()]
    return {"elements": torch.cat([v.reshape(-1) for v in views.values()]), "places": str(places)}


@parity_case()
def indexing(torch: Any) -> dict[str, Any]:
    """Integers, slices, tensors and masks in one key; writing."""
    x = torch.arange(24).reshape(2, 3, 4)
    y = x.clone()
    y[0, :, torch.tensor([1, 2])] = -1
    y[y > 20] = 0
    y[1, 1:] = torch.arange(4)
    return {
        "separated": x[0, :, torch.tensor([1, 2])],
        "first": x[torch.tensor([1, 0]), :, torch.tensor([1, 2])],
        "list": x[:, [2, 0]],
        "mask": x[x % 5 == 0],
        "none": x[None, ..., None, 0],
        "written": y,
        "gather": x[0].gather(0, torch.tensor([[0, 1, 2, 0]])),
        "scatter": torch.zeros(3, 4).scatter_(0, torch.tensor([[0, 1, 2, 0]]), 1.0),
        "index_add": torch.zeros(3, 2).index_add_(0, torch.tensor([0, 0]), torch.ones(2, 2)),
        "nonzero": (x % 7 == 0).nonzero(),
        "unique": torch.unique(x % 5, return_counts=True)[1],
    }


@parity_case({"*": SUMS})
def gradients(torch: Any) -> dict[str, Any]:
    """Through broadcasting, products, indexing, views changed in place."""
    x = torch.from_numpy(_array(3, 4)).requires_grad_()
    w = torch.from_numpy(_array(4, seed=1)).requires_grad_()
    y = x * w
    y[1:].mul_(2)
    y[0, 1] = w.sum()
    z = y.t()[torch.tensor([0, 2, 2])]
    loss = (z @ torch.ones(3, 2)).sum() + y.max(1)[0].sum() + (x.std() * w.norm())
    loss.backward()
    return {"loss": loss.detach(), "x": x.grad, "w": w.grad}


@parity_case()
def random_streams(torch: Any) -> dict[str, Any]:
    """After manual_seed the numbers are the same, to the last bit."""
    torch.manual_seed(20)
    return {
        "rand": torch.rand(5),
        "double": torch.rand(3, dtype=torch.float64),
        "few_normal": torch.randn(5),
        "normal": torch.randn(37),
        "more_normal": torch.randn(3),
        "integers": torch.randint(-5, 100, (7,)),
        "permutation": torch.randperm(20),
        "uniform": torch.empty(9).uniform_(-0.3, 0.7),
        "scaled": torch.empty(20).normal_(1.0, 0.5),
        "bernoulli": torch.bernoulli(torch.full((20,), 0.4)),
        "multinomial": torch.multinomial(torch.arange(1.0, 9.0), 5),
    }


@parity_case(conventions="torch")
def printing(torch: Any) -> dict[str, Any]:
    """The text of tensors, but for the name of the package."""
    x = torch.from_numpy(_array(3, 4))
    scales, zero_points = torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 2])
    tensors = {
        "floats": x,
        "large": x * 1e6,
        "small": x * 1e-6,
        "whole": torch.round(x * 10),
        "integers": torch.arange(-3, 9).reshape(3, 4),
        "half": x.half(),
        "single": x[0, 0],
        "long": torch.arange(2000.0) / 7,
        "matrix": torch.arange(10000).reshape(100, 100),
        "empty": torch.zeros(0, 3),
        "leaf": x.clone().requires_grad_(),
        "result": (x.clone().requires_grad_() * 2).mean(),
        "special": torch.tensor([float("nan"), float("inf"), -1.5]),
        "quantized": torch.quantize_per_tensor(x, 0.1, 3, torch.qint8),
        "per_channel": torch.quantize_per_channel(x, scales, zero_points, 0, torch.quint8),
        "pair": x.max(1),
    }
    # "pyqref." is longer than "torch.", so that lines may break at other places
    joined = " ".join(_text(tensors.pop("per_channel")).split())
    return {"text": "\n".join(map(_text, tensors.values())), "per_channel": joined}


@parity_case()
def quantized(torch: Any) -> dict[str, Any]:
    """Integers, scales and zero points of quantized tensors and of what is made from them."""
    x = torch.from_numpy(_array(2, 3, 4) * 3)
    q = torch.quantize_per_tensor(x, 0.1, 30, torch.quint8)
    scales = torch.tensor([0.1, 0.05, 0.02], dtype=torch.float64)
    c = torch.quantize_per_channel(x, scales, torch.tensor([3, -2, 0]), 1, torch.qint8)
    written = q.clone()
    written[0, 1] = 1.5
    written[1].fill_(-0.35)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the grids differ
        joined = torch.cat([q, torch.quantize_per_tensor(x, 0.2, 10, torch.quint8)], 1)
    return {
        "per_tensor": q,
        "qint8": torch.quantize_per_tensor(x, 0.03, -5, torch.qint8),
        "qint32": torch.quantize_per_tensor(x, 1e-5, 7, torch.qint32),
        "tensor_parameters": torch.quantize_per_tensor(
            x, torch.tensor(0.1), torch.tensor(3), torch.quint8
        ),
        "per_channel": c,
        "dequantized": q.dequantize(),
        "dequantized_channels": c.dequantize(),
        "dynamic": torch.quantize_per_tensor_dynamic(x, torch.quint8, False),
        "dynamic_reduced": torch.quantize_per_tensor_dynamic(x, torch.qint8, True),
        "channel": c[:, 1],
        "slice": c[..., 1:],
        "permuted": q.permute(2, 0, 1),
        "max": q.max(),
        "mean": q.mean((0, 2)),
        "relu": q.relu(),
        "sorted": q.sort(2)[0],
        "cat": joined,
        "clamp": q.clamp(-1, 1),
        "sigmoid": q.sigmoid(),
        "tanh": q.tanh(),
        "written": written,
        "less": q < 0.5,
    }
