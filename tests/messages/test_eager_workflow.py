"""Following the messages of the eager workflow works."""

from __future__ import annotations

from typing import Any

from bad_input.engine import floats
from messages.following import says

import pyqref
from pyqref import nn
from pyqref import quantization as q

X = floats(4, 3)


def network(*more: Any) -> Any:
    """A model with stubs, in evaluation mode and without qconfig."""
    return q.QuantWrapper(nn.Sequential(nn.Linear(3, 2), *more)).eval()


def test_prepare_without_a_qconfig() -> None:
    """It stands at the model, or in a dictionary."""
    model = network()
    with says(
        "assign model.qconfig = get_default_qconfig('x86'), for example, or pass qconfig_dict"
    ):
        q.prepare(model)
    q.prepare(model, qconfig_dict={"": q.get_default_qconfig("x86")})
    model.qconfig = q.get_default_qconfig("x86")
    q.prepare(model)


def test_prepare_qat_in_evaluation_mode() -> None:
    """model.train() makes it ready; calibration needs no training."""
    model = network()
    model.qconfig = q.get_default_qat_qconfig("x86")
    with says("call model.train() first, or use prepare to calibrate without training"):
        q.prepare_qat(model)
    model.train()
    q.prepare_qat(model)
    model.eval().qconfig = q.get_default_qconfig("x86")
    q.prepare(model)(X)


def test_entries_that_match_nothing() -> None:
    """Corrected or left out they say nothing."""
    model, qconfig = network(), q.default_qconfig
    with says("correct the key or leave it out"):
        q.prepare(model, {"": qconfig, "modul.0": None})
    q.prepare(model, {"": qconfig, "module.0": None})
    q.prepare(model, {"": qconfig})
    for key, right in (("non_traceable_module_name", "module.0"),):
        with says("correct it or leave it out"):
            q.propagate_qconfig_(model, {"": qconfig}, {key: ["modul.0"]})
        q.propagate_qconfig_(model, {"": qconfig}, {key: [right]})
    with says("leave it out"):
        q.propagate_qconfig_(model, {"": qconfig}, {"non_traceable_module_class": [nn.GRU]})
    q.propagate_qconfig_(model, {"": qconfig})
    custom = {"float_to_observed_custom_module_class": {nn.GRU: nn.quantizable.LSTM}}
    model.qconfig = qconfig
    with says("leave it out"):
        q.prepare(model, prepare_custom_config_dict=custom)
    q.prepare(model)


def test_a_mapping_that_is_not_used() -> None:
    """The module is given a qconfig, or the entry is left out."""

    class Mine(nn.quantized.Linear):
        """A quantized layer of the user's own."""

    mapping = {**q.get_default_static_quant_module_mappings(), nn.Linear: Mine}
    model = network(nn.ReLU())

    def convert(mapping: Any, **qconfigs: Any) -> Any:
        prepared = q.prepare(model, {"module.1": q.default_qconfig, **qconfigs})
        prepared(X)
        return q.convert(prepared, mapping=mapping)

    with says("give it a qconfig", "leave the entry out"):
        convert(mapping)
    assert Mine is type(convert(mapping, **{"module.0": q.default_qconfig}).module[0])
    convert(q.get_default_static_quant_module_mappings())


def test_transposed_convolutions() -> None:
    """A qconfig with default_weight_observer is one they take."""
    model = nn.Sequential(nn.ConvTranspose2d(2, 2, 1)).eval()
    with says("set its qconfig to one with default_weight_observer, or to None"):
        q.prepare(model, {"": q.default_per_channel_qconfig})
    good = q.QConfig(activation=q.default_observer, weight=q.default_weight_observer)
    q.prepare(model, {"": good})
    q.prepare(nn.Sequential(*model, nn.ReLU()), {"": q.default_per_channel_qconfig, "0": None})


def test_converting_without_calibration() -> None:
    """Data, or no qconfig."""
    model = network(nn.Linear(2, 2))
    model.qconfig = q.default_qconfig
    with says(
        "run the prepared model on calibration data first, or set the qconfig of these modules "
        "to None"
    ):
        q.convert(q.prepare(model))
    prepared = q.prepare(model)
    prepared(X)
    q.convert(prepared)
    model.qconfig = None
    for each in model.modules():
        each.qconfig = None
    model.module[0].qconfig = q.default_qconfig
    prepared = q.prepare(model)
    prepared.module[0](X)
    q.convert(prepared)


