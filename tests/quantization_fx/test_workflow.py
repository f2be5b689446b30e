"""``prepare_fx`` to ``convert_fx``: what torch's answers do not tell."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pyqref.ao.quantization import (
    QConfigMapping,
    QuantizationWarning,
    UncalibratedWarning,
    default_dynamic_qconfig,
    get_default_qat_qconfig_mapping,
    get_default_qconfig,
    get_default_qconfig_mapping,
)
from pyqref.ao.quantization.fx.custom_config import ConvertCustomConfig, PrepareCustomConfig
from pyqref.ao.quantization.quantize_fx import (
    convert_fx,
    convert_to_reference_fx,
    fuse_fx,
    prepare_fx,
    prepare_qat_fx,
)

import pyqref as torch
from pyqref import nn
from pyqref.nn import functional as F


def rows(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    return torch.randn(8, 6)


class Shared(nn.Module):
    """One layer called twice, once with ReLU behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(self, x: Any) -> Any:
        return F.relu(self.linear(x)) + self.linear(x)


def quantized(model: Any, x: Any, mapping: Any = None) -> tuple[Any, Any]:
    """The quantized model, and its reference model."""
    prepared = prepare_fx(model.eval(), mapping or get_default_qconfig_mapping(), (x,))
    prepared(x)
    reference = convert_to_reference_fx(copy.deepcopy(prepared))
    return convert_fx(prepared), reference


def test_a_shared_layer_is_fused_only_if_all_calls_are_alike() -> None:
    """Torch puts the ReLU of one call behind the other, too; here it is left unfused."""
    model = Shared()
    x = rows()
    result = fuse_fx(model.eval())
    assert (result(x) - model(x)).abs().max() == 0
    prepared = prepare_fx(model, get_default_qconfig_mapping(), (x,))
    prepared(x)
    prepared.activation_post_process_1(10 * x)
    with pytest.warns(QuantizationWarning, match="linear is called more than once"):
        convert_fx(prepared)


def test_the_model_given_is_not_changed() -> None:
    """Neither its code nor its layers."""
    model = nn.Sequential(nn.Linear(6, 6), nn.ReLU()).eval()
    x = rows()
    before = model(x)
    quantized(model, x)
    assert [nn.Linear, nn.ReLU] == [type(each) for each in model]
    assert torch.equal(before, model(x))


def test_quantized_and_reference_models_are_near_the_float_model() -> None:
    """8 bits of rounding, not more."""
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    x = rows()
    converted, reference = quantized(model, x)
    # Two 7-bit grids and one of weights: each half a step.
    assert 0.1 > float((converted(x) - model(x)).abs().max())
    assert 0.05 > float((converted(x) - reference(x)).abs().max())


def test_functional_convolutions_of_every_form() -> None:
    """An int for a pair, keyword arguments, no bias: torch crashes on these."""

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.randn(4, 4, 3, 3))
            self.t = nn.Parameter(torch.randn(4, 4, 2, 2))

        def forward(self, x: Any) -> Any:
            x = F.relu(F.conv2d(x, self.w, padding=1))
            x = F.conv2d(x, weight=self.w, stride=2)
            return F.conv_transpose2d(x, self.t, stride=2)

    torch.manual_seed(0)
    x = torch.randn(2, 4, 7, 7)
    converted, reference = quantized(Network(), x)
    names = [getattr(n.target, "__name__", "") for n in converted.graph.nodes]
    assert ["conv2d_relu", "conv2d", "conv_transpose2d"] == [n for n in names if "conv" in n]
    last = next(n for n in converted.graph.nodes if "transpose" in n.name)
    step = float(getattr(converted, last.args[2].target))
    # A float sum near a tie may round to the next integer, three layers in a row.
    assert 3 >= round(float((converted(x) - reference(x)).abs().max()) / step)


def test_weights_are_packed_once_and_can_be_kept() -> None:
    """``keep_original_weights``."""

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.b = nn.Parameter(torch.randn(3, 6)), nn.Parameter(torch.randn(3))

        def forward(self, x: Any) -> Any:
            return F.linear(x, self.w, self.b)

    model, x = Network().eval(), rows()
    prepared = prepare_fx(model, get_default_qconfig_mapping(), (x,))
    prepared(x)
    converted = convert_fx(prepared, keep_original_weights=True)
    weight, bias, zero_point, scale = converted.original_weights_lookup["_packed_weight_0"]
    assert torch.equal(model.w, weight)
    assert torch.equal(model.b, bias)
    scales = converted._packed_weight_0.unpack()[0].q_per_channel_scales()
    assert (scales.tolist(), [0] * 3) == (scale.tolist(), zero_point.tolist())
    assert ["_packed_weight_0"] == [n.name for n in converted.graph.nodes if "packed" in n.name]


