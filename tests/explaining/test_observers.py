"""Why the scale is this: which batch, where in it, which range, and why a gradient is zero."""

from __future__ import annotations

import warnings

import pytest

import pyqref
from pyqref import nn, quantization
from pyqref.explaining import explain, recording
from pyqref.explaining.draft import EXPLAINERS

SYMMETRIC = {"dtype": pyqref.qint8, "qscheme": pyqref.per_tensor_symmetric}
BY_CHANNEL = {"dtype": pyqref.qint8, "qscheme": pyqref.per_channel_symmetric}
FLOAT = {"dtype": pyqref.quint4x2, "qscheme": pyqref.per_channel_affine_float_qparams}
OBSERVERS = (
    quantization.MinMaxObserver,
    quantization.MinMaxObserver.with_args(reduce_range=True),
    quantization.MinMaxObserver.with_args(**SYMMETRIC),
    quantization.MovingAverageMinMaxObserver,
    quantization.MovingAverageMinMaxObserver.with_args(averaging_constant=1, **SYMMETRIC),
    quantization.HistogramObserver,
    quantization.HistogramObserver.with_args(bins=16, **SYMMETRIC),
    quantization.PerChannelMinMaxObserver,
    quantization.PerChannelMinMaxObserver.with_args(ch_axis=1, **BY_CHANNEL),
    quantization.PerChannelMinMaxObserver.with_args(**FLOAT),
    quantization.MovingAveragePerChannelMinMaxObserver,
)


@pytest.fixture(autouse=True)
def _seed():
    pyqref.manual_seed(0)


@pytest.mark.parametrize("made", OBSERVERS)
@pytest.mark.parametrize("batches", [1, 3])
def test_why_the_scale_is_this(made, batches):
    """Recomputed from its own steps exactly, the derivation is the observer's scale.

    Its zero point as well: ``eq-running-range``, ``eq-average-range``, ``eq-histogram-search``,
    then ``eq-affine-qparams``, ``eq-symmetric-scale`` or ``eq-float-qparams``.
    """
    observer = made()
    model = nn.Sequential(observer)
    with recording() as ran:
        for number in range(batches):
            model(pyqref.randn(3, 5) * (number + 1))
    per_channel = observer.min_val.dim() > 0
    found = ran.explain("0", 1 if per_channel else ())
    assert found.check()
    scale, zero_point = observer.calculate_qparams()
    at = 1 if per_channel else 0
    assert scale[at].item() == found.stored
    assert zero_point[at].item() == found.step("zero point").value
    assert f"batch {batches} of {batches}" in found.steps[0].section
    assert found.steps[0].decision.startswith("at [")
    if batches > 1:
        assert ran.explain("0_1", 1 if per_channel else ()).check()


def test_which_batch_set_the_range():
    """An extreme that is still remembered is named by its batch and its place."""
    observer = quantization.MinMaxObserver()
    observer(pyqref.tensor([-9.0]))
    with recording() as ran:
        for batch in ([[0.0, 1.0]], [[5.0, 2.0]], [[3.0, 4.0]]):
            observer(pyqref.tensor(batch))
    found = ran.explain("minmaxobserver")
    assert (
        "the smallest number so far was known before this recording",
        "the largest number so far comes from batch 2, at [0, 0]",
    ) == found.notes


def test_a_moving_average_shows_its_step():
    """``x_max + c (max X - x_max)``, with the numbers put in."""
    observer = quantization.MovingAverageMinMaxObserver(averaging_constant=0.25)
    with recording() as ran:
        for batch in ([0.0, 1.0], [0.0, 3.0]):
            observer(pyqref.tensor(batch))
    found = ran.explain("movingaverageminmaxobserver")
    moved = next(each for each in found.steps if each.name == "high end moved")
    assert ("fl32(1 + 0.5)", 1.5) == (moved.numbers, moved.value)
    assert "eq-average-range" == moved.label


