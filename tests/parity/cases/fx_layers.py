"""Graph mode, static quantization of layers: structure, observers, numbers, outputs."""

from __future__ import annotations

from typing import Any

from parity.fx_graphs import images, model, rows, workflow
from parity.harness import parity_case


@parity_case()
def linear_relu_every_way(torch: Any) -> dict[str, Any]:
    """Linear with ReLU as module, function and method; the function ``linear``."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        x = m.second(F.relu(m.first(x)).relu())
        return F.relu(F.linear(x, m.weight, m.bias))

    net = model(
        torch,
        forward,
        {"weight": (3, 5), "bias": (3,)},
        first=nn.Linear(6, 5),
        second=nn.Sequential(nn.Linear(5, 5), nn.ReLU()),
    )
    return workflow(torch, net, (rows(torch),))


@parity_case()
def conv_bn_relu(torch: Any) -> dict[str, Any]:
    """Convolutions of one to three dimensions with batch norm and ReLU."""
    nn, F = torch.nn, torch.nn.functional
    found = {}
    for d, shape in ((1, (2, 4, 8)), (2, (2, 4, 5, 5)), (3, (1, 4, 3, 4, 4))):
        conv, bn = getattr(nn, f"Conv{d}d"), getattr(nn, f"BatchNorm{d}d")

        def forward(m: Any, x: Any) -> Any:
            return m.conv4(m.relu2(m.conv3(F.relu(m.bn2(m.conv2(m.relu(m.bn(m.conv(x)))))))))

        net = model(
            torch,
            forward,
            conv=conv(4, 6, 3, padding=1),
            bn=bn(6, eps=0.0),
            relu=nn.ReLU(),
            conv2=conv(6, 4, 1, bias=False),
            bn2=bn(4, eps=0.0),
            conv3=conv(4, 4, 1),
            relu2=nn.ReLU(),
            conv4=conv(4, 2, 2, stride=2, groups=2),
        )
        found[str(d)] = workflow(torch, net, (images(torch, 2, *shape),))
    return found


@parity_case()
def functional_convolutions(torch: Any) -> dict[str, Any]:
    """Call convolutions with all arguments in place, as torch lowers them."""
    F = torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = F.relu(F.conv2d(x, m.w, m.b, (1, 1), (1, 1), (1, 1), 1))
        return F.conv2d(y, m.v, None, (2, 2), (0, 0), (1, 1), 2)

    net = model(torch, forward, {"w": (4, 4, 3, 3), "b": (4,), "v": (4, 2, 2, 2)})
    return workflow(torch, net, (images(torch),))


@parity_case()
def transposed_convolutions(torch: Any) -> dict[str, Any]:
    """Convert transposed convolutions, with batch norm folded.

    Under x86, torch's own outputs are wrong.
    """
    torch.backends.quantized.engine = "fbgemm"
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        return m.relu(m.bn(m.up(m.conv(x))))

    net = model(
        torch,
        forward,
        conv=nn.ConvTranspose2d(4, 3, 2),
        up=nn.ConvTranspose2d(3, 4, 2, stride=2),
        bn=nn.BatchNorm2d(4, eps=0.0),
        relu=nn.ReLU(),
    )
    return workflow(torch, net, (images(torch),))


@parity_case()
def engines(torch: Any) -> dict[str, Any]:
    """qnnpack, with unsigned and with signed symmetric activations."""
    nn, q = torch.nn, torch.ao.quantization
    found = {}
    for engine in ("qnnpack", "fbgemm"):
        torch.backends.quantized.engine = engine
        net = model(
            torch,
            lambda m, x: m.relu(m.conv(x)) + x,
            conv=nn.Conv2d(4, 4, 3, padding=1),
            relu=nn.ReLU(),
        )
        mapping = q.get_default_qconfig_mapping(engine)
        found[engine] = workflow(torch, net, (images(torch),), mapping=mapping)
    return found