def test_outputs_stay_quantized_behind_a_float_operation() -> None:
    """Torch ignores ``output_quantized_indexes`` there."""

    class Network(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.sin(x)

    custom = PrepareCustomConfig().set_output_quantized_indexes([0])
    x = rows()
    prepared = prepare_fx(
        Network().eval(), get_default_qconfig_mapping(), (x,), prepare_custom_config=custom
    )
    prepared(x)
    assert convert_fx(prepared)(x).is_quantized


def test_inputs_may_be_quantized_already() -> None:
    """``input_quantized_indexes``."""
    custom = PrepareCustomConfig().set_input_quantized_indexes([0])
    model = nn.Sequential(nn.Linear(6, 6)).eval()
    x = rows()
    prepared = prepare_fx(model, get_default_qconfig_mapping(), (x,), prepare_custom_config=custom)
    prepared(x)
    converted = convert_fx(prepared)
    result = converted(torch.quantize_per_tensor(x, 0.05, 64, torch.quint8))
    assert 0.15 > float((result - model(x)).abs().max())


def test_reshape_of_a_float_tensor_does_not_stop_the_layer_behind_it() -> None:
    """Torch takes the result for quantized, and leaves a reference layer in float."""

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)

        def forward(self, x: Any) -> Any:
            return self.linear(x.reshape(-1, 6))

    converted, _ = quantized(Network(), rows())
    assert type(converted.linear) is torch.ao.nn.quantized.Linear


