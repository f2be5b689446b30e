"""Graph mode: training, custom configs, back ends."""

from __future__ import annotations

from typing import Any

from parity.cases.fx_backend_config import load
from parity.eager_models import FLOAT_SUMS
from parity.fx_graphs import global_mapping, images, model, rows, workflow
from parity.harness import Bound, parity_case

CANCELLING = Bound("sums of terms near 1 that leave 0.005, and the scale of that", absolute=1e-6)


@parity_case(bounds={"*output*": CANCELLING, "*numbers/scales": FLOAT_SUMS})
def training(torch: Any) -> dict[str, Any]:
    """Prepared for training: convolution, batch norm, ReLU, linear; converted without a step."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        y = F.relu(m.bn(m.conv(x)) + m.relu(m.conv2(x)))
        y = m.relu3(m.bn3(m.conv3(y)))
        return m.relu4(m.linear(torch.flatten(m.pool(y), 1)))

    net = model(
        torch,
        forward,
        conv=nn.Conv2d(4, 4, 1),
        bn=nn.BatchNorm2d(4),
        conv2=nn.Conv2d(4, 4, 1),
        relu=nn.ReLU(),
        conv3=nn.Conv2d(4, 6, 3),
        bn3=nn.BatchNorm2d(6),
        relu3=nn.ReLU(),
        pool=nn.AdaptiveAvgPool2d(1),
        linear=nn.Linear(6, 3),
        relu4=nn.ReLU(),
    )
    return workflow(torch, net, (images(torch),), qat=True)


@parity_case(bounds={"*output*": FLOAT_SUMS, "*numbers/scales": FLOAT_SUMS})
def training_with_data(torch: Any) -> dict[str, Any]:
    """Train after a forward pass, without batch norm, and compare every number."""
    nn, F = torch.nn, torch.nn.functional

    def forward(m: Any, x: Any) -> Any:
        return m.linear(torch.flatten(F.relu(m.conv2(m.relu(m.conv(x))) + x), 1))

    net = model(
        torch,
        forward,
        conv=nn.Conv2d(4, 4, 1),
        relu=nn.ReLU(),
        conv2=nn.Conv2d(4, 4, 1),
        linear=nn.Linear(144, 3),
    )
    return workflow(torch, net, (images(torch),), qat=True)


@parity_case(bounds={"*output*": FLOAT_SUMS})
def non_traceable(torch: Any) -> dict[str, Any]:
    """A module that stays whole, by name and by class."""
    nn = torch.nn

    class Branch(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)

        def forward(self, x: Any) -> Any:
            y = self.linear(x)
            return y if y.sum() > 0 else y + 1

    def net() -> Any:
        parts = {"first": nn.Linear(6, 6), "branch": Branch(), "last": nn.Linear(6, 6)}
        return model(torch, lambda m, x: m.last(m.branch(m.first(x))), **parts)

    return {
        name: workflow(torch, net(), (rows(torch),), prepare_custom_config=custom)
        for name, custom in {
            "name": {"non_traceable_module_name": ["branch"]},
            "class": {"non_traceable_module_class": [Branch]},
        }.items()
    }


@parity_case()
def standalone(torch: Any) -> dict[str, Any]:
    """A module quantized by itself, with quantized tensors at its interface."""
    nn, F = torch.nn, torch.nn.functional

    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)

        def forward(self, x: Any) -> Any:
            return F.relu(self.linear(x))

    net = model(
        torch,
        lambda m, x: m.last(m.inner(m.first(x))),
        first=nn.Linear(6, 6),
        inner=Inner(),
        last=nn.Linear(6, 6),
    )
    own = {"input_quantized_idxs": [0], "output_quantized_idxs": [0]}
    custom = {"standalone_module_name": [("inner", None, (rows(torch),), own, None)]}
    return workflow(torch, net, (rows(torch),), prepare_custom_config=custom)


@parity_case()
def skipped_at_convert(torch: Any) -> dict[str, Any]:
    """Put None entries into the mapping that ``convert_fx`` gets."""
    nn, F, q = torch.nn, torch.nn.functional, torch.ao.quantization
    qconfig = q.get_default_qconfig("x86")
    before = q.QConfigMapping().set_global(qconfig)
    now = (
        q.QConfigMapping()
        .set_global(qconfig)
        .set_module_name("second", None)
        .set_object_type(torch.add, None)
    )
    net = model(
        torch,
        lambda m, x: torch.add(m.third(m.second(F.relu(m.first(x)))), 1.0),
        first=nn.Linear(6, 6),
        second=nn.Linear(6, 6),
        third=nn.Linear(6, 6),
    )
    return workflow(torch, net, (rows(torch),), mapping=before, convert_mapping=now)


@parity_case()
def onednn_patterns(torch: Any) -> dict[str, Any]:
    """Convolution and addition as one; linear with leaky ReLU: structure and numbers."""
    nn = torch.nn
    backend = load(torch).get_onednn_backend_config()

    def forward(m: Any, x: Any) -> Any:
        y = m.relu(m.conv(x) + x)
        y = m.relu2(torch.add(x, m.conv2(y)))
        return m.leaky(m.linear(y))

    net = model(
        torch,
        forward,
        conv=nn.Conv2d(4, 4, 1),
        relu=nn.ReLU(),
        conv2=nn.Conv2d(4, 4, 1),
        relu2=nn.ReLU(),
        linear=nn.Linear(6, 6),
        leaky=nn.LeakyReLU(0.125),
    )
    torch.backends.quantized.engine = "onednn"
    mapping = torch.ao.quantization.get_default_qconfig_mapping("onednn")
    return workflow(torch, net, (images(torch),), mapping=mapping, backend_config=backend)


@parity_case()
def symmetric_qnnpack(torch: Any) -> dict[str, Any]:
    """Signed activations, weights between -127 and 127, scales of at least 2**-12.

    torch lowers it, and then refuses to run it: its qnnpack takes unsigned activations only.
    """
    nn = torch.nn
    load(torch)
    module = __import__(f"{torch.__name__}.ao.quantization.qconfig_mapping", fromlist=["x"])
    backend = load(torch).get_qnnpack_backend_config()
    net = model(
        torch,
        lambda m, x: torch.flatten(m.relu(m.conv(x)), 1),
        conv=nn.Conv2d(4, 4, 3, padding=1),
        relu=nn.ReLU(),
    )
    torch.backends.quantized.engine = "qnnpack"
    mapping = module._get_symmetric_qnnpack_qconfig_mapping()
    return workflow(
        torch, net, (images(torch),), mapping=mapping, backend_config=backend, run_converted=False
    )


@parity_case()
def tensorrt_reference(torch: Any) -> dict[str, Any]:
    """Signed activations: torch runs the reference model only."""
    nn, q = torch.nn, torch.ao.quantization
    backend = load(torch).get_tensorrt_backend_config()
    qconfig = q.QConfig(
        activation=q.HistogramObserver.with_args(
            qscheme=torch.per_tensor_symmetric, dtype=torch.qint8
        ),
        weight=q.default_weight_observer,
    )
    net = model(torch, lambda m, x: m.relu(m.conv(x)) + x, conv=nn.Conv2d(4, 4, 1), relu=nn.ReLU())
    return workflow(
        torch,
        net,
        (images(torch),),
        mapping=global_mapping(torch, qconfig),
        backend_config=backend,
        run_converted=False,
    )