def test_a_model_that_is_a_layer_alone() -> None:
    """QuantWrapper and Sequential make a submodule of it."""
    layer = nn.Linear(3, 2).eval()
    layer.qconfig = q.default_qconfig
    prepared = q.prepare(layer)
    prepared(X)
    with says("put it into QuantWrapper or nn.Sequential"):
        q.convert(prepared)
    for wrapper in (q.QuantWrapper, nn.Sequential):
        prepared = q.prepare(wrapper(layer).eval())
        prepared(X)
        assert nn.quantized.Linear in {type(each) for each in q.convert(prepared).modules()}


def test_constant_channels() -> None:
    """Another observer, no qconfig, and torch's own convention."""
    layer = nn.Linear(1, 2).eval()
    layer.weight.data.copy_(pyqref.tensor([[0.3], [0.4]]))
    model, x = q.QuantWrapper(nn.Sequential(layer)).eval(), floats(4, 1)

    def convert(qconfig: Any, **entries: Any) -> Any:
        prepared = q.prepare(model, {"": qconfig, **entries})
        prepared(x)
        return q.convert(prepared)

    with says(
        "choose an observer that is not per channel",
        "set the qconfig of this module to None, "
        "or pyqref.backends.quantized.conventions = 'torch'",
    ):
        convert(q.default_per_channel_qconfig)
    convert(q.default_qconfig)
    convert(q.default_per_channel_qconfig, **{"module.0": None})
    pyqref.backends.quantized.conventions = "torch"
    convert(q.default_per_channel_qconfig)


def test_coverage_tells_of_a_missing_stub() -> None:
    """QuantStub and QuantWrapper are what it asks for; prepare and convert have a counterpart."""
    bare = nn.Sequential(nn.Linear(3, 2)).eval()
    bare.qconfig = q.default_qconfig
    with says("use QuantStub or QuantWrapper") as told:
        told(q.coverage(q.prepare(bare)))
    assert "use QuantStub" not in str(q.coverage(q.prepare(nn.Sequential(q.QuantStub(), bare))))
    assert "use QuantStub" not in str(q.coverage(q.prepare(q.QuantWrapper(bare))))


def test_arguments() -> None:
    """Instances, lists and dictionaries in the form that the messages show."""
    with says("call it: {}()"):
        q.prepare(nn.Sequential)
    model = network()
    model.qconfig = q.default_qconfig
    q.prepare(model)
    pattern = q.backend_config.BackendPatternConfig(nn.ReLU)
    with says("give its class, {}") as told:
        pattern.set_root_module(nn.ReLU())
    pattern.set_root_module(getattr(nn, told.text.rpartition(" ")[2]))
    with says("pass qconfig_spec as a dictionary with qconfigs"):
        q.quantize_dynamic(model, dtype=pyqref.qint32)
    q.quantize_dynamic(model, qconfig_spec={nn.Linear: q.float16_dynamic_qconfig})
    for wrong in (nn.Linear, "module.0"):
        with says("write {}") as told:
            q.quantize_dynamic(model, wrong)
        q.quantize_dynamic(model, eval(told.text.rpartition("write ")[2], {"nn": nn}))
    with says("to quantize the whole model write {'': qconfig}"):
        q.propagate_qconfig_(model, q.default_qconfig)
    q.propagate_qconfig_(model, {"": q.default_qconfig})

    def calibrate(model: Any, data: Any) -> None:
        model(data)

    with says("write [data]"):
        q.quantize(model, calibrate, X)
    q.quantize(model, calibrate, [X])


def test_fusing_in_the_wrong_mode() -> None:
    """eval() or train(), or the function for training."""

    def conv_bn() -> Any:
        return nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2))

    names = ["0", "1"]
    with says(
        "call model.eval() first, or fuse_modules_qat to keep the batch norm for "
        "quantization-aware training"
    ):
        q.fuse_modules(conv_bn(), names)
    q.fuse_modules(conv_bn().eval(), names)
    assert nn.intrinsic.ConvBn2d is type(q.fuse_modules_qat(conv_bn(), names)[0])
    mixed = conv_bn()
    mixed[0].eval()
    with says("call model.train() or model.eval()"):
        q.fuse_modules(mixed, names)
    q.fuse_modules(mixed.eval(), names)
    q.fuse_modules_qat(mixed.train(), names)
    transposed = nn.Sequential(nn.ConvTranspose2d(1, 2, 1), nn.BatchNorm2d(2))
    with says("call model.eval() first"):
        q.fuse_modules_qat(transposed, names)
    q.fuse_modules(transposed.eval(), names)