def test_custom_modules() -> None:
    """Classes of the user's take part through ``from_float`` and ``from_observed``."""

    class Doubled(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    class Observed(nn.Module):
        @classmethod
        def from_float(cls, module: Any) -> Any:
            return cls()

        def forward(self, x: Any) -> Any:
            return x * 2

    class Quantized(nn.Module):
        @classmethod
        def from_observed(cls, module: Any) -> Any:
            made = cls()
            scale, zero_point = module.activation_post_process.calculate_qparams()
            made.scale, made.zero_point = float(scale), int(zero_point)
            return made

        def forward(self, x: Any) -> Any:
            doubled = x.dequantize() * 2
            return torch.quantize_per_tensor(doubled, self.scale, self.zero_point, torch.quint8)

    model = nn.Sequential(nn.Linear(6, 6), Doubled(), nn.Linear(6, 6)).eval()
    x = rows()
    prepared = prepare_fx(
        model,
        get_default_qconfig_mapping(),
        (x,),
        PrepareCustomConfig().set_float_to_observed_mapping(Doubled, Observed),
    )
    prepared(x)
    converted = convert_fx(
        prepared, ConvertCustomConfig().set_observed_to_quantized_mapping(Observed, Quantized)
    )
    assert type(converted.get_submodule("1")) is Quantized
    assert 1 == sum(node.target == "dequantize" for node in converted.graph.nodes)
    assert 0.1 > float((converted(x) - model(x)).abs().max())


def test_training_changes_weights_and_is_converted() -> None:
    """Prepare, train, convert: the quantized layer holds what was learnt."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten())
    model.append(nn.Linear(4 * 36, 2))
    x = torch.randn(8, 1, 8, 8)
    prepared = prepare_qat_fx(model.train(), get_default_qat_qconfig_mapping(), (x,))
    optimizer = torch.optim.SGD(prepared.parameters(), lr=0.05)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = (prepared(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert losses[-1] < losses[0]
    prepared.eval()
    expected = prepared(x)
    converted = convert_fx(prepared)
    kinds = [type(each).__module__.split(".")[1:4] for each in (converted.get_submodule("0"),)]
    assert [["nn", "intrinsic", "quantized"]] == kinds
    assert 0.2 > float((converted(x) - expected).abs().max())


def test_what_convert_may_change() -> None:
    """An entry must be the one given to ``prepare_fx``, or None."""
    model, x = nn.Sequential(nn.Linear(6, 6)).eval(), rows()
    qconfig = get_default_qconfig("x86")
    prepared = prepare_fx(model, QConfigMapping().set_global(qconfig), (x,))
    with pytest.raises(ValueError, match="the one given to prepare_fx or None"):
        convert_fx(prepared, qconfig_mapping=QConfigMapping().set_global(default_dynamic_qconfig))
    again = prepare_fx(model, QConfigMapping().set_module_name("0", qconfig), (x,))
    with pytest.raises(ValueError, match="module_name lacks"):
        convert_fx(again, qconfig_mapping=QConfigMapping())


def test_arguments_are_checked() -> None:
    """Each error says what to do."""
    model, mapping, x = nn.Sequential(nn.Linear(6, 6)), get_default_qconfig_mapping(), rows()
    with pytest.raises(ValueError, match=r"call model.eval\(\) first"):
        prepare_fx(model.train(), mapping, (x,))
    model.eval()
    with pytest.raises(TypeError, match="takes a Module"):
        prepare_fx(lambda x: x, mapping, (x,))
    with pytest.raises(TypeError, match="qconfig_mapping must be a QConfigMapping"):
        prepare_fx(model, None, (x,))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="call prepare_fx first"):
        convert_fx(model)


def test_uncalibrated_observers_are_told_of_once() -> None:
    """One warning names the observers by node."""
    model = nn.Sequential(nn.Linear(6, 6), nn.ReLU()).eval()
    prepared = prepare_fx(model, get_default_qconfig_mapping(), (rows(),))
    with pytest.warns(
        UncalibratedWarning, match=r"'0' \(LinearReLU\), the input 'input'"
    ) as caught:
        convert_fx(prepared)
    assert 1 == len(caught)


def test_untraceable_models_name_the_line_and_the_ways_out() -> None:
    """Making the module non-traceable is one of the ways out."""

    class Branch(nn.Module):
        def forward(self, x: Any) -> Any:
            if x.sum() > 0:
                return x
            return -x

    model = nn.Sequential(nn.Linear(6, 6), Branch()).eval()
    with pytest.raises(torch.fx.TraceError, match="set_non_traceable_module_names") as error:
        prepare_fx(model, get_default_qconfig_mapping(), (rows(),))
    assert "if x.sum() > 0:" in str(error.value)
    custom = PrepareCustomConfig().set_non_traceable_module_classes([Branch])
    prepared = prepare_fx(model, get_default_qconfig_mapping(), (rows(),), custom)
    assert (8, 6) == tuple(prepared(rows()).shape)


def test_attributes_are_preserved() -> None:
    """Though no code uses them."""
    model = nn.Sequential(nn.Linear(6, 6)).eval()
    model.vocabulary = ["a"]
    x = rows()
    kept = {"preserved_attributes": ["vocabulary"]}
    prepared = prepare_fx(model, get_default_qconfig_mapping(), (x,), kept)
    prepared(x)
    assert ["a"] == convert_fx(prepared, kept).vocabulary


def test_state_dict_of_a_quantized_graph() -> None:
    """Loads into another graph prepared and converted in the same way."""
    x = rows()
    first, _ = quantized(nn.Sequential(nn.Linear(6, 6), nn.ReLU()), x)
    second, _ = quantized(nn.Sequential(nn.Linear(6, 6), nn.ReLU()), 2 * x)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(x), second(x))


def test_float_functional_is_traced_through() -> None:
    """Models written for eager mode work, and keep their modules."""

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)
            self.skip = torch.ao.nn.quantized.FloatFunctional()

        def forward(self, x: Any) -> Any:
            return self.skip.add_relu(self.linear(x), x)

    model = Network()
    converted, _ = quantized(model, rows())
    calls = [getattr(node.target, "__name__", "") for node in converted.graph.nodes]
    assert ["add_relu"] == [name for name in calls if "add" in name]
    assert type(model.skip) is torch.ao.nn.quantized.FloatFunctional


@pytest.mark.parametrize(
    "operation",
    [
        lambda x, y: torch.add(x, y, alpha=2),
        lambda x, y: torch.add(x, other=y),
        lambda x, y: torch.mul(x, other=2.0),
        lambda x, y: torch.cat(torch.split(x, 3, 1), 1) + torch.cat(y.chunk(2)),
        lambda x, y: y - x // 2,
    ],
)
def test_forms_that_torch_lowers_wrongly_or_not_at_all(operation: Any) -> None:
    """A factor ``alpha`` that torch drops, keyword operands, tuples, floor division."""

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)

        def forward(self, x: Any) -> Any:
            return operation(self.linear(x), x)

    converted, reference = quantized(Network(), rows())
    step = 0.05
    assert 2 * step > float((converted(rows()) - reference(rows())).abs().max())


def test_an_lstm_as_custom_module() -> None:
    """``nn.quantizable.LSTM``: a custom module that gives a tuple."""
    lstm, states = nn.LSTM(6, 5), torch.zeros(1, 2, 5)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = lstm

        def forward(self, x: Any, h: Any, c: Any) -> Any:
            y, (h, c) = self.lstm(x, (h, c))
            return y, h, c

    torch.manual_seed(0)
    inputs = (torch.randn(4, 2, 6), states, states)
    expected = Network().eval()(*inputs)
    quantizable, nnq = torch.ao.nn.quantizable, torch.ao.nn.quantized
    prepared = prepare_fx(
        Network().eval(),
        get_default_qconfig_mapping(),
        inputs,
        PrepareCustomConfig().set_float_to_observed_mapping(nn.LSTM, quantizable.LSTM),
    )
    prepared(*inputs)
    converted = convert_fx(
        prepared,
        ConvertCustomConfig().set_observed_to_quantized_mapping(quantizable.LSTM, nnq.LSTM),
    )
    assert isinstance(converted.lstm, nnq.LSTM)
    for actual, wanted in zip(converted(*inputs), expected, strict=True):
        assert 0.1 > float((actual - wanted).abs().max())
