"""From a float model to a quantized one: qconfigs, observers, conversion."""

from __future__ import annotations

from typing import Any

import pytest
from quantization.samples import Model, model_with_qconfig, normal, observed_paths

import pyqref
from pyqref import nn
from pyqref import quantization as q


@pytest.fixture
def model() -> Model:
    return model_with_qconfig()


def test_static_workflow(model: Model) -> None:
    """Documented steps: prepare, calibrate, convert."""
    prepared = q.prepare(model)
    x = normal(50, 4)
    prepared(x)
    quantized = q.convert(prepared)
    assert nn.quantized.Quantize is type(quantized.quant)
    assert nn.quantized.Linear is type(quantized.first)
    assert nn.quantized.QFunctional is type(quantized.sum)
    assert nn.quantized.DeQuantize is type(quantized.dequant)
    assert nn.Linear is type(quantized.last)
    error = (model(x) - quantized(x)).abs().max().item()
    assert error < 0.1


def test_prepare_and_convert_work_on_copies(model: Model) -> None:
    prepared = q.prepare(model)
    assert [] == observed_paths(model)
    prepared(normal(5, 4))
    quantized = q.convert(prepared)
    assert nn.Linear is type(prepared.first)
    assert quantized is not prepared


def test_prepare_and_convert_in_place(model: Model) -> None:
    assert model is q.prepare(model, inplace=True)
    model(normal(5, 4))
    assert model is q.convert(model, inplace=True)
    assert nn.quantized.Linear is type(model.first)


@pytest.mark.parametrize("call", ["prepare(m, True)", "prepare(m, None, True)"])
def test_prepare_takes_both_orders_of_arguments(model: Model, call: str) -> None:
    """1.4: (model, qconfig_dict, inplace); 2.13: (model, inplace, allow_list, ...)."""
    assert model is eval("q." + call, {"q": q, "m": model})


def test_prepare_takes_an_allow_list_as_torch(model: Model) -> None:
    prepared = q.prepare(model, False, {q.QuantStub})
    assert ["quant", "sum"] == observed_paths(prepared)


def test_observers_stand_behind_leaf_modules(model: Model) -> None:
    """ReLU, DeQuantStub and what has no qconfig get none."""
    assert ["quant", "first", "second", "sum"] == observed_paths(q.prepare(model))


def test_convert_leaves_no_trace(model: Model) -> None:
    """No qconfig, no observer, no hook of prepare."""
    prepared = q.prepare(model)
    prepared(normal(5, 4))
    quantized = q.convert(prepared)
    assert not any(hasattr(each, "qconfig") for each in quantized.modules())
    assert not any(each._forward_hooks for each in quantized.modules())
    kept = q.convert(prepared, remove_qconfig=False)
    assert q.qconfig_equals(q.default_qconfig, kept.relu.qconfig)


def test_the_users_hooks_stay(model: Model) -> None:
    calls: list[str] = []
    model.first.register_forward_pre_hook(lambda module, args: calls.append("pre"))
    model.first.register_forward_hook(lambda module, args, output: calls.append("post"))
    prepared = q.prepare(model)
    prepared(normal(5, 4))
    quantized = q.convert(prepared)
    calls.clear()
    quantized(normal(5, 4))
    assert ["pre", "post"] == calls


def test_qconfig_dict_of_names_and_types(model: Model) -> None:
    """Own attribute (None too), then name, then type, then parent."""
    del model.qconfig
    low, high = q.QConfig(q.MinMaxObserver, None), q.QConfig(q.HistogramObserver, None)
    q.propagate_qconfig_(model, {"": low, nn.Linear: high, "second": low})
    assert low is model.quant.qconfig
    assert high is model.first.qconfig
    assert low is model.second.qconfig
    assert model.last.qconfig is None


def test_prepare_with_a_qconfig_dict(model: Model) -> None:
    """Documented: prepare(model, qconfig_dict)."""
    del model.qconfig
    prepared = q.prepare(model, {"first": q.default_qconfig})
    assert ["first"] == observed_paths(prepared)


