"""Convolution and batch norm in training, without a division by gamma."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.harness import Bound, parity_case

#: Sums of at most 3 * 3**3 terms in another order, twice one after the other, and some products.
ORDER = Bound("sums in another order", relative=2.0**-18)


@parity_case({"*": ORDER})
def conv_bn_slow_path(torch: Any) -> dict[str, Any]:
    """Results, gradients and statistics of every form; one gamma is 0."""
    results: dict[str, Any] = {}
    qconfig = torch.ao.quantization.get_default_qat_qconfig("fbgemm")
    for dimensions in (1, 2, 3):
        for case in range(8):
            bias, frozen, training = (bool(case & bit) for bit in (1, 2, 4))
            # ReLU behind every second one, with and without each of the three.
            name = f"ConvBn{'ReLU' * ((dimensions + case.bit_count()) % 2)}{dimensions}d"
            rng = np.random.default_rng(case)

            def normal(*shape: int, rng: Any = rng) -> Any:
                return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))

            made = getattr(torch.ao.nn.intrinsic.qat, name)
            group = made(4, 6, 2, groups=2, bias=bias, qconfig=qconfig)
            assert group._enable_slow_path_for_better_numerical_stability is False
            group._enable_slow_path_for_better_numerical_stability = True
            for parameter in group.parameters():
                parameter.data.copy_(normal(*parameter.shape))
            group.bn.weight.data[2] = 0.0
            group.bn.running_mean.copy_(normal(6))
            group.bn.running_var.copy_(normal(6).abs() + 0.3)
            group.train(training)
            if frozen:
                group.freeze_bn_stats()
            group(normal(3, 4, *(3,) * dimensions))
            x = normal(3, 4, *(3,) * dimensions).requires_grad_()
            y = group(x)
            (y * normal(*y.shape)).sum().backward()
            results[f"{name} {case}"] = {
                "y": y,
                "grads": [x.grad, *(each.grad for each in group.parameters())],
                "statistics": [group.bn.running_mean, group.bn.running_var],
                "batches": group.bn.num_batches_tracked,
            }
    return results
