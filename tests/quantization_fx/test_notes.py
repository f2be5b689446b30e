"""Pictures and text describe the quantization that is there, and every pass can be seen."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pyqref.ao.quantization import (
    QConfigMapping,
    default_dynamic_qconfig,
    float_qparams_weight_only_qconfig,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from pyqref.ao.quantization.quantize_fx import (
    convert_fx,
    convert_to_reference_fx,
    prepare_fx,
    prepare_qat_fx,
    watch_passes,
)

import pyqref as torch
from pyqref import fx, nn
from pyqref.fx.interception import intercepting
from pyqref.fx.notes import notes_of
from pyqref.nn import functional as F
from pyqref.quantization.fx.known_values import KnownValues, Value


class Network(nn.Module):
    """Layers and functions with and without a grid of their own, numbers, sizes, float ends."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))
        self.filter = nn.Parameter(torch.randn(1, 1, 2, 2))
        self.linear, self.sigmoid, self.norm = nn.Linear(4, 4), nn.Sigmoid(), nn.LayerNorm(4)
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.pool = nn.MaxPool1d(2)

    def forward(self, x: Any) -> Any:
        x = F.hardswish(self.norm(self.linear(F.linear(x, self.weight))))
        y = torch.cat([self.sigmoid(x), self.inner(x) + x], 1)
        z = F.conv2d(y.reshape(1, 1, -1, 8), self.filter)
        return (y + 1) * 2, torch.sin(y).sum(), x.shape[0], torch.tanh(self.pool(y)), z


def inputs() -> Any:
    torch.manual_seed(0)
    return torch.randn(3, 4)


def stages(prepare: Any = prepare_fx, mapping: Any = None) -> dict[str, Any]:
    """The prepared, calibrated, reference and lowered model."""
    x = inputs()
    model = Network().train(prepare is prepare_qat_fx)
    prepared = prepare(model, mapping or get_default_qconfig_mapping(), (x,))
    found = {"prepared": copy.deepcopy(prepared)}
    prepared(x)
    found["calibrated"] = copy.deepcopy(prepared.eval())
    found["reference"] = convert_to_reference_fx(copy.deepcopy(prepared))
    found["lowered"] = convert_fx(prepared)
    return found


class Recorder(fx.Interpreter):
    """Runs a graph and keeps what each node gave."""

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self.results: dict[Any, Any] = {}

    def run_node(self, n: Any) -> Any:
        self.results[n] = super().run_node(n)
        return self.results[n]


def grid(tensor: Any) -> str:
    """The grid of a quantized tensor as text."""
    if not tensor.qscheme().is_per_channel:
        return f"scale {tensor.q_scale():.3g}, zero_point {tensor.q_zero_point()}"
    scales = tensor.q_per_channel_scales()
    ends = " to ".join(f"{each:.3g}" for each in sorted({scales.min().item(), scales.max().item()}))
    assert not tensor.q_per_channel_zero_points().any()
    return f"axis {tensor.q_per_channel_axis()}: scale {ends}, zero_point 0"


@pytest.mark.parametrize("stage", ["calibrated", "reference", "lowered"])
@pytest.mark.parametrize("kind", ["static", "training", "dynamic"])
def test_values_are_those_that_a_run_gives(stage: str, kind: str) -> None:
    """Every node whose value is said to be known has that dtype, scale and zero point."""
    model = {
        "static": lambda: stages(),
        "training": lambda: stages(prepare_qat_fx, get_default_qat_qconfig_mapping()),
        "dynamic": lambda: stages(
            mapping=QConfigMapping()
            .set_global(default_dynamic_qconfig)
            .set_object_type(F.conv2d, None)
        ),
    }[kind]()[stage]
    recorder = Recorder(model)
    recorder.run(inputs())
    values = KnownValues(model)
    told = 0
    for node, result in recorder.results.items():
        value = values[node]
        quantized = getattr(result, "is_quantized", False)
        if node.op == "get_attr":
            continue
        assert quantized == (value is not None and value.integers), node
        if value is None or value.observer:
            continue
        assert result.dtype is value.dtype, node
        told += 1
        if quantized and "scale" in value.grid:
            assert grid(result) == value.grid, node
    assert kind == "dynamic" or told > 12


def test_what_is_known_while_something_is_traced() -> None:
    """Tracing changes no text: a proxy that lives elsewhere changes no signature."""
    lowered = stages()["lowered"]
    text = lowered.print_readable(print_output=False)
    with intercepting():
        assert text == lowered.print_readable(print_output=False)


def test_observers_before_and_after_calibration() -> None:
    """Their class and dtype, then also the range they saw and the grid that follows."""
    found = stages()
    for stage, text in (("prepared", "not calibrated"), ("calibrated", "scale ")):
        model = found[stage]
        notes = notes_of(model)
        observers = [each for each in model.graph.nodes if "post_process" in each.name]
        assert all(notes[each].style == "observer" for each in observers)
        assert "HistogramObserver: quint8\n" in notes[observers[0]].value
        assert text in notes[observers[0]].value
    drawn = fx.draw(found["calibrated"]).dot
    assert "the same as activation_post_process_" in drawn
    assert ">saw -" in drawn
    scale, zero_point = found["calibrated"].activation_post_process_0.calculate_qparams()
    grid = f"scale {scale.item():.3g}, zero_point {zero_point.item()}"
    assert f"  HistogramObserver: quint8\\l  {grid}\\l" in drawn
    readable = found["calibrated"].print_readable(print_output=False)
    assert f"| HistogramObserver: quint8, {grid}\n" in readable


