"""Graph mode, static quantization of what stands between layers."""

from __future__ import annotations

from typing import Any

from parity.eager_models import FLOAT_SUMS
from parity.fx_graphs import images, model, rows, workflow
from parity.harness import parity_case


@parity_case()
def residual(torch: Any) -> dict[str, Any]:
    """Sums, products and concatenation, with and without ReLU."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = m.relu(m.conv(x))
        z = F.relu(m.conv2(y) + y)
        z = torch.cat([z, y * z], dim=1)
        z = torch.relu(torch.mul(z, z))
        return m.relu2(torch.add(m.conv3(z), m.conv2(y)))

    net = model(
        torch,
        forward,
        conv=nn.Conv2d(4, 4, 3, padding=1),
        relu=nn.ReLU(),
        conv2=nn.Conv2d(4, 4, 1),
        conv3=nn.Conv2d(8, 4, 1),
        relu2=nn.ReLU(),
    )
    return workflow(torch, net, (images(torch),))


@parity_case()
def scalars(torch: Any) -> dict[str, Any]:
    """Sums and products with numbers, on either side."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = F.relu((m.linear(x) * 2) + 3)
        y = 1 + y
        y = torch.mul(y, 0.5)
        return m.head(y).mul(2) - 1

    net = model(torch, forward, linear=nn.Linear(6, 6), head=nn.Linear(6, 2))
    return workflow(torch, net, (rows(torch),))


@parity_case()
def shapes(torch: Any) -> dict[str, Any]:
    """Pooling, views, permutations, sizes, slices."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = m.conv(x)
        y = F.max_pool2d(y, 2)
        y = m.pool(y)
        y = F.avg_pool2d(y, 1).permute(0, 2, 3, 1).contiguous()
        y = y.transpose(1, 2).unsqueeze(0).squeeze(0)
        y = y.contiguous().view(y.size(0), -1)
        y = torch.flatten(y, 1)
        return m.head(y.reshape(y.shape[0], -1))

    net = model(
        torch,
        forward,
        conv=nn.Conv2d(4, 4, 3, padding=1),
        pool=nn.AdaptiveAvgPool2d(2),
        head=nn.Linear(16, 3),
    )
    return workflow(torch, net, (images(torch),))


@parity_case()
def clamps(torch: Any) -> dict[str, Any]:
    """ReLU6, hardtanh, clamp, interpolate, mean."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = F.relu6(F.hardtanh(m.conv(x), -1.5, 1.5)).clamp(0, 1)
        y = m.six(F.interpolate(y, scale_factor=2))
        return y.mean((2, 3)) + torch.mean(m.conv(x), (2, 3))

    net = model(torch, forward, conv=nn.Conv2d(4, 4, 1), six=nn.ReLU6())
    return workflow(torch, net, (images(torch),))


@parity_case()
def activations(torch: Any) -> dict[str, Any]:
    """Activations with a grid of their own and with a fixed one."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = m.leaky(F.elu(m.linear(x)))
        y = m.swish(F.hardswish(y))
        y = F.hardsigmoid(m.sigmoid(m.linear(y)))
        y = m.tanh(torch.tanh(m.linear(y)))
        return m.hard(F.leaky_relu(m.elu(y), 0.25))

    net = model(
        torch,
        forward,
        linear=nn.Linear(6, 6),
        leaky=nn.LeakyReLU(0.125),
        swish=nn.Hardswish(),
        sigmoid=nn.Sigmoid(),
        tanh=nn.Tanh(),
        elu=nn.ELU(),
        hard=nn.Hardsigmoid(),
    )
    return workflow(torch, net, (rows(torch),))


@parity_case(bounds={"*output*": FLOAT_SUMS, "numbers/scales": FLOAT_SUMS})
def fixed_ranges(torch: Any) -> dict[str, Any]:
    """A graph input that feeds sigmoid is observed with sigmoid's parameters."""
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        return m.softmax(torch.tanh(x.sigmoid() * 2)) + torch.sigmoid(x)

    return workflow(torch, model(torch, forward, softmax=nn.Softmax(-1)), (rows(torch),))


@parity_case(bounds={"*output*": FLOAT_SUMS, "numbers/scales": FLOAT_SUMS})
def norms(torch: Any) -> dict[str, Any]:
    """Layer, instance, group and batch norm; dropout."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = m.bn2(m.relu(m.bn(x)))
        y = m.instance(m.conv(y))
        y = F.instance_norm(F.group_norm(y, 2))
        y = m.group(m.conv2(y))
        y = F.layer_norm(m.layer(m.conv3(y)), (6,), m.weight, m.bias)
        return F.dropout(m.dropout(y), training=False)

    net = model(
        torch,
        forward,
        {"weight": (6,), "bias": (6,)},
        bn=nn.BatchNorm2d(4),
        relu=nn.ReLU(),
        bn2=nn.BatchNorm2d(4),
        conv=nn.Conv2d(4, 4, 1),
        conv2=nn.Conv2d(4, 4, 1),
        conv3=nn.Conv2d(4, 4, 1),
        instance=nn.InstanceNorm2d(4),
        group=nn.GroupNorm(2, 4),
        layer=nn.LayerNorm(6),
        dropout=nn.Dropout(),
    )
    return workflow(torch, net, (images(torch),))


@parity_case()
def prelu(torch: Any) -> dict[str, Any]:
    """Up to the reference model: torch's quantized PReLU is wrong above zero, see the errata."""
    nn = torch.nn
    net = model(torch, lambda m, x: m.prelu(m.linear(x)), linear=nn.Linear(6, 6), prelu=nn.PReLU(6))
    return workflow(torch, net, (rows(torch),), run_converted=False)