def test_quantize_does_it_in_one_call(model: Model) -> None:
    """Documented: prepare, run_fn, convert."""
    data = [normal(20, 4)]
    quantized = q.quantize(model, q.default_eval_fn, [data])
    prepared = q.prepare(model)
    prepared(data[0])
    expected = q.convert(prepared)
    assert expected(data[0]).tolist() == quantized(data[0]).tolist()


def test_default_eval_fn_takes_tensors_and_pairs() -> None:
    """Documented: a dataset, or a list of input tensors."""
    seen: list[float] = []
    model = nn.Sequential()
    model.register_forward_pre_hook(lambda module, args: seen.append(args[0].item()))
    data = pyqref.utils.data.TensorDataset(pyqref.tensor([3.0]), pyqref.tensor([1]))
    q.default_eval_fn(model, [pyqref.tensor(1.0), (pyqref.tensor(2.0), 0)])
    q.default_eval_fn(model, data)
    assert [1.0, 2.0, 3.0] == seen


def test_quantization_aware_training() -> None:
    """prepare_qat, a step of training, convert."""
    model = Model().train()
    model.qconfig = q.get_default_qat_qconfig("fbgemm")
    model.last.qconfig = None
    prepared = q.prepare_qat(model)
    assert nn.qat.Linear is type(prepared.first)
    optimizer = pyqref.optim.SGD(prepared.parameters(), lr=0.1)
    before = prepared.first.weight.detach().clone()
    loss = prepared(normal(8, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
    assert before.tolist() != prepared.first.weight.tolist()
    quantized = q.convert(prepared.eval())
    assert nn.quantized.Linear is type(quantized.first)
    assert (8, 2) == tuple(quantized(normal(8, 4)).shape)


def test_quantize_qat_in_one_call() -> None:
    model = nn.Sequential(q.QuantStub(), nn.Linear(4, 2), q.DeQuantStub())
    model.qconfig = q.default_qat_qconfig

    def train(prepared: Any, x: Any) -> None:
        prepared(x).sum().backward()

    quantized = q.quantize_qat(model, train, [normal(5, 4)])
    assert nn.quantized.Linear is type(quantized[1])


def test_fixed_parameters_in_training_mode_only() -> None:
    """Sigmoid and tanh get theirs from prepare in training mode, and none in eval mode."""
    model = nn.Sequential(nn.Sigmoid(), nn.Tanh())
    model.qconfig = q.default_qconfig
    prepared = q.prepare(model.train())
    kinds = [type(each.activation_post_process) for each in prepared]
    assert [q.FixedQParamsFakeQuantize] * 2 == kinds
    assert [] == observed_paths(q.prepare(model.eval()))


def test_wrapping_leaves() -> None:
    """Documented: add_quant_dequant wraps leaves that have a qconfig."""
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    model.qconfig = q.default_qconfig
    q.propagate_qconfig_(model)
    model[1][0].qconfig = None
    wrapped = q.add_quant_dequant(model)
    assert wrapped is model
    assert q.QuantWrapper is type(model[0])
    assert nn.ReLU is type(model[1][0])


def test_a_mapping_of_the_users() -> None:
    """convert(mapping=...) swaps what it lists, and passes the observed module."""

    class Marked(nn.Module):
        @classmethod
        def from_float(cls, mod: Any) -> Any:
            made = cls()
            made.scale = mod.activation_post_process.calculate_qparams()[0].item()
            return made

    model = nn.Sequential(nn.Linear(2, 2)).eval()
    model.qconfig = q.default_qconfig
    prepared = q.prepare(model)
    prepared(normal(4, 2))
    converted = q.convert(prepared, mapping={nn.Linear: Marked})
    assert isinstance(converted[0], Marked)


def test_custom_modules() -> None:
    """``float_to_observed`` in prepare, ``observed_to_quantized`` in convert."""

    class Float(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.linear(x)

    class Observed(Float):
        @classmethod
        def from_float(cls, mod: Any) -> Any:
            made = cls()
            made.linear = mod.linear
            return made

    class Quantized(nn.Module):
        @classmethod
        def from_observed(cls, mod: Any) -> Any:
            made = cls()
            made.range = mod.activation_post_process.max_val.item()
            return made

    model = nn.Sequential(Float()).eval()
    model.qconfig = q.default_qconfig
    mapping = {"float_to_observed_custom_module_class": {Float: Observed}}
    prepared = q.prepare(model, prepare_custom_config_dict=mapping)
    assert Observed is type(prepared[0])
    prepared(normal(4, 2))
    mapping = {"observed_to_quantized_custom_module_class": {Observed: Quantized}}
    converted = q.convert(prepared, convert_custom_config_dict=mapping)
    assert Quantized is type(converted[0])


@pytest.mark.parametrize("layer", [nn.Linear(2, 2), nn.LSTM(2, 2)])
def test_the_default_custom_dictionary(layer: nn.Module) -> None:
    """``get_default_custom_config_dict`` goes into both, as in torch, and changes nothing."""

    def convert(**custom: Any) -> tuple[str, str]:
        model = nn.ModuleList([layer]).eval()
        model.qconfig = q.default_qconfig
        given = {f"prepare_{name}": value for name, value in custom.items()}
        prepared = q.prepare(model, strict=True, **given)
        prepared[0](normal(1, 4, 2))
        given = {f"convert_{name}": value for name, value in custom.items()}
        return str(prepared), str(q.convert(prepared, strict=True, **given))

    assert convert() == convert(custom_config_dict=q.get_default_custom_config_dict())


def test_observer_state_travels(model: Model) -> None:
    """get_observer_state_dict and load_observer_state_dict, between equal models."""
    prepared = q.prepare(model)
    prepared(normal(9, 4))
    state = q.get_observer_state_dict(prepared)
    assert all("activation_post_process" in key for key in state)
    other = q.prepare(model)
    q.load_observer_state_dict(other, state)
    x = normal(3, 4, seed=2)
    assert q.convert(prepared)(x).tolist() == q.convert(other)(x).tolist()


def test_swap_module_takes_two_arguments() -> None:
    """The documented form: swap_module(mod, mapping)."""
    layer = nn.Linear(2, 2)
    assert layer is q.swap_module(layer, q.get_default_static_quant_module_mappings())


def test_reference_form() -> None:
    """is_reference=True gives float layers that carry the grid of their weight."""
    float_model = nn.Sequential(nn.Linear(3, 2), nn.LSTMCell(2, 2)).eval()
    float_model.qconfig = q.default_qconfig
    converted = q.convert(float_model_prepared := q.prepare(float_model), is_reference=True)
    reference = nn.quantized.reference
    assert [reference.Linear, reference.LSTMCell] == [type(each) for each in converted]
    observer = q.default_qconfig.weight()
    observer(float_model_prepared[0].weight)
    scale, _ = observer.calculate_qparams()
    assert scale.item() == converted[0].get_quantized_weight().q_scale()
    x = pyqref.ones(1, 3)
    expected = pyqref.nn.functional.linear(x, converted[0].get_weight(), float_model[0].bias)
    assert expected.tolist() == converted[0](x).tolist()


def test_prepared_twice_is_prepared_once(model: Model) -> None:
    """Fused groups, too: each output is observed once."""
    model = q.fuse_modules(model, ["first", "relu"])
    again = q.prepare(q.prepare(model))
    again(normal(3, 4))
    assert (1, 1) == (len(again.first._forward_hooks), len(again.second._forward_hooks))


def test_a_module_at_two_places_is_observed_once() -> None:
    shared = nn.intrinsic.LinearReLU(nn.Linear(2, 2), nn.ReLU())
    model = nn.Sequential(nn.Sequential(shared), nn.Sequential(shared))
    model.qconfig = q.default_qconfig
    prepared = q.prepare(model)
    assert prepared[0][0] is prepared[1][0]
    assert 1 == len(prepared[0][0]._forward_hooks)


def test_dynamic_parameters_observe_the_input() -> None:
    """A moving average of one tensor stands for quantization at run time."""
    model = nn.Sequential(nn.Linear(2, 3))
    model.qconfig = q.default_dynamic_qat_qconfig
    prepared = q.prepare(model)
    prepared(pyqref.tensor([[-1.0, 7.0]]))
    seen = prepared[0].activation_post_process.activation_post_process
    assert (-1.0, 7.0) == (seen.min_val.item(), seen.max_val.item())
