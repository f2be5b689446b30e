"""Graph mode: residual blocks under the back end of onednn, whose convolutions add."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from parity.cases.fx_backend_config import load
from parity.eager_models import FLOAT_SUMS
from parity.fx_graphs import images, model, workflow
from parity.harness import parity_case

Forward = Callable[[Any, Any, Any], Any]


def _in_place(torch: Any, m: Any, x: Any) -> Any:
    y = m.bn2(m.conv2(m.relu(m.bn1(m.conv1(x)))))
    y += x
    return m.relu2(y)


def _downsampled_first(torch: Any, m: Any, x: Any) -> Any:
    other = m.bn3(m.conv3(x))
    return m.relu2(other + m.bn2(m.conv2(m.relu(m.bn1(m.conv1(x))))))


def _chain(torch: Any, m: Any, x: Any) -> Any:
    y = m.relu(m.bn1(m.conv1(x)) + x)
    return m.relu2(m.conv2(y) + torch.nn.functional.max_pool2d(y, 3, 1, 1))


#: The other summand is an input of the model, or the end of a pattern that is fused itself.
FORMS: dict[str, Forward] = {
    "in_place": _in_place,
    "from_the_right": lambda t, m, x: t.add(x, m.bn2(m.conv2(m.relu(m.conv1(x))))),
    "both_convolve": lambda t, m, x: m.relu2(
        m.bn2(m.conv2(m.relu(m.bn1(m.conv1(x))))) + m.bn3(m.conv3(x))
    ),
    "downsampled_first": _downsampled_first,
    "both_end_in_a_pattern": lambda t, m, x: t.add(
        m.conv2(m.relu(m.conv1(x))), m.relu2(m.bn3(m.conv3(x)))
    ),
    "chain": _chain,
    "three": lambda t, m, x: m.conv1(x) + m.conv2(x) + x,
}


def _register(name: str, forward: Forward, qat: bool) -> None:
    def case(torch: Any) -> dict[str, Any]:
        nn = torch.nn
        parts: dict[str, Any] = {"relu": nn.ReLU(), "relu2": nn.ReLU()}
        for number in "123":
            parts[f"conv{number}"] = nn.Conv2d(4, 4, 3, padding=1)
            parts[f"bn{number}"] = nn.BatchNorm2d(4, eps=2.0**-10)
        net = model(torch, lambda m, x: forward(torch, m, x), **parts)
        backend = load(torch).get_onednn_backend_config()
        torch.backends.quantized.engine = "onednn"
        q = torch.ao.quantization
        get = q.get_default_qat_qconfig_mapping if qat else q.get_default_qconfig_mapping
        # Activations of 7 bits, as for x86: without VNNI, sums of torch's kernel saturate.
        mapping, example = get("x86"), (images(torch),)
        return workflow(torch, net, example, mapping=mapping, backend_config=backend, qat=qat)

    case.__name__ = f"{name}_training" if qat else name
    case.__module__ = __name__
    case.__doc__ = f"{name}: fused, and the same integers."
    bounds = {"*output*": FLOAT_SUMS, "*scales": FLOAT_SUMS}
    parity_case(bounds)(case)


for _name, _forward in FORMS.items():
    _register(_name, _forward, qat=False)
    if _name == "three":  # torch does not train a batch norm in these patterns
        _register(_name, _forward, qat=True)
