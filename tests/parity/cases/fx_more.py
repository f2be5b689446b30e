"""Graph mode: further models, each compared as a whole."""

from __future__ import annotations

import warnings
from typing import Any

from parity.cases.fx_backend_config import load
from parity.eager_models import FLOAT_SUMS
from parity.fx_graphs import global_mapping, images, model, rows, workflow
from parity.harness import parity_case

SUMS = {"*output*": FLOAT_SUMS, "*numbers/scales": FLOAT_SUMS}


@parity_case()
def in_place_and_reused(torch: Any) -> dict[str, Any]:
    """Use in-place forms, a ReLU module after several layers, and ``+=``."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = m.relu(m.a(x))
        y = m.relu(m.b(y))
        z = m.c(y).relu_()
        z += y
        z = F.relu(z, inplace=True)
        z = F.hardtanh(z, inplace=True)
        return m.identity(torch.cat([z, z, y], dim=1))

    net = model(
        torch, forward, a=nn.Conv2d(4, 4, 1), b=nn.Conv2d(4, 4, 1), c=nn.Conv2d(4, 4, 1),
        relu=nn.ReLU(inplace=True), identity=nn.Identity(),
    )  # fmt: skip
    return workflow(torch, net, (images(torch),))


@parity_case()
def parameters_as_operands(torch: Any) -> dict[str, Any]:
    """Parameters in sums, products and matrix products."""
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        y = m.linear(x) * m.scale + m.shift
        return torch.matmul(y, m.matrix)

    parameters = {"scale": (6,), "shift": (6,), "matrix": (6, 3)}
    net = model(torch, forward, parameters, linear=nn.Linear(6, 6))
    return workflow(torch, net, (rows(torch),))


@parity_case()
def pooling_of_every_kind(torch: Any) -> dict[str, Any]:
    """One to three dimensions, modules and functions."""
    nn, F = torch.nn, torch.nn.functional
    found = {}
    for d, shape in ((1, (2, 4, 8)), (2, (2, 4, 8, 8))):
        parts = {
            "conv": getattr(nn, f"Conv{d}d")(4, 4, 1),
            "max": getattr(nn, f"MaxPool{d}d")(2),
            "avg": getattr(nn, f"AvgPool{d}d")(2),
            "adaptive": getattr(nn, f"AdaptiveAvgPool{d}d")(1),
        }

        def forward(m: Any, x: Any, d: int = d) -> Any:
            y = m.conv(x)
            z = getattr(F, f"max_pool{d}d")(y, 2, stride=1, padding=1)
            return m.adaptive(m.avg(m.max(y))) + getattr(F, f"adaptive_avg_pool{d}d")(z, 1)

        net = model(torch, forward, **parts)
        found[str(d)] = workflow(torch, net, (images(torch, 5, *shape),))
    return found


@parity_case()
def rearrangements(torch: Any) -> dict[str, Any]:
    """Pixel shuffle, narrow, repeat, stack, squeeze, detach, floor division of sizes."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = F.pixel_shuffle(m.conv(x), 2)
        y = m.unshuffle(y)
        y = torch.narrow(y, 1, 0, 2).repeat(1, 2, 1, 1).detach()
        y = torch.stack([y, y]).squeeze(0)
        y = torch.transpose(torch.unsqueeze(y, 0), 1, 2)
        return torch.repeat_interleave(y, 2, 0).reshape(y.size(0) // 1, -1)

    net = model(torch, forward, conv=nn.Conv2d(4, 4, 1), unshuffle=nn.PixelUnshuffle(2))
    return workflow(torch, net, (images(torch),))


@parity_case(bounds={"*output*": FLOAT_SUMS, "*numbers/scales": FLOAT_SUMS})
def without_forms_for_integers(torch: Any) -> dict[str, Any]:
    """Operations that stay float, between quantized layers."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = m.linear(x)
        a, b = y.chunk(2, 1)
        y = torch.cat([a, b.exp()], 1)
        y = m.gelu(m.linear2(y)) / 2
        y = F.softmax(y, dim=-1)
        return m.linear3(y[:, 1:]) - y.sum()

    net = model(
        torch, forward, linear=nn.Linear(6, 6), linear2=nn.Linear(6, 6), linear3=nn.Linear(5, 6),
        gelu=nn.GELU(),
    )  # fmt: skip
    return workflow(torch, net, (rows(torch),))


@parity_case(bounds=SUMS)
def global_qconfig_only(torch: Any) -> dict[str, Any]:
    """Without the usual entries: a sigmoid cannot take the observer, layer norm can."""
    nn, q = torch.nn, torch.ao.quantization

    def forward(m: Any, x: Any) -> Any:
        y = m.norm(m.linear(x)).reshape(-1, 6)
        return m.tanh(torch.sigmoid(y) + m.linear2(y))

    net = model(
        torch, forward, linear=nn.Linear(6, 6), norm=nn.LayerNorm(6), linear2=nn.Linear(6, 6),
        tanh=nn.Tanh(),
    )  # fmt: skip
    mapping = global_mapping(torch, q.get_default_qconfig("x86"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warn of the sigmoid
        return workflow(torch, net, (rows(torch),), mapping=mapping)


@parity_case()
def linear_batch_norm(torch: Any) -> dict[str, Any]:
    """Folded for inference."""
    nn = torch.nn
    net = model(
        torch,
        lambda m, x: m.relu(m.bn(m.linear(x))),
        linear=nn.Linear(6, 6),
        bn=nn.BatchNorm1d(6, eps=0.0),
        relu=nn.ReLU(),
    )
    return workflow(torch, net, (rows(torch),))


@parity_case(bounds=SUMS)
def fused_for_training(torch: Any) -> dict[str, Any]:
    """All fused layers of training."""
    nn = torch.nn
    found = {}
    for d, shape in ((1, (2, 4, 8)), (2, (2, 4, 5, 5)), (3, (1, 4, 3, 4, 4))):
        conv, bn = getattr(nn, f"Conv{d}d"), getattr(nn, f"BatchNorm{d}d")
        net = model(
            torch,
            lambda m, x: m.relu2(m.conv3(m.bn2(m.conv2(m.relu(m.bn(m.conv(x))))))),
            conv=conv(4, 4, 1), bn=bn(4), relu=nn.ReLU(), conv2=conv(4, 4, 1), bn2=bn(4),
            conv3=conv(4, 4, 1), relu2=nn.ReLU(),
        )  # fmt: skip
        found[str(d)] = workflow(torch, net, (images(torch, 5, *shape),), qat=True)
    net = model(
        torch,
        lambda m, x: m.bn(m.linear(x)),
        linear=nn.Linear(6, 6),
        bn=nn.BatchNorm1d(6),
    )
    found["linear"] = workflow(torch, net, (rows(torch),), qat=True)
    return found


@parity_case(bounds=SUMS)
def training_of_functions(torch: Any) -> dict[str, Any]:
    """Functional layers and fixed ranges for training."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = F.relu(F.linear(x, m.w, m.b))
        return torch.sigmoid(F.linear(m.norm(y), m.w)).reshape(2, -1)

    net = model(torch, forward, {"w": (6, 6), "b": (6,)}, norm=nn.LayerNorm(6))
    return workflow(torch, net, (rows(torch),), qat=True)


@parity_case(bounds=SUMS)
def other_back_ends(torch: Any) -> dict[str, Any]:
    """Fbgemm has no layer norm, executorch no matrix product."""
    nn = torch.nn
    found = {}
    for name in ("fbgemm", "executorch", "qnnpack"):
        backend = getattr(load(torch), f"get_{name}_backend_config")()
        net = model(
            torch,
            lambda m, x: torch.matmul(m.norm(m.linear(x)), m.linear(x).transpose(0, 1)),
            linear=nn.Linear(6, 6),
            norm=nn.LayerNorm(6),
        )
        found[name] = workflow(torch, net, (rows(torch),), backend_config=backend)
    return found


@parity_case(bounds={"*output*": FLOAT_SUMS})
def outputs_in_structures(torch: Any) -> dict[str, Any]:
    """Several inputs and outputs; one input used by quantized and float operations."""
    nn = torch.nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)

        def forward(self, x: Any, y: Any = None) -> Any:
            u, v = self.a(x), self.b(y)
            return {"sum": u + v, "parts": (u, [v, x]), "float": torch.cos(y)}

    return workflow(torch, Network(), (rows(torch, 1), rows(torch, 2)))
