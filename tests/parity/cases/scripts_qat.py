"""Quantization-aware training as users write it.

Floats are trained, so results have bounds; the integers of weights that were set, not
trained, are compared exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.cases.scripts_static import kinds, rows
from parity.eager_models import FUSED, fill, images, random_values, residual_network, stored
from parity.harness import Bound, parity_case

TRAINED = {
    "loss": Bound("sums in another order, and a tie or two", relative=1e-4),
    "statistics/*": Bound("means and variances of the same", absolute=1e-5, relative=1e-4),
    "*scale*": Bound("ranges of the same", relative=1e-4),
}


def batch_norms(prepared: Any) -> list[Any]:
    return [each for _, each in prepared.named_modules() if type(each).__name__ == "BatchNorm2d"]


@parity_case(TRAINED, conventions="torch")
def schedule_of_freezing(torch: Any) -> dict[str, Any]:
    """Train; then ``freeze_bn_stats`` and ``disable_observer``, as the tutorial has it."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.ao.quantization, torch.nn
    model = fill(torch, residual_network(torch, eps=1e-5).train(), random_values)
    model = q.fuse_modules_qat(model, FUSED)
    model.qconfig = q.get_default_qat_qconfig("fbgemm")
    prepared = q.prepare_qat(model)
    optimizer = torch.optim.SGD(prepared.parameters(), lr=0.01, momentum=0.9)
    losses, means = [], []
    for epoch in range(4):
        prepared.train()
        if epoch >= 2:
            prepared.apply(q.disable_observer)
        if epoch >= 3:
            prepared.apply(nn.intrinsic.qat.freeze_bn_stats)
        loss = (prepared(images(torch, epoch)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        means.append(np.concatenate([bn.running_mean.numpy() for bn in batch_norms(prepared)]))
    frozen = [each.training for each in batch_norms(prepared)]
    prepared.apply(nn.intrinsic.qat.update_bn_stats)
    moving = [each.training for each in batch_norms(prepared)]
    scales = [
        float(each.scale)
        for name, each in prepared.named_modules()
        if name.endswith("activation_post_process") and hasattr(each, "scale")
    ]
    quantized = q.convert(prepared.eval())
    return {
        "loss": np.float64(losses),
        "statistics": dict(enumerate(means)),
        "modes": str([frozen, moving]),
        "scale": np.float64(scales),
        "prepared": kinds(prepared),
        "kinds": kinds(quantized),
    }


@parity_case(
    {
        "loss": Bound("sums in another order, and a tie or two", relative=1e-4),
        "*scale*": Bound("weights trained to 1e-6", relative=1e-4),
        "output": Bound("the same integers on scales trained to 1e-6", absolute=1e-5),
    },
    conventions="torch",
)
def one_call(torch: Any) -> dict[str, Any]:
    """Call ``quantize_qat`` with a user's training loop."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.quantization, torch.nn
    model = q.QuantWrapper(nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4)))
    fill(torch, model, random_values)
    model.qconfig = q.default_qat_qconfig
    losses = []

    def train(prepared: Any, steps: int) -> None:
        optimizer = torch.optim.SGD(prepared.parameters(), lr=0.05)
        for step in range(steps):
            loss = nn.functional.mse_loss(prepared(rows(torch, step)), rows(torch, 50, 4, 4))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

    quantized = q.quantize_qat(model, train, [3])
    found = stored(quantized)
    return {
        "loss": np.float64(losses),
        "kinds": kinds(quantized),
        "weights": found["weights"],
        "outputs": found["outputs"],
        "output": quantized(rows(torch, 9)),
    }


@parity_case(conventions="torch")
def switches_and_state(torch: Any) -> dict[str, Any]:
    """Fake quantizers switched off and on; their state saved and loaded."""
    q, nn = torch.quantization, torch.nn
    results = {}
    for name in ("default_qat_qconfig", "default_qat_qconfig_v2"):
        model = q.QuantWrapper(nn.Sequential(nn.Linear(6, 5), nn.ReLU()))
        fill(torch, model, random_values).train()
        model.qconfig = getattr(torch.ao.quantization, name)
        first, second = q.prepare_qat(model), q.prepare_qat(model)
        for seed in range(3):
            first(rows(torch, seed))
        state = {key: value.numpy().copy() for key, value in first.state_dict().items()}
        second.load_state_dict({key: torch.from_numpy(value) for key, value in state.items()})
        second.apply(q.disable_observer)
        first.apply(q.disable_observer)
        x = rows(torch, 7)
        results[name] = {
            "keys": str(sorted(state)),
            "scales": {key: value for key, value in state.items() if "quant.activation" in key},
            "equal": bool(torch.equal(first(x), second(x))),
        }
        second.apply(q.disable_fake_quant)
        results[name]["free"] = bool(torch.equal(second(x), model(x)))
    return results


@parity_case(conventions="torch")
def per_tensor_and_per_channel(torch: Any) -> dict[str, Any]:
    """Two kinds of weight grids in one model, and a part that is not trained so."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.ao.quantization, torch.nn
    model = nn.Sequential(
        q.QuantStub(),
        nn.Sequential(nn.Linear(6, 5), nn.ReLU()),
        nn.Linear(5, 4),
        q.DeQuantStub(),
        nn.Linear(4, 2),
    )
    fill(torch, model, random_values).train()
    model = q.fuse_modules_qat(model, [["1.0", "1.1"]])
    model.qconfig = q.get_default_qat_qconfig("fbgemm")
    model[2].qconfig = q.QConfig(
        activation=q.FakeQuantize.with_args(
            observer=q.MovingAverageMinMaxObserver, quant_min=0, quant_max=127
        ),
        weight=q.FakeQuantize.with_args(
            observer=q.MinMaxObserver,
            quant_min=-127,
            quant_max=127,
            dtype=torch.qint8,
            qscheme=torch.per_tensor_symmetric,
        ),
    )
    model[4].qconfig = None
    prepared = q.prepare_qat(model)
    for seed in range(2):
        prepared(rows(torch, seed))
    before = kinds(prepared)
    quantized = q.convert(prepared.eval())
    weights = [quantized[1][0].weight(), quantized[2].weight()]
    return {"prepared": before, "kinds": kinds(quantized), "weights": weights}
