"""The float layers, a family a case: printing, outputs and the sizes of all gradients.

The layers and inputs are those of ``tests/nn/layer_table.py``; parameters are filled from NumPy.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from nn.layer_table import FAMILIES, run
from parity.harness import Bound, parity_case

#: See ``tests/nn/test_layers_torch.py``: 256 rounded terms, twice as large as the results.
SUMS = Bound("float32 sums of up to 256 terms, in another order", 6.2e-5, 6.2e-5)
#: A size adds the absolute values of up to 128 elements, each within the bound above.
SIZES = Bound("absolute sums of up to 128 gradients", 1e-3, 6.2e-5)
#: Of each output so many elements are compared; the recording stays small.
FIRST = 32
BOUNDS = {"outputs/*": SUMS, "gradients": SIZES}


def _fill(torch: Any, layer: Any) -> None:
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for _, parameter in sorted(layer.named_parameters()):
            values = rng.uniform(-0.7, 0.7, tuple(parameter.shape)).astype(np.float32)
            parameter.copy_(torch.from_numpy(values))


def _family(torch: Any, name: str) -> dict[str, Any]:
    texts, sizes = [], []
    outputs: dict[str, list[np.ndarray]] = {"f": [], "i": []}
    for row in FAMILIES[name]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layer = row.make(torch.nn)
        _fill(torch, layer)
        texts.append(repr(layer))
        for key, value in sorted(run(torch, row, layer).items()):
            if key.startswith("grad_"):
                sizes.append(np.abs(value).sum(dtype=np.float64))
            else:
                outputs[value.dtype.kind].append(value.reshape(-1)[:FIRST])
    result = {
        "printing": "\n".join(texts),
        "outputs/floats": np.concatenate(outputs["f"]),
        "gradients": np.float32(sizes),
    }
    if outputs["i"]:
        result["places"] = np.concatenate(outputs["i"])
    return result


@parity_case(BOUNDS)
def linear(torch: Any) -> dict[str, Any]:
    return _family(torch, "linear")


@parity_case(BOUNDS)
def convolution(torch: Any) -> dict[str, Any]:
    return _family(torch, "convolution")


@parity_case(BOUNDS)
def normalization(torch: Any) -> dict[str, Any]:
    return _family(torch, "normalization")


@parity_case(BOUNDS)
def activation(torch: Any) -> dict[str, Any]:
    return _family(torch, "activation")


@parity_case(BOUNDS)
def pooling(torch: Any) -> dict[str, Any]:
    return _family(torch, "pooling")


@parity_case(BOUNDS)
def embedding(torch: Any) -> dict[str, Any]:
    return _family(torch, "embedding")


@parity_case(BOUNDS)
def recurrent(torch: Any) -> dict[str, Any]:
    return _family(torch, "recurrent")


@parity_case(BOUNDS)
def attention(torch: Any) -> dict[str, Any]:
    return _family(torch, "attention")


@parity_case(BOUNDS)
def loss(torch: Any) -> dict[str, Any]:
    return _family(torch, "loss")


@parity_case(BOUNDS)
def shape(torch: Any) -> dict[str, Any]:
    return _family(torch, "shape")


@parity_case()
def first_values(torch: Any) -> dict[str, Any]:
    """Compare the first weights of layers under one seed."""
    nn = torch.nn
    made = {
        "linear": nn.Linear(7, 3),
        "bilinear": nn.Bilinear(3, 2, 4),
        "conv1d": nn.Conv1d(4, 6, 3, groups=2),
        "conv2d": nn.Conv2d(3, 4, 3),
        "conv_transpose2d": nn.ConvTranspose2d(4, 2, 3),
        "lstm": nn.LSTM(3, 4, 2, bidirectional=True),
        "attention": nn.MultiheadAttention(4, 2),
    }
    return {name: dict(layer.state_dict()) for name, layer in made.items()}
