"""``prepare_fx`` and its like: what they accept, and in what order the result holds its parts."""

from __future__ import annotations

from typing import Any

import pytest
from pyqref.ao.quantization import (
    QConfigMapping,
    disable_observer,
    float16_dynamic_qconfig,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from pyqref.ao.quantization.fx.custom_config import (
    ConvertCustomConfig,
    FuseCustomConfig,
    PrepareCustomConfig,
)
from pyqref.ao.quantization.quantize_fx import (
    convert_fx,
    convert_to_reference_fx,
    fuse_fx,
    prepare_fx,
    prepare_qat_fx,
)

import pyqref as torch
from pyqref import nn


class Net(nn.Module):
    """A convolution with batch norm, a layer behind it, and a module that is never called."""

    def __init__(self) -> None:
        super().__init__()
        self.unused = nn.Linear(1, 1)
        self.last = nn.Linear(4, 2)
        self.conv, self.bn = nn.Conv2d(2, 4, 1), nn.BatchNorm2d(4)

    def forward(self, x: Any) -> Any:
        return self.last(self.bn(self.conv(x)).flatten(1))


def image() -> Any:
    torch.manual_seed(0)
    return torch.randn(3, 2, 1, 1)


def test_a_preserved_attribute_may_be_a_module() -> None:
    """Documented: attributes stay though no code uses them; modules, too."""
    names = ["unused"]
    x, model = image(), Net().eval()
    fused = fuse_fx(model, FuseCustomConfig().set_preserved_attributes(names))
    assert model.unused is fused.unused
    custom = PrepareCustomConfig().set_preserved_attributes(names)
    prepared = prepare_fx(model, get_default_qconfig_mapping(), (x,), prepare_custom_config=custom)
    prepared(x)
    converted = convert_fx(prepared, ConvertCustomConfig().set_preserved_attributes(names))
    assert model.unused is converted.unused


def test_modules_stand_in_the_order_of_their_calls() -> None:
    """A printed model and its state dict read like the graph, as in torch."""
    prepared = prepare_fx(Net().eval(), get_default_qconfig_mapping(), (image(),))
    called = [node.target for node in prepared.graph.nodes if node.op == "call_module"]
    assert list(dict.fromkeys(called)) == [name for name, _ in prepared.named_children()]


def test_a_model_in_evaluation_mode_is_prepared_for_training() -> None:
    """The result is in the mode of the model, as in torch."""
    prepared = prepare_qat_fx(Net().eval(), get_default_qat_qconfig_mapping(), (image(),))
    assert not prepared.training
    assert type(prepared.conv) is nn.intrinsic.qat.ConvBn2d
    assert not prepared.conv.training
    prepared.train()
    assert prepared.conv.bn.training
    prepared(image())
    assert (3, 2) == tuple(convert_fx(prepared.eval())(image()).shape)


def test_a_prepared_model_goes_on_after_convert() -> None:
    """It gives what it gave, keeps its modules, and can be converted again, in each way."""
    for prepare, get in (
        (prepare_fx, get_default_qconfig_mapping),
        (prepare_qat_fx, get_default_qat_qconfig_mapping),
    ):
        model = Net().train(prepare is prepare_qat_fx)
        prepared = prepare(model, get(), (image(),))
        prepared(image())
        prepared.eval()
        if prepare is prepare_qat_fx:
            prepared.apply(disable_observer)
        expected, modules = prepared(image()), dict(prepared.named_modules())
        first = convert_fx(prepared)(image())
        reference = convert_to_reference_fx(prepared)
        assert torch.equal(expected, prepared(image()))
        assert modules == dict(prepared.named_modules())
        assert all(hasattr(prepared.get_submodule(name), "qconfig") for name in ("conv", "last"))
        assert torch.equal(first, convert_fx(prepared)(image()))
        assert type(reference.last) is nn.quantized.reference.Linear


def test_prepared_and_converted_models_say_so() -> None:
    """No step of graph mode takes a model that it, or a later one, returned."""
    mapping, x = get_default_qconfig_mapping(), (image(),)
    prepared = prepare_fx(Net().eval(), mapping, x)
    prepared(image())
    reference = convert_to_reference_fx(prepared)
    for model in (convert_fx(prepared), reference):
        with pytest.raises(TypeError, match=r"is converted already; to convert in another way"):
            convert_fx(model)
        with pytest.raises(TypeError, match="this model is converted already; call prepare_fx on"):
            prepare_fx(model, mapping, x)
    for model, name in ((prepared, "this model"), (nn.Sequential(prepared), "the module '0'")):
        with pytest.raises(TypeError, match=f"{name} is already prepared; .*convert_fx"):
            prepare_fx(model.eval(), mapping, x)
        with pytest.raises(TypeError, match=f"{name} is already prepared"):
            prepare_qat_fx(model, mapping, x)
        with pytest.raises(TypeError, match=f"{name} is already prepared"):
            fuse_fx(model)


def test_the_float_model_stays_as_it_was() -> None:
    """Neither qconfigs nor observers come into it, nor does training the prepared one move it."""
    model = Net().eval()
    before = {path: dict(vars(each)) for path, each in model.named_modules()}
    prepared = prepare_qat_fx(model, get_default_qat_qconfig_mapping(), (image(),))
    prepared.eval()(image())
    convert_fx(prepared)
    assert before == {path: dict(vars(each)) for path, each in model.named_modules()}


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_recurrent_layers_with_float16_weights(kind: Any) -> None:
    """The bits are those of eager mode, where the weights are rounded to float16."""

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.layer = kind(5, 4)

        def forward(self, x: Any) -> Any:
            return self.layer(x)

    x = torch.randn(3, 5) if kind.__name__.endswith("Cell") else torch.randn(3, 2, 5)
    model = Recurrent().eval()
    eager = torch.quantization.quantize_dynamic(model, {kind}, dtype=torch.float16)
    mapping = QConfigMapping().set_global(float16_dynamic_qconfig)
    converted = convert_fx(prepare_fx(model, mapping, (x,)))
    assert type(eager.layer) is type(converted.layer)
    expected, actual = eager(x), converted(x)
    if isinstance(expected, tuple):
        expected, actual = expected[0], actual[0]
    assert torch.equal(expected, actual)
    converted.load_state_dict(converted.state_dict())


def test_a_standalone_module_whose_observers_are_one() -> None:
    """The mean shares the observer of its input, under two names, of which none goes lost."""

    class Mean(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.mean((2, 3))

    first, second = nn.Conv2d(2, 2, 3, padding=1), nn.Conv2d(2, 2, 3, padding=1)
    model = nn.Sequential(first, nn.Sequential(second, Mean())).eval()
    inner = PrepareCustomConfig().set_input_quantized_indexes([0]).set_output_quantized_indexes([0])
    whole = PrepareCustomConfig().set_standalone_module_name("1", None, (image(),), inner, None)
    prepared = prepare_fx(model, get_default_qconfig_mapping(), (image(),), whole)
    prepared(image())
    assert 0.1 > float((convert_fx(prepared)(image()) - model(image())).abs().max())