def test_a_histogram_shows_what_it_tried():
    """Every range that was tried with its loss; the one that was chosen costs least."""
    found = explain(nn.Sequential(quantization.HistogramObserver(bins=64)), pyqref.randn(4000), "0")
    (table,) = found.tables
    losses = {word: loss for _, _, loss, word in table.rows}
    assert min(loss for _, _, loss, _ in table.rows) == losses["chosen"] < losses["whole"]
    chosen = next(row for row in table.rows if row[3] == "chosen")
    names = "low end", "high end"
    assert [found.step(each).value for each in names] == list(chosen[:2])
    assert table.title in str(found)
    assert table.title in found._repr_html_()
    assert len(table.rows) == len(found.to_dict()["tables"][0]["rows"])
    assert max(len(line) for line in str(found).splitlines()) <= 80


class Trained(nn.Module):
    """Model to be prepared for training: a convolution with batch norm, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.quant = quantization.QuantStub()
        self.conv, self.bn, self.relu = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()
        self.fc = nn.Linear(8, 3)
        self.dequant = quantization.DeQuantStub()

    def forward(self, x):
        x = self.relu(self.bn(self.conv(self.quant(x))))
        return self.dequant(self.fc(x.flatten(1)))


FAKE = {
    "fused": quantization.get_default_qat_qconfig("x86"),
    "apart": quantization.get_default_qat_qconfig("fbgemm", version=0),
}


@pytest.mark.parametrize("kind", FAKE)
def test_in_training(kind):
    """Each fake quantizer of a model in training, and each observer, recomputed exactly.

    Where the derivation says that the gradient is 0, it is; elsewhere it passes
    (``eq-straight-through``).
    """
    model = Trained().train()
    model.qconfig = FAKE[kind]
    model = quantization.fuse_modules_qat(model, [["conv", "bn", "relu"]])
    prepared = quantization.prepare_qat(model)
    with recording() as ran:
        for _ in range(2):
            prepared(pyqref.randn(4, 1, 4, 4))
    records = [each for each in ran._recorder.records if each.operation in EXPLAINERS]
    paths = {path for path, each in prepared.named_modules() if path.endswith("fake_quant")}
    assert len(paths) == 2
    assert paths <= {each.layer for each in records}
    for record in records:
        found = ran.explain(record.layer, (0,) * len(record.outputs[0].shape))
        assert found.check()
    assert "fc.weight" == ran.explain("fc.weight_fake_quant", (0, 0)).inputs[-1].layer


def test_why_the_gradient_is_zero():
    """Exactly there where the derivation says so."""
    fake = quantization.FusedMovingAvgObsFakeQuantize(averaging_constant=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fake(pyqref.tensor([-1.0, 1.0]))
    x = pyqref.tensor([-2.0, -1.0, 0.5, 1.0, 9.0], requires_grad=True)
    with recording():
        y = fake(x)
    y.sum().backward()
    for place, passes in enumerate(x.grad.tolist()):
        found = y.why(place)
        assert found.check()
        words = "so the gradient passes" if passes else "so the gradient is 0 here"
        assert found.step("clamped").decision.endswith(words)


def test_scales_that_no_data_changes():
    """A fixed scale says so; what keeps no range says what to ask instead."""
    fixed = quantization.FixedQParamsObserver(1 / 256, 0)
    found = explain(nn.Sequential(fixed), pyqref.rand(3), "0")
    assert found.check()
    assert (1 / 256, 0) == (found.stored, found.step("fixed zero point").value)
    with pytest.raises(LookupError, match=r"0 \(PlaceholderObserver\) keeps no range"):
        explain(nn.Sequential(quantization.PlaceholderObserver()), pyqref.rand(3), "0")
    off = quantization.FusedMovingAvgObsFakeQuantize()
    off.disable_fake_quant()
    model = nn.Sequential(off, nn.quantized.Quantize(0.1, 0, pyqref.quint8))
    with pytest.raises(LookupError, match="0 gave back what it was given"):
        explain(model, pyqref.rand(3), "0")
    with pytest.raises(LookupError, match=r"no layer '0.activation_post_process' ran by itself"):
        explain(model, pyqref.rand(3), "0.activation_post_process")