def test_what_layers_are() -> None:
    """Types with their package, and the weight's dtype and scheme where it has them."""
    found = stages()
    readable = {name: each.print_readable(print_output=False) for name, each in found.items()}
    assert "# nn.Linear | float32\n" in readable["prepared"]
    weight = "weight qint8 per_channel_affine"
    assert f"# nn.quantized.reference.Linear, {weight} | float32" in readable["reference"]
    fused = "nn.intrinsic.LinearReLU of nn.quantized.reference.Linear"
    assert f"# {fused}, {weight} | float32" in readable["reference"]
    assert f"# nn.intrinsic.quantized.LinearReLU, {weight} | quint8, scale" in readable["lowered"]
    assert "# qint8, per_channel_affine, packed\n" in readable["lowered"]
    trained = stages(prepare_qat_fx, get_default_qat_qconfig_mapping())["calibrated"]
    text = trained.print_readable(print_output=False)
    assert "# nn.qat.Linear, weight qint8 per_channel_symmetric | float32" in text


def test_settings_of_fused_layers() -> None:
    """Settings are those of the convolution, before, while and after training."""
    model = nn.Sequential(nn.Conv2d(3, 8, 1), nn.BatchNorm2d(8), nn.ReLU())
    x = torch.randn(2, 3, 2, 2)
    trained = prepare_qat_fx(model.train(), get_default_qat_qconfig_mapping(), (x,))
    trained(x)
    observed = prepare_fx(model.eval(), get_default_qconfig_mapping(), (x,))
    for each in (trained, observed, convert_fx(trained.eval())):
        assert ">3, 8, kernel_size=(1, 1), stride=(1, 1)</font>" in fx.draw(each).dot


def test_weights_only() -> None:
    """An embedding's table; the values themselves stay float."""
    mapping = QConfigMapping().set_object_type(nn.Embedding, float_qparams_weight_only_qconfig)
    x = torch.tensor([[0, 1]])
    prepared = prepare_fx(nn.Sequential(nn.Embedding(4, 4)).eval(), mapping, (x,))
    text = convert_fx(prepared).print_readable(print_output=False)
    assert "nn.quantized.Embedding, weight quint8 per_channel_affine_float_qparams\n" in text


def test_recurrent_layers() -> None:
    """Dynamic layers show the scheme of their weights, too."""

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(4, 4)

        def forward(self, x: Any) -> Any:
            return self.lstm(x)[0]

    x = torch.randn(2, 3, 4)
    mapping = QConfigMapping().set_global(default_dynamic_qconfig)
    prepared = prepare_fx(Recurrent().eval(), mapping, (x,))
    prepared(x)
    drawn = fx.draw(convert_fx(prepared)).dot
    assert "nn.quantized.dynamic.LSTM<br/>" in drawn
    assert ">weight qint8 per_tensor_affine</font>" in drawn
    assert "computes with integers" in drawn


def test_pictures_leave_out_what_stands_on_edges() -> None:
    """Attributes that hold a scale or zero point; packed weights are shown."""
    lowered = stages()["lowered"]
    drawn, whole = fx.draw(lowered).dot, fx.draw(lowered, implied=True).dot
    assert "_scale_0" not in drawn
    assert '"_packed_weight_0" -> "linear"' in drawn
    assert '"_scale_1" -> "linear"' in whole


def test_a_loaded_state_shows() -> None:
    """Notes are taken when they are asked for: other scales, other text."""
    lowered = stages()["lowered"]
    state = lowered.state_dict()
    state["linear.scale"] = torch.tensor(0.5)
    lowered.load_state_dict(state)
    assert "scale 0.5, " in lowered.print_readable(print_output=False)


def test_every_pass_can_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    """Passes are shown by name and in order, printed or drawn; afterwards nothing is shown."""
    seen: list[str] = []

    def look(name: str, model: Any) -> None:
        seen.append(name)
        assert fx.draw(model).dot
        assert model.print_readable(print_output=False)

    x = inputs()
    with watch_passes(look):
        prepared = prepare_fx(Network().eval(), get_default_qconfig_mapping(), (x,))
        prepared(x)
        convert_to_reference_fx(copy.deepcopy(prepared))
        assert ["trace", "fuse", "select_matches", "insert_observers"] == seen[:4]
        assert "keep_outputs_quantized" == seen[-1]
        convert_fx(prepared)
    assert "fold_weights" == seen[-1]
    with watch_passes():
        prepared = prepare_fx(Network().eval(), get_default_qconfig_mapping(), (x,))
    printed = capsys.readouterr().out
    assert "# after the pass fuse\nclass GraphModule" in printed
    prepare_qat_fx(Network().train(), get_default_qat_qconfig_mapping(), (x,))
    assert "" == capsys.readouterr().out
    assert "fold_weights" == seen[-1]
    with pytest.raises(TypeError, match="watch_passes: show must be a function"):
        watch_passes("fuse").__enter__()  # type: ignore[arg-type]


def test_value_as_text() -> None:
    """Observer, dtype and grid, on two lines."""
    assert "Obs: quint8\nscale 1" == str(Value(torch.quint8, "scale 1", "Obs"))
    assert "float32" == str(Value(torch.float32))
