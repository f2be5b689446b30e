"""Bad input to float layers: the error names the argument, what came and what was expected."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import pyqref
from pyqref import nn
from pyqref.nn import functional as F

zeros, tensor = pyqref.zeros, pyqref.tensor

CASES: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    ("linear shape", lambda: nn.Linear(3, 4)(zeros(2, 5)), RuntimeError, r"\[\*, 3\].*\[2, 5\]"),
    ("linear scalar", lambda: nn.Linear(3, 4)(zeros(())), RuntimeError, "expected input"),
    ("no tensor", lambda: F.linear([1.0], zeros(1, 1)), TypeError, "'input' must be Tensor"),
    (
        "linear dtype",
        lambda: nn.Linear(3, 4)(zeros(2, 3).double()),
        RuntimeError,
        "same dtype, got pyqref.float64 and pyqref.float32",
    ),
    (
        "linear bias",
        lambda: F.linear(zeros(2, 3), zeros(4, 3), zeros(5)),
        RuntimeError,
        r"bias of shape \[4\], got \[5\]",
    ),
    (
        "conv channels",
        lambda: nn.Conv2d(3, 4, 3)(zeros(1, 2, 5, 5)),
        RuntimeError,
        "to have 3 channels, but got 2",
    ),
    ("conv dimensions", lambda: nn.Conv2d(3, 4, 3)(zeros(5, 5)), RuntimeError, "3D.*or 4D"),
    (
        "conv integers",
        lambda: nn.Conv1d(1, 1, 1)(tensor([[1]])),
        RuntimeError,
        "int64 and pyqref.float32",
    ),
    ("conv kernel", lambda: nn.Conv2d(1, 1, 5)(zeros(1, 1, 4, 4)), RuntimeError, "does not fit"),
    ("conv groups", lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError, "in_channels=3, groups=2"),
    ("conv zero groups", lambda: nn.Conv2d(3, 4, 3, groups=0), ValueError, "positive.*got 0"),
    ("conv padding", lambda: nn.Conv2d(3, 4, 3, padding="full"), ValueError, "'full'"),
    (
        "conv same with stride",
        lambda: nn.Conv2d(3, 4, 3, padding="same", stride=2),
        ValueError,
        "strided",
    ),
    ("conv padding mode", lambda: nn.Conv2d(3, 4, 3, padding_mode="zero"), ValueError, "'zero'"),
    (
        "conv stride",
        lambda: F.conv2d(zeros(1, 1, 4, 4), zeros(1, 1, 2, 2), stride=0),
        RuntimeError,
        "stride must be at least 1, got 0",
    ),
    (
        "conv stride length",
        lambda: F.conv2d(zeros(1, 1, 4, 4), zeros(1, 1, 2, 2), stride=(1, 1, 1)),
        RuntimeError,
        r"one int or 2 ints, got \(1, 1, 1\)",
    ),
    (
        "conv stride type",
        lambda: F.conv2d(zeros(1, 1, 4, 4), zeros(1, 1, 2, 2), stride=1.5),
        TypeError,
        "'stride' must be an int",
    ),
    *(
        (
            f"{name} groups {groups}",
            lambda convolve=convolve, groups=groups: convolve(
                zeros(1, 2, 4, 4), zeros(2, 2, 2, 2), groups=groups
            ),
            ValueError if type(groups) is int else TypeError,
            rf"{name}\(\): groups must",
        )
        for name, convolve in (("conv2d", F.conv2d), ("conv_transpose2d", F.conv_transpose2d))
        for groups in (1.5, "1", None, (1, 1), 2**63)
    ),
    (
        "output padding",
        lambda: nn.ConvTranspose1d(1, 1, 3, output_padding=1)(zeros(1, 1, 4)),
        RuntimeError,
        "smaller than either stride or dilation",
    ),
    (
        "output size",
        lambda: nn.ConvTranspose1d(1, 1, 3, stride=2)(zeros(1, 1, 4), output_size=[20]),
        ValueError,
        r"from \[9\] to \[10\]",
    ),
    (
        "transposed padding mode",
        lambda: nn.ConvTranspose2d(1, 1, 3, padding_mode="reflect"),
        ValueError,
        "zeros",
    ),
    ("pool kernel", lambda: F.max_pool2d(zeros(1, 1, 2, 2), 3), RuntimeError, "too small"),
    ("pool padding", lambda: F.avg_pool1d(zeros(1, 1, 4), 2, padding=2), RuntimeError, "half"),
    ("pool zero", lambda: F.max_pool1d(zeros(1, 1, 4), 0), RuntimeError, "at least 1, got 0"),
    (
        "pool divisor",
        lambda: F.avg_pool2d(zeros(1, 4, 4), 2, divisor_override=0),
        RuntimeError,
        "divisor_override",
    ),
    *(
        (
            f"pool divisor {divisor} of {kind}",
            lambda divisor=divisor, x=x: F.avg_pool2d(x, 2, divisor_override=divisor),
            TypeError if isinstance(divisor, float) else ValueError,
            r"avg_pool2d\(\): divisor_override must",
        )
        for divisor in (1.5, 0.4, 1e-320, float("nan"), 2**63)
        for kind, x in (
            ("floats", zeros(1, 4, 4)),
            ("integers", pyqref.quantize_per_tensor(zeros(1, 4, 4), 1.0, 0, pyqref.quint8)),
        )
    ),
    ("pool dimensions", lambda: F.max_pool2d(zeros(4, 4), 2), RuntimeError, "3.*or 4"),
    (
        "adaptive size",
        lambda: F.adaptive_avg_pool2d(zeros(1, 1, 4, 4), (1, 2, 3)),
        RuntimeError,
        "one int or 2 ints",
    ),
    ("norm dimensions", lambda: nn.BatchNorm2d(3)(zeros(2, 3)), ValueError, "4D input.*got 2D"),
    (
        "norm channels",
        lambda: nn.BatchNorm1d(3)(zeros(2, 4)),
        RuntimeError,
        r"running_mean of shape \[4\], got \[3\]",
    ),
    ("norm single", lambda: nn.BatchNorm1d(3)(zeros(1, 3)), ValueError, "more than 1 value"),
    (
        "norm without statistics",
        lambda: F.batch_norm(zeros(2, 3), None, None),
        RuntimeError,
        "training=False",
    ),
    (
        "layer norm",
        lambda: nn.LayerNorm(3)(zeros(2, 4)),
        RuntimeError,
        r"\[\*, 3\].*size \[2, 4\]",
    ),
    ("group norm", lambda: nn.GroupNorm(2, 3), ValueError, r"\(3\).*num_groups \(2\)"),
    ("instance norm", lambda: nn.InstanceNorm1d(3)(zeros(3, 1)), ValueError, "more than 1"),
    ("softmax dim", lambda: F.softmax(zeros(2, 3), 2), IndexError, r"\[-2, 1\].*got 2"),
    ("softmax integers", lambda: F.softmax(tensor([1, 2]), 0), RuntimeError, "floating point"),
    ("glu odd", lambda: F.glu(zeros(3)), RuntimeError, "even, but dimension -1 is size 3"),
    ("prelu", lambda: nn.PReLU(3)(zeros(2, 4)), RuntimeError, "1 element or 4"),
    ("hardtanh range", lambda: nn.Hardtanh(2, 1), ValueError, "greater than min_val, got 2 and 1"),
    ("gelu", lambda: F.gelu(zeros(2), "erf"), RuntimeError, "'erf'"),
    ("dropout", lambda: nn.Dropout(1.5), ValueError, "between 0 and 1, but got 1.5"),
    ("embedding index", lambda: nn.Embedding(3, 2)(tensor([3])), IndexError, r"\[0, 3\), got 3"),
    ("embedding negative", lambda: nn.Embedding(3, 2)(tensor([-1])), IndexError, "got -1"),
    ("embedding dtype", lambda: nn.Embedding(3, 2)(zeros(2)), RuntimeError, "integer dtype"),
    ("embedding padding", lambda: nn.Embedding(3, 2, padding_idx=3), ValueError, "got 3"),
    (
        "bag offsets",
        lambda: nn.EmbeddingBag(3, 2)(tensor([0, 1]), tensor([1])),
        RuntimeError,
        r"offsets\[0\] has to be 0",
    ),
    (
        "bag order",
        lambda: nn.EmbeddingBag(3, 2)(tensor([0, 1]), tensor([0, 2, 1])),
        RuntimeError,
        "must not decrease",
    ),
    ("bag mode", lambda: nn.EmbeddingBag(3, 2, mode="min")(zeros(1, 1).long()), ValueError, "min"),
    ("bag no offsets", lambda: nn.EmbeddingBag(3, 2)(tensor([0, 1])), ValueError, "got None"),
    ("one hot", lambda: F.one_hot(tensor([3]), 3), RuntimeError, r"\[0, 3\)"),
    ("target class", lambda: F.cross_entropy(zeros(2, 3), tensor([0, 3])), IndexError, "Target 3"),
    (
        "target batch",
        lambda: F.cross_entropy(zeros(2, 3), tensor([0])),
        ValueError,
        r"batch_size \(2\).*\(1\)",
    ),
    (
        "target dtype",
        lambda: F.nll_loss(zeros(2, 3), zeros(2)),
        RuntimeError,
        "int64 .*got pyqref.float32",
    ),
    (
        "class weight",
        lambda: F.nll_loss(zeros(2, 3), tensor([0, 1]), zeros(2)),
        RuntimeError,
        r"weight of shape \[3\], got \[2\]",
    ),
    ("reduction", lambda: F.mse_loss(zeros(1), zeros(1), reduction="avg"), ValueError, "avg"),
    ("probability", lambda: F.binary_cross_entropy(zeros(1) + 2, zeros(1)), RuntimeError, "0 and"),
    (
        "logits shape",
        lambda: F.binary_cross_entropy_with_logits(zeros(2), zeros(3)),
        ValueError,
        r"Target size \(\[3\]\)",
    ),
    (
        "smoothing",
        lambda: F.cross_entropy(zeros(1, 2), tensor([0]), label_smoothing=2),
        RuntimeError,
        "Got: 2",
    ),
    ("interpolate nothing", lambda: F.interpolate(zeros(1, 1, 2)), ValueError, "exactly one"),
    (
        "interpolate mode",
        lambda: F.interpolate(zeros(1, 1, 2), 3, mode="cubic"),
        NotImplementedError,
        "'cubic'",
    ),
    (
        "interpolate dimensions",
        lambda: F.interpolate(zeros(1, 1, 2), 3, mode="bilinear"),
        NotImplementedError,
        "4 dim",
    ),
    (
        "interpolate corners",
        lambda: F.interpolate(zeros(1, 1, 2), 3, align_corners=True),
        ValueError,
        "align_corners",
    ),
    (
        "interpolate factor",
        lambda: F.interpolate(zeros(1, 1, 2), scale_factor=-1.0),
        ValueError,
        "positive",
    ),
    (
        "antialias",
        lambda: F.interpolate(zeros(1, 1, 2), 3, antialias=True),
        ValueError,
        "antialias",
    ),
    ("pad odd", lambda: F.pad(zeros(3), (1,)), RuntimeError, "divisible by 2"),
    ("pad reflect", lambda: F.pad(zeros(1, 3), (3, 0), "reflect"), RuntimeError, "at most 2 "),
    ("pad mode", lambda: F.pad(zeros(1, 3), (1, 0), "mirror"), NotImplementedError, "mirror"),
    ("pad crop", lambda: F.pad(zeros(3), (-2, -2)), RuntimeError, "crops more"),
    ("pad crops all", lambda: F.pad(zeros(3), (-4, 5)), RuntimeError, "crops more"),
    ("pad layer", lambda: nn.ZeroPad2d((1, 2)), ValueError, "int or 4 ints"),
    ("shuffle", lambda: F.pixel_shuffle(zeros(1, 3, 2, 2), 2), RuntimeError, "divisible"),
    ("fold", lambda: F.fold(zeros(1, 4, 5), (3, 3), 2), RuntimeError, r"C \* 4, 4\]"),
    ("lstm features", lambda: nn.LSTM(3, 4)(zeros(5, 2, 2)), RuntimeError, "Expected 3, got 2"),
    ("lstm dimensions", lambda: nn.LSTM(3, 4)(zeros(3)), ValueError, "2D or 3D, got 1D"),
    ("lstm dtype", lambda: nn.LSTM(3, 4)(zeros(5, 2, 3).double()), ValueError, "float64"),
    ("lstm empty", lambda: nn.LSTM(3, 4)(zeros(0, 2, 3)), RuntimeError, "larger than 0"),
    (
        "lstm state",
        lambda: nn.GRU(3, 4)(zeros(5, 2, 3), zeros(1, 3, 4)),
        RuntimeError,
        r"Expected hidden\[0\] size \(1, 2, 4\), got \[1, 3, 4\]",
    ),
    ("rnn layers", lambda: nn.GRU(3, 4, 0), ValueError, "greater than zero, got 0"),
    ("rnn proj", lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size"),
    ("rnn nonlinearity", lambda: nn.RNN(3, 4, nonlinearity="elu"), ValueError, "'elu'"),
    ("cell features", lambda: nn.LSTMCell(3, 4)(zeros(2, 2)), RuntimeError, "got 2, expected 3"),
    (
        "inplace leaf",
        lambda: F.relu(zeros(2, requires_grad=True), inplace=True),
        RuntimeError,
        "leaf",
    ),
]


@pytest.mark.parametrize(
    ("call", "error", "message"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_errors(call: Callable[[], object], error: type[Exception], message: str) -> None:
    """The error has the documented type and names what is wrong."""
    with pytest.raises(error, match=message):
        call()


WARNINGS: list[tuple[str, Callable[[], object], str]] = [
    ("softmax without dim", lambda: F.softmax(zeros(2, 3)), "Implicit dimension choice"),
    ("broadcast", lambda: F.mse_loss(zeros(2, 1), zeros(2)), r"target size \(\[2\]\)"),
    ("divergence mean", lambda: F.kl_div(zeros(2), zeros(2)), "batchmean"),
    ("size_average", lambda: nn.MSELoss(size_average=False), "reduction='sum'"),
    ("reduce", lambda: F.l1_loss(zeros(2), zeros(2), reduce=False), "reduction='none'"),
    ("rnn dropout", lambda: nn.LSTM(3, 4, dropout=0.5), "num_layers greater than 1"),
    ("sparse", lambda: nn.Embedding(3, 2, sparse=True)(tensor([0])), "sparse=True has no effect"),
    ("upsample", lambda: F.upsample(zeros(1, 1, 2), 4), "interpolate"),
    ("instance channels", lambda: nn.InstanceNorm1d(3)(zeros(2, 4, 5)), "expected 3, got 4"),
    ("dropout2d", lambda: F.dropout2d(zeros(2, 3)), "2-D input"),
]


@pytest.mark.parametrize(
    ("call", "message"), [case[1:] for case in WARNINGS], ids=[case[0] for case in WARNINGS]
)
def test_warnings(call: Callable[[], object], message: str) -> None:
    """Arguments that are allowed but have no effect, or are probably a mistake, cause a warning."""
    with pytest.warns(UserWarning, match=message):
        call()
