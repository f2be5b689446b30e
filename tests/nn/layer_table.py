"""Every float layer once or more: its arguments and an input, for the tests that sweep them.

Sizes are small and odd, so that an exchange of two axes cannot go unnoticed.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Row:
    """A layer: ``nn.<name>(*args, **kwargs)`` applied to arrays.

    ``inputs`` gives each array by a shape (normal numbers), or by a key word and a shape:
    ``"index"`` (int64 below 4), ``"unit"`` (in [0, 1]), ``"sign"`` (1 or -1), ``"same"`` (the first
    input again), or is the array itself.
    """

    name: str
    args: tuple[Any, ...]
    inputs: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        parts = [*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.kwargs.items())]
        return f"{self.name}({', '.join(parts)})"

    def make(self, nn: Any) -> Any:
        return getattr(nn, self.name)(*self.args, **self.kwargs)

    def arrays(self) -> list[np.ndarray]:
        """The inputs, always the same."""
        rng = np.random.default_rng(zlib.crc32(self.id.encode()))
        arrays: list[np.ndarray] = []
        for each in self.inputs:
            if isinstance(each, np.ndarray):
                arrays.append(each)
            elif each == "same":
                arrays.append(arrays[0])
            elif each[0] == "index":
                arrays.append(rng.integers(0, 4, each[1:]))
            elif each[0] == "unit":
                arrays.append(rng.uniform(0.1, 0.9, each[1:]).astype(np.float32))
            elif each[0] == "sign":
                arrays.append(rng.choice(np.float32([-1, 1]), each[1:]))
            else:
                arrays.append(rng.standard_normal(each).astype(np.float32))
        return arrays


def _row(name: str, *args: Any, on: Any, **kwargs: Any) -> Row:
    return Row(name, args, tuple(on), kwargs)


LINEAR = [
    _row("Linear", 5, 7, on=[(3, 5)]),
    _row("Linear", 5, 7, on=[(2, 3, 5)], bias=False),
    _row("Linear", 5, 7, on=[(5,)]),
    _row("Bilinear", 3, 4, 5, on=[(2, 3), (2, 4)]),
]
CONVOLUTION = [
    _row("Conv1d", 4, 6, 3, on=[(2, 4, 9)], stride=2, padding=1, groups=2),
    _row("Conv2d", 4, 6, 3, on=[(2, 4, 7, 6)], padding="same", dilation=2, padding_mode="reflect"),
    _row("Conv2d", 4, 6, (2, 3), on=[(2, 4, 6, 5)], padding="same"),
    _row("Conv2d", 3, 4, 1, on=[(2, 3, 4, 5)]),
    _row(
        "Conv2d",
        4,
        4,
        3,
        on=[(2, 4, 6, 5)],
        groups=4,
        padding=1,
        bias=False,
        padding_mode="circular",
    ),
    _row("Conv2d", 4, 8, 3, on=[(2, 4, 6, 5)], groups=4, stride=(2, 1)),
    _row("Conv2d", 4, 2, 3, on=[(4, 6, 5)], padding="valid", padding_mode="replicate"),
    _row("Conv3d", 2, 3, (1, 2, 3), on=[(2, 2, 3, 4, 5)], padding=(0, 1, 1)),
    _row("ConvTranspose1d", 4, 6, 3, on=[(2, 4, 5)], stride=2, groups=2, output_padding=1),
    _row("ConvTranspose2d", 4, 6, 3, on=[(2, 4, 3, 4)], stride=(2, 1), dilation=2, padding=1),
    _row("ConvTranspose3d", 2, 3, 2, on=[(2, 2, 2, 3, 4)]),
]
NORMALIZATION = [
    _row("BatchNorm1d", 4, on=[(5, 4)]),
    _row("BatchNorm1d", 4, on=[(5, 4, 3)], momentum=None),
    _row("BatchNorm2d", 4, on=[(5, 4, 3, 2)]),
    _row("BatchNorm2d", 4, on=[(5, 4, 3, 2)], affine=False),
    _row("BatchNorm2d", 4, on=[(5, 4, 3, 2)], bias=False),
    _row("BatchNorm3d", 4, on=[(3, 4, 3, 2, 2)], track_running_stats=False),
    _row("LayerNorm", (4, 3), on=[(5, 4, 3)]),
    _row("LayerNorm", 3, on=[(5, 3)], bias=False),
    _row("GroupNorm", 2, 4, on=[(5, 4, 3)]),
    _row("GroupNorm", 4, 4, on=[(5, 4, 3)], affine=False),
    _row("RMSNorm", 6, on=[(5, 6)]),
    _row("InstanceNorm1d", 4, on=[(5, 4, 3)], affine=True, track_running_stats=True),
    _row("InstanceNorm2d", 4, on=[(4, 3, 3)]),
    _row("InstanceNorm3d", 4, on=[(2, 4, 3, 3, 2)]),
    _row("LocalResponseNorm", 3, on=[(2, 5, 3, 3)]),
]
ACTIVATION = [
    _row(name, *args, on=[(3, 4)])
    for name, *args in [
        ("ReLU",),
        ("ReLU", True),
        ("ReLU6",),
        ("LeakyReLU", 0.2),
        ("LeakyReLU", 0.2, True),
        ("PReLU",),
        ("PReLU", 4),
        ("ELU",),
        ("CELU", 2.0),
        ("SELU", True),
        ("GELU",),
        ("GELU", "tanh"),
        ("SiLU",),
        ("Mish",),
        ("Sigmoid",),
        ("Tanh",),
        ("Hardtanh",),
        ("Hardtanh", -2, 2, True),
        ("Hardswish",),
        ("Hardsigmoid",),
        ("LogSigmoid",),
        ("Softplus",),
        ("Softplus", 2, 3),
        ("Softsign",),
        ("Threshold", 0.1, 2),
        ("Softmax", 1),
        ("LogSoftmax", 1),
        ("Softmin", 0),
        ("GLU",),
        ("Hardshrink",),
        ("Softshrink",),
        ("Tanhshrink",),
    ]
] + [_row("Softmax2d", on=[(2, 3, 2, 2)])]
POOLING = [
    _row("MaxPool1d", 2, on=[(2, 3, 7)]),
    _row("MaxPool2d", (3, 2), on=[(2, 3, 7, 6)], stride=2, padding=1, ceil_mode=True),
    _row("MaxPool2d", 2, on=[(2, 3, 4, 4)], return_indices=True),
    _row("MaxPool3d", 2, on=[(2, 1, 5, 4, 5)], dilation=2),
    _row("AvgPool1d", 2, on=[(2, 3, 7)]),
    _row(
        "AvgPool2d",
        3,
        on=[(2, 3, 7, 6)],
        padding=1,
        stride=2,
        ceil_mode=True,
        count_include_pad=False,
    ),
    _row("AvgPool2d", 3, on=[(3, 7, 6)], divisor_override=4),
    _row("AvgPool3d", 2, on=[(2, 1, 5, 4, 5)]),
    _row("AdaptiveAvgPool1d", 3, on=[(2, 3, 7)]),
    _row("AdaptiveAvgPool2d", (None, 2), on=[(2, 3, 4, 5)]),
    _row("AdaptiveAvgPool2d", 1, on=[(2, 3, 4, 5)]),
    _row("AdaptiveAvgPool3d", (2, 1, 3), on=[(2, 1, 3, 4, 5)]),
    _row("AdaptiveMaxPool1d", 3, on=[(2, 3, 7)]),
    _row("AdaptiveMaxPool2d", 3, True, on=[(2, 3, 5, 4)]),
    _row("AdaptiveMaxPool3d", 2, on=[(2, 1, 3, 4, 5)]),
    _row("LPPool2d", 2, 2, on=[(2, 3, 5, 4)]),
]
EMBEDDING = [
    _row("Embedding", 4, 3, on=[("index", 3, 4)], padding_idx=2),
    _row("Embedding", 4, 3, on=[("index", 3, 4)], max_norm=1.0, scale_grad_by_freq=True),
    _row("EmbeddingBag", 4, 3, on=[("index", 3, 4)], mode="sum"),
    _row("EmbeddingBag", 4, 3, on=[("index", 9), np.array([0, 3, 3, 7])], mode="max"),
    _row("EmbeddingBag", 4, 3, on=[("index", 9), np.array([0, 3, 3, 7])], padding_idx=1),
    _row("EmbeddingBag", 4, 3, on=[("index", 9), np.array([0, 2, 9])], include_last_offset=True),
]
RECURRENT = [
    _row("RNN", 4, 5, on=[(6, 3, 4)], num_layers=2, nonlinearity="relu", bidirectional=True),
    _row("LSTM", 4, 5, 2, on=[(3, 6, 4)], batch_first=True, bidirectional=True, proj_size=2),
    _row("LSTM", 4, 5, on=[(6, 4)], bias=False),
    _row("GRU", 4, 5, 2, on=[(6, 3, 4)]),
    _row("RNNCell", 4, 5, on=[(3, 4)], nonlinearity="relu"),
    _row("LSTMCell", 4, 5, on=[(3, 4)]),
    _row("GRUCell", 4, 5, on=[(4,)], bias=False),
]
ATTENTION = [
    _row("MultiheadAttention", 4, 2, on=[(5, 3, 4), "same", "same"]),
    _row(
        "MultiheadAttention",
        4,
        2,
        on=[(3, 5, 4), (3, 2, 3), (3, 2, 5)],
        kdim=3,
        vdim=5,
        batch_first=True,
    ),
    _row(
        "MultiheadAttention",
        4,
        2,
        on=[(5, 3, 4), (2, 3, 4), (2, 3, 4)],
        add_bias_kv=True,
        add_zero_attn=True,
    ),
    _row("TransformerEncoderLayer", 4, 2, 6, 0.0, on=[(5, 3, 4)]),
    _row("TransformerEncoderLayer", 4, 2, 6, 0.0, "gelu", on=[(5, 3, 4)], norm_first=True),
    _row("TransformerDecoderLayer", 4, 2, 6, 0.0, on=[(5, 3, 4), (7, 3, 4)]),
    _row(
        "TransformerDecoderLayer",
        4,
        2,
        6,
        0.0,
        "gelu",
        on=[(3, 5, 4), (3, 7, 4)],
        norm_first=True,
        batch_first=True,
    ),
    _row("Transformer", 4, 2, 1, 2, 6, 0.0, on=[(7, 3, 4), (5, 3, 4)]),
]
LOSS = [
    _row("MSELoss", on=[(3, 4), (3, 4)]),
    _row("L1Loss", on=[(3, 4), (3, 4)], reduction="sum"),
    _row("SmoothL1Loss", on=[(3, 4), (3, 4)], beta=0.5),
    _row("HuberLoss", on=[(3, 4), (3, 4)], reduction="none"),
    _row("CrossEntropyLoss", on=[(3, 4), ("index", 3)]),
    _row("CrossEntropyLoss", on=[(3, 4, 2), ("index", 3, 2)], label_smoothing=0.1, ignore_index=1),
    _row("CrossEntropyLoss", on=[(3, 4), ("unit", 3, 4)], label_smoothing=0.1),
    _row("NLLLoss", on=[(3, 4), ("index", 3)]),
    _row("BCELoss", on=[("unit", 3, 4), ("unit", 3, 4)]),
    _row("BCEWithLogitsLoss", on=[(3, 4), ("unit", 3, 4)]),
    _row("KLDivLoss", on=[(3, 4), ("unit", 3, 4)], reduction="batchmean"),
    _row("MarginRankingLoss", 0.1, on=[(4,), (4,), ("sign", 4)]),
    _row("CosineEmbeddingLoss", on=[(4, 3), (4, 3), ("sign", 4)]),
    _row("TripletMarginLoss", on=[(4, 3), (4, 3), (4, 3)], swap=True),
]
SHAPE = [
    _row("Upsample", on=[(2, 3, 4, 5)], scale_factor=2.5, mode="bilinear"),
    _row("Upsample", on=[(2, 3, 4)], size=7, mode="linear", align_corners=True),
    _row("Upsample", on=[(1, 2, 2, 3, 4)], scale_factor=2, mode="trilinear"),
    _row("Upsample", on=[(2, 1, 4, 5)], scale_factor=2, mode="bicubic"),
    _row("Upsample", (7, 3), on=[(2, 3, 4, 5)]),
    _row("UpsamplingNearest2d", on=[(2, 3, 4, 5)], scale_factor=2),
    _row("UpsamplingBilinear2d", 7, on=[(2, 3, 4, 5)]),
    _row("PixelShuffle", 2, on=[(2, 8, 3, 4)]),
    _row("PixelUnshuffle", 2, on=[(2, 2, 4, 4)]),
    _row("ChannelShuffle", 2, on=[(2, 6, 3, 2)]),
    _row("Unfold", 2, on=[(2, 3, 4, 5)], padding=1),
    _row("Fold", (4, 5), 2, on=[(2, 12, 12)]),
    _row("CosineSimilarity", on=[(3, 4), (3, 4)]),
    _row("PairwiseDistance", on=[(3, 4), (3, 4)]),
    _row("ZeroPad2d", 1, on=[(2, 3, 4, 5)]),
    _row("ConstantPad1d", (1, 2), 3.5, on=[(2, 3, 4)]),
    _row("ConstantPad3d", (1, -1, 0, 0, 0, 2), 2.0, on=[(2, 1, 3, 2, 4)]),
    _row("ReflectionPad1d", 2, on=[(3, 4)]),
    _row("ReflectionPad2d", 2, on=[(2, 3, 4, 5)]),
    _row("ReplicationPad3d", 1, on=[(2, 1, 2, 3, 2)]),
    _row("CircularPad2d", (1, 2, 0, 1), on=[(2, 3, 4, 5)]),
    _row("Dropout", 0.0, on=[(3, 4)]),
    _row("Dropout2d", 1.0, on=[(3, 4, 2, 2)]),
]
FAMILIES = {
    "linear": LINEAR,
    "convolution": CONVOLUTION,
    "normalization": NORMALIZATION,
    "activation": ACTIVATION,
    "pooling": POOLING,
    "embedding": EMBEDDING,
    "recurrent": RECURRENT,
    "attention": ATTENTION,
    "loss": LOSS,
    "shape": SHAPE,
}
ROWS = [row for rows in FAMILIES.values() for row in rows]


def flatten(result: Any) -> list[Any]:
    """The tensors of a nested result."""
    if isinstance(result, tuple | list):
        return [tensor for each in result for tensor in flatten(each)]
    return [] if result is None else [result]


def run(torch: Any, row: Row, layer: Any, dtype: Any = None) -> dict[str, np.ndarray]:
    """Outputs, gradients and state of one forward and backward pass."""
    tensors: list[Any] = []
    for spec, array in zip(row.inputs, row.arrays(), strict=True):
        if isinstance(spec, str):
            tensors.append(tensors[0])
            continue
        tensor = torch.from_numpy(array.copy())
        if tensor.is_floating_point():
            tensor = tensor if dtype is None else tensor.to(dtype)
            tensor.requires_grad_(spec[0] != "sign")
        tensors.append(tensor)
    inplace = getattr(layer, "inplace", False)
    outputs = flatten(layer(*(tensor * 1 if inplace else tensor for tensor in tensors)))
    results = {f"output{i}": each.detach().numpy() for i, each in enumerate(outputs)}
    loss = None
    for output in outputs:
        if output.is_floating_point():
            weights = np.random.default_rng(output.ndim).standard_normal(tuple(output.shape))
            part = (output * torch.from_numpy(np.asarray(weights)).to(output.dtype)).sum()
            loss = part if loss is None else loss + part
    loss.backward()
    named = [(f"input{i}", tensor) for i, tensor in enumerate(tensors)]
    for name, tensor in [*named, *layer.named_parameters()]:
        if tensor.grad is not None:
            results[f"grad_{name}"] = tensor.grad.numpy()
    return results
