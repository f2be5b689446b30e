"""Graph mode: who is quantized how, and what comes in and out."""

from __future__ import annotations

import operator
from typing import Any

from parity.eager_models import FLOAT_SUMS
from parity.fx_graphs import images, model, rows, workflow
from parity.harness import parity_case


@parity_case(bounds={"*output*": FLOAT_SUMS})
def left_in_float(torch: Any) -> dict[str, Any]:
    """Set None by name, by type and for all; leave one operation without a quantized form."""
    nn, F, q = torch.nn, torch.nn.functional, torch.ao.quantization

    def forward(m: Any, x: Any) -> Any:
        y = m.last(torch.sin(m.middle(F.relu(m.first(x)))))
        return y + y

    def net() -> Any:
        parts = {"first": nn.Linear(6, 6), "middle": nn.Linear(6, 6), "last": nn.Linear(6, 6)}
        return model(torch, forward, **parts)

    get = q.get_default_qconfig_mapping
    return {
        name: workflow(torch, net(), (rows(torch),), mapping=mapping)
        for name, mapping in {
            "none": get("x86"),
            "first": get("x86").set_module_name("first", None),
            "middle": get("x86").set_module_name("middle", None),
            "add": get("x86").set_object_type(operator.add, None),
            "only": q.QConfigMapping().set_module_name("middle", q.get_default_qconfig("x86")),
        }.items()
    }


@parity_case(bounds={"*output*": FLOAT_SUMS, "numbers/scales": FLOAT_SUMS})
def precedence(torch: Any) -> dict[str, Any]:
    """All five levels at once."""
    nn, F, q = torch.nn, torch.nn.functional, torch.ao.quantization

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv0 = nn.Conv2d(4, 4, 1)
            self.conv1 = nn.Conv2d(4, 4, 1)
            self.weight = nn.Parameter(torch.zeros(6, 6))

        def forward(self, x: Any) -> Any:
            x = self.conv1(self.conv0(x))
            return F.linear(F.linear(x, self.weight), self.weight)

    def observer(high: int) -> Any:
        activation = q.MinMaxObserver.with_args(quant_min=0, quant_max=high)
        weight = q.MinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)
        return q.QConfig(activation=activation, weight=weight)

    mapping = (
        q.QConfigMapping()
        .set_global(observer(200))
        .set_object_type(nn.Conv2d, observer(190))
        .set_object_type(F.linear, observer(180))
        .set_module_name_regex("b.*conv[0-9]", observer(170))
        .set_module_name_regex("c.*", observer(160))
        .set_module_name("a.conv1", observer(150))
        .set_module_name("c", observer(140))
        .set_module_name_object_type_order("a", F.linear, 1, observer(130))
        .set_module_name_object_type_order("b", nn.Conv2d, 1, observer(120))
    )
    net = model(
        torch, lambda m, x: m.c(m.b(m.a(m.stem(x)))), stem=nn.Conv2d(4, 4, 1), a=Block(),
        b=Block(), c=Block(),
    )  # fmt: skip
    return workflow(torch, net, (images(torch),), mapping=mapping)


@parity_case()
def several_outputs(torch: Any) -> dict[str, Any]:
    """Tuples and dicts as outputs, several uses of one value, a graph within."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = m.inner(x)
        z = m.linear(y)
        return y, {"relu": F.relu(z), "rows": z.shape[0], "both": [z, y + z]}

    inner = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(6, 6), nn.ReLU()))
    net = model(torch, forward, inner=inner, linear=nn.Linear(6, 6))
    return workflow(torch, net, (rows(torch),))


@parity_case()
def interface(torch: Any) -> dict[str, Any]:
    """Outputs that stay quantized."""
    nn = torch.nn
    custom = {"output_quantized_idxs": [0]}
    one = model(torch, lambda m, x: m.linear(x), linear=nn.Linear(6, 6))
    two = model(torch, lambda m, x: (m.linear(x), m.linear(x)), linear=nn.Linear(6, 6))
    return {
        "one": workflow(torch, one, (rows(torch),), prepare_custom_config=custom),
        "two": workflow(torch, two, (rows(torch),), prepare_custom_config=custom),
    }


@parity_case()
def several_inputs_matmul_stack(torch: Any) -> dict[str, Any]:
    """Matrix products, stacking, a layer used twice."""
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        y = torch.stack([m.linear(x), m.linear(x)])
        return torch.matmul(y[0], m.linear(x).transpose(0, 1))

    return workflow(torch, model(torch, forward, linear=nn.Linear(6, 6)), (rows(torch),))
