"""Fake quantization: values, gradients, and the state of the fake quantizers."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.harness import joined, parity_case

NAMES = [
    "default_fake_quant",
    "default_weight_fake_quant",
    "default_per_channel_weight_fake_quant",
    "default_dynamic_fake_quant",
    "default_histogram_fake_quant",
    "default_embedding_fake_quant",
    "default_embedding_fake_quant_4bit",
    "default_fixed_qparams_range_0to1_fake_quant",
    "default_fixed_qparams_range_neg1to1_fake_quant",
    "default_fused_act_fake_quant",
    "default_fused_wt_fake_quant",
    "default_fused_per_channel_wt_fake_quant",
    "fused_wt_fake_quant_range_neg_127_to_127",
    "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
]


def batches(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    made = [(rng.standard_normal((4, 6)) * s).astype(np.float32) for s in (1, 3, 0.1, 1)]
    return [*made, np.abs(made[0])]


def run(torch: Any, fake_quantize: Any, data: list[Any]) -> dict[str, Any]:
    """Values, gradients and parameters, batch after batch."""
    steps = []
    for batch in data:
        x = torch.from_numpy(batch.copy()).requires_grad_()
        y = fake_quantize(x)
        (y * torch.arange(y.numel(), dtype=torch.float32).reshape(y.shape)).sum().backward()
        chosen_scale, chosen_zero_point = fake_quantize.calculate_qparams()
        found = {
            "y": y.detach(),
            "grad": x.grad,
            "scale": fake_quantize.scale,
            "zero_point": fake_quantize.zero_point,
            "observer_scale": chosen_scale,
            "observer_zero_point": chosen_zero_point,
        }
        steps.append({name: each.numpy().ravel().copy() for name, each in found.items()})
    return joined(steps)


@parity_case(conventions="torch")
def default_fake_quants(torch: Any) -> dict[str, Any]:
    q = torch.ao.quantization
    return joined([run(torch, getattr(q, name)(), batches(0)) for name in NAMES])


@parity_case()
def default_fake_quants_away_from_ties(torch: Any) -> dict[str, Any]:
    """Under the documented conventions the same numbers, except at ties."""
    names = [name for name in NAMES if "embedding" not in name]
    q = torch.ao.quantization
    return joined([run(torch, getattr(q, name)(), batches(1)) for name in names])


@parity_case(conventions="torch")
def per_tensor_near_ties(torch: Any) -> dict[str, Any]:
    """Halves and their neighbours, for odd and even zero points."""
    results = []
    halves = np.arange(-300, 300, dtype=np.float32) + np.float32(0.5)
    for scale in (1.0, 0.37):
        for zero_point in (0, 1, 128, 255):
            x = halves * np.float32(scale)
            x = np.concatenate([x, np.nextafter(x, np.float32(1e9))])
            y = torch.fake_quantize_per_tensor_affine(
                torch.from_numpy(x), scale, zero_point, 0, 255
            )
            # As integers, which take less room in a recording.
            integers = np.rint(y.numpy() / np.float32(scale)).astype(np.int16)
            results.append({"integers": integers, "some": y.numpy()[::50].copy()})
    return joined(results)


@parity_case(conventions="torch")
def per_channel_each_axis(torch: Any) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    results = {}
    for axis in range(3):
        x = torch.from_numpy(rng.standard_normal((3, 3, 3)).astype(np.float32)).requires_grad_()
        scale = torch.from_numpy(np.float32([0.1, 0.02, 0.003]))
        zero_point = torch.from_numpy(np.int32([0, 7, -100]))
        y = torch.fake_quantize_per_channel_affine(x, scale, zero_point, axis, -128, 127)
        y.sum().backward()
        results[f"{axis}"] = {"y": y, "grad": x.grad}
    return results


@parity_case(conventions="torch")
def fused_function(torch: Any) -> dict[str, Any]:
    """The function with its state: per tensor and per row, switches on and off."""
    results = []
    rng = np.random.default_rng(3)
    for per_row in (False, True):
        for symmetric in (False, True):
            size = 4 if per_row else 1
            low, high = torch.full((size,), float("inf")), torch.full((size,), float("-inf"))
            scale = torch.ones(size)
            zero_point = torch.zeros(size, dtype=torch.int32)
            for observer, fake in ((1, 1), (1, 0), (0, 1), (0, 0)):
                x = torch.from_numpy((rng.standard_normal((4, 5)) * 2).astype(np.float32))
                y = torch.fused_moving_avg_obs_fake_quant(
                    x,
                    torch.tensor([observer]),
                    torch.tensor([fake]),
                    low,
                    high,
                    scale,
                    zero_point,
                    0.1,
                    -128,
                    127,
                    0,
                    per_row,
                    symmetric,
                )
                state = (y, low, high, scale, zero_point)
                names = ("y", "low", "high", "scale", "zero_point")
                results.append(
                    {
                        name: each.numpy().ravel().copy()
                        for name, each in zip(names, state, strict=True)
                    }
                )
    return joined(results)


@parity_case(conventions="torch")
def fused_small_scales(torch: Any) -> dict[str, Any]:
    """All zero gives scale 0.1; scales are at least 6.1e-5."""
    results = []
    for name in ("default_fused_act_fake_quant", "default_fused_wt_fake_quant"):
        for reach in (0.0, 1e-38, 1e-9, 1e-3, 1e-2, 1.0):
            fake_quantize = getattr(torch.ao.quantization, name)()
            y = fake_quantize(torch.from_numpy(np.float32([-0.3, 0.0, 1.0]) * np.float32(reach)))
            found = {"y": y, "scale": fake_quantize.scale, "zero_point": fake_quantize.zero_point}
            results.append({key: each.numpy().copy() for key, each in found.items()})
    return joined(results)


@parity_case()
def state_and_repr(torch: Any) -> dict[str, Any]:
    """Keys, values and printed form after a batch."""
    results: dict[str, Any] = {}
    values = []
    for name in NAMES:
        fake_quantize = getattr(torch.ao.quantization, name)()
        before = repr(fake_quantize)
        fake_quantize(torch.from_numpy(batches(4)[0]))
        state = fake_quantize.state_dict()
        results[name] = f"{before} {list(state)}"
        values += [{"state": each.numpy().ravel().copy()} for each in state.values()]
    return {**results, **joined(values)}


@parity_case(conventions="torch")
def fused_zero_points_of_symmetric_ranges(torch: Any) -> dict[str, Any]:
    """-k/4..k/4: the zero point lies at a half, and the rounded scale decides."""
    results = []
    for make in ("default_fused_act_fake_quant", "default_fused_wt_fake_quant"):
        for reduce_range in (False, True):
            for k in range(1, 60):
                recipe = getattr(torch.ao.quantization, make)
                fake_quantize = recipe.with_args(reduce_range=reduce_range)()
                fake_quantize(torch.from_numpy(np.float32([-k / 4, k / 4])))
                scale, zero_point = fake_quantize.scale, fake_quantize.zero_point
                results.append({"scale": scale.numpy(), "zero_point": zero_point.numpy()})
    return joined(results)


@parity_case()
def float_zero_points_near_ties(torch: Any) -> dict[str, Any]:
    """A float zero point is added by a fused multiply-add, and subtracted in double."""
    rng = np.random.default_rng(6)
    scale = rng.uniform(0.01, 1, (7, 1)).astype(np.float32)
    zero_point = rng.uniform(-20, 40, (7, 1)).astype(np.float32)
    x = ((rng.integers(-2, 18, (7, 50)) + 0.5 - zero_point) * scale).astype(np.float32)
    y = torch.fake_quantize_per_channel_affine(
        torch.from_numpy(x),
        torch.from_numpy(scale.ravel()),
        torch.from_numpy(zero_point.ravel()),
        0,
        0,
        15,
    )
    return {"y": y}
