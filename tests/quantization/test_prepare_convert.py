"""From a float model to a quantized one: qconfigs, observers, conversion."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization.diagnostics import NoMatchWarning
from pyqref.quantization.observer import UncalibratedWarning


def normal(*shape: int, seed: int = 0) -> pyqref.Tensor:
    return pyqref.from_numpy(np.random.default_rng(seed).standard_normal(shape, np.float32))


class Model(nn.Module):
    """Stubs, fused layers, a sum, and a part without quantization."""

    def __init__(self) -> None:
        super().__init__()
        pyqref.manual_seed(0)
        self.quant = q.QuantStub()
        self.first = nn.Linear(4, 4)
        self.relu = nn.ReLU()
        self.second = nn.Linear(4, 4)
        self.sum = nn.quantized.FloatFunctional()
        self.dequant = q.DeQuantStub()
        self.last = nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        x = self.relu(self.first(self.quant(x)))
        return self.last(self.dequant(self.sum.add(x, self.second(x))))


@pytest.fixture
def model() -> Model:
    made = Model().eval()
    made.qconfig = q.default_qconfig
    made.last.qconfig = None
    return made


def observed_paths(model: Any) -> list[str]:
    found: dict[str, Any] = {}
    q.get_observer_dict(model, found)
    return [path.removesuffix(".activation_post_process") for path in found]


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


@pytest.mark.parametrize(
    ("key", "match"),
    [
        ("frist", "the name 'frist' fits no submodule; did you mean 'first'"),
        (nn.Conv2d, "the type pyqref.nn.modules.conv.Conv2d fits no submodule"),
    ],
)
def test_a_key_that_fits_nothing_is_reported(model: Model, key: Any, match: str) -> None:
    with pytest.warns(NoMatchWarning, match=match):
        q.prepare(model, {key: q.default_qconfig})


def test_a_key_of_another_kind_is_refused(model: Model) -> None:
    with pytest.raises(TypeError, match="name of a submodule or a module type, got 3"):
        q.prepare(model, {3: q.default_qconfig})
    with pytest.raises(TypeError, match="form of graph mode"):
        q.prepare(model, {"object_type": [(nn.Linear, q.default_qconfig)]})


def test_prepare_without_any_qconfig_is_reported() -> None:
    with pytest.warns(UserWarning, match="no module got a qconfig"):
        q.prepare(nn.Sequential(nn.Linear(1, 1)))


def test_convert_without_calibration_is_reported(model: Model) -> None:
    """One warning with the paths of all observers that never ran."""
    prepared = q.prepare(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        q.convert(prepared)
    (warning,) = caught
    assert UncalibratedWarning is warning.category
    for path in ("quant", "first", "second", "sum"):
        assert f"{path}.activation_post_process" in str(warning.message)
    assert "last" not in str(warning.message)


def test_convert_names_only_the_observers_that_never_ran(model: Model) -> None:
    prepared = q.prepare(model)
    prepared.quant(normal(5, 4))
    with pytest.warns(UncalibratedWarning) as caught:
        q.convert(prepared)
    assert "quant." not in str(caught[0].message)
    assert "first." in str(caught[0].message)


def test_calibration_with_empty_batches_only_is_reported(model: Model) -> None:
    prepared = q.prepare(model)
    prepared(pyqref.zeros(0, 4))
    with pytest.warns(UncalibratedWarning, match=r"quant.activation_post_process"):
        q.convert(prepared)


def test_nan_in_calibration_names_the_module(model: Model) -> None:
    prepared = q.prepare(model)
    with pytest.raises(ValueError, match=r"MinMaxObserver at 'quant.activation_post_process'"):
        prepared(pyqref.full((1, 4), np.nan))


def test_a_leaf_alone_is_reported() -> None:
    """Only submodules are swapped."""
    layer = nn.Linear(2, 2).eval()
    layer.qconfig = q.default_qconfig
    prepared = q.prepare(layer)
    prepared(normal(3, 2))
    with pytest.warns(UserWarning, match="a Linear alone: put it into QuantWrapper"):
        assert nn.Linear is type(q.convert(prepared))


def test_a_float_functional_used_twice_is_reported(model: Model) -> None:
    """Its observer would mix two tensors; two passes are no reuse."""

    class Twice(Model):
        def forward(self, x: Any) -> Any:
            x = self.quant(x)
            return self.dequant(self.sum.add(self.sum.add(x, x), x))

    twice = Twice().eval()
    twice.qconfig = q.default_qconfig
    prepared = q.prepare(twice)
    with pytest.warns(UserWarning, match=r"sum .FloatFunctional. is used more than once"):
        prepared(normal(3, 4))
    once = q.prepare(model)
    once(normal(3, 4))
    once(normal(3, 4))


def test_a_quantized_layer_given_floats_names_itself(model: Model) -> None:
    prepared = q.prepare(model)
    prepared(normal(5, 4))
    quantized = q.convert(prepared)
    quantized.quant = nn.Identity()
    with pytest.raises(RuntimeError, match=r"first \(QuantizedLinear\).*QuantStub is missing"):
        quantized(normal(5, 4))


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


def test_prepare_qat_needs_training_mode(model: Model) -> None:
    with pytest.raises(ValueError, match=r"training mode: call model\.train\(\)"):
        q.prepare_qat(model)


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


def test_transposed_convolution_per_channel_is_refused() -> None:
    model = nn.Sequential(nn.ConvTranspose2d(1, 1, 1))
    model.qconfig = q.get_default_qconfig("fbgemm")
    with pytest.raises(ValueError, match=r"0 \(ConvTranspose2d\): weights per channel"):
        q.prepare(model)


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


def test_observer_state_that_does_not_fit(model: Model) -> None:
    prepared = q.prepare(model)
    state = dict(q.get_observer_state_dict(prepared))
    state["nowhere.activation_post_process.min_val"] = state.pop(
        "quant.activation_post_process.min_val"
    )
    with pytest.raises(RuntimeError, match=r"missing keys.*quant.*unexpected keys.*nowhere"):
        q.load_observer_state_dict(prepared, state)


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
    """A moving average that remembers one tensor stands for what is quantized at run time."""
    model = nn.Sequential(nn.Linear(2, 3))
    model.qconfig = q.default_dynamic_qat_qconfig
    prepared = q.prepare(model)
    prepared(pyqref.tensor([[-1.0, 7.0]]))
    seen = prepared[0].activation_post_process.activation_post_process
    assert (-1.0, 7.0) == (seen.min_val.item(), seen.max_val.item())


@pytest.mark.parametrize(
    "call",
    [
        lambda: q.prepare(nn.Linear, {}),
        lambda: q.prepare_qat(nn.Linear),
        lambda: q.convert(nn.Linear),
        lambda: q.quantize(nn.Linear, q.default_eval_fn, []),
        lambda: q.quantize_qat(nn.Linear, q.default_eval_fn, []),
        lambda: q.quantize_dynamic(nn.Linear),
        lambda: q.fuse_modules(nn.Linear, ["0"]),
    ],
)
def test_what_is_no_module_is_refused(call: Any) -> None:
    with pytest.raises(TypeError, match=r"must be a Module, got.*call it: Linear\(\)"):
        call()


def test_unknown_custom_settings_are_refused(model: Model) -> None:
    """They would have no effect."""
    with pytest.raises(ValueError, match=r"prepare_custom_config_dict: keys.*got \['typo'\]"):
        q.prepare(model, prepare_custom_config_dict={"typo": 1})
    with pytest.raises(ValueError, match=r"convert_custom_config_dict: keys.*got \['typo'\]"):
        q.convert(model, convert_custom_config_dict={"typo": 1})
    with pytest.raises(ValueError, match=r"fuse_custom_config_dict: keys.*got \['typo'\]"):
        q.fuse_modules(model, ["first", "relu"], fuse_custom_config_dict={"typo": 1})


def test_a_layer_that_cannot_be_converted_is_named(model: Model) -> None:
    """A qconfig without ranges, for static quantization."""
    model.second.qconfig = q.default_dynamic_qconfig
    prepared = q.prepare(model)
    prepared(normal(5, 4))
    with pytest.raises(RuntimeError, match=r"convert: second \(Linear\).*PlaceholderObserver"):
        q.convert(prepared)
