"""Every class and function of eager quantization has the parameters of torch 2.13, and of 1.4."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import warnings
from fnmatch import fnmatch
from typing import Any

import pytest
from parity.signatures import PACKAGES, RECORDED, parameters, table

import pyqref

TORCH: dict[str, str] = json.loads(RECORDED.read_text(encoding="utf-8"))

#: What 2.13 has in these packages and pyqref does not offer, and why.
LEFT_OUT = {
    "*_jit": "TorchScript",
    "*.script_qconfig*": "TorchScript",
    "*_sparse_*": "sparse kernels",
    "*.AffineQuantizedObserverBase*": "the observers of torchao",
    "*.Granularity": "torchao",
    "*.MappingType": "torchao",
    "*.Per[ABGRT]*": "torchao",
    "*.TorchAODType": "torchao",
    "*.ZeroPointDomain": "torchao",
    "*.get_block_size": "torchao",
    "*.get_fuser_method_new": "graph mode, internal",
    "*.MatchAllNode": "graph mode, internal",
    "*.check_node": "graph mode, internal",
}

#: An enumeration, whose parameters are those of Python's ``Enum``, by version.
OF_PYTHON = {"*.QuantType": "values that have names"}

#: Where the parameters of 1.4 stand before, or between, those of 2.13; both are taken.
BOTH_FORMS = {
    "ao.quantization.prepare": "qconfig_dict is second in 1.4; a bool there is inplace",
    "ao.quantization.HistogramObserver": "upsample_rate is the second in 1.4",
    "*qat.*.from_float": "qconfig is the second in 1.4",
}


def ours(path: str) -> Any:
    package = max((each for each in PACKAGES if path.startswith(f"{each}.")), key=len)
    found = importlib.import_module(f"pyqref.{package}")
    for name in path[len(package) + 1 :].split("."):
        found = getattr(found, name)
    return found


def listed(path: str, patterns: dict[str, str]) -> bool:
    return any(fnmatch(path, pattern) for pattern in patterns)


@pytest.mark.parametrize("path", [path for path in TORCH if not listed(path, LEFT_OUT | OF_PYTHON)])
def test_parameters_of_2_13(path: str) -> None:
    """Parameters have torch's names in torch's places; more may follow."""
    theirs = [each for each in TORCH[path].split(", ") if each]
    mine = (parameters(ours(path)) or "").split(", ")
    named = [each for each in theirs if not each.startswith("*")]
    if path.endswith(".from_reference"):  # its first argument is always given by place
        theirs, mine = theirs[1:], mine[1:]
    if fnmatch(path, "*.quantized.dynamic.Conv*d"):
        # Handed on to the layer that is quantized ahead of time; the last has no effect.
        mine = (parameters(ours(path.replace(".dynamic", ""))) or "").split(", ")
        theirs = [each for each in theirs if each != "reduce_range"]
    if listed(path, BOTH_FORMS) or len(named) < len(theirs):
        assert [] == [each for each in named if each not in mine]
    else:
        assert theirs == mine[: len(theirs)]


def test_the_record_is_that_of_torch() -> None:
    """The table on file is the installed torch's."""
    pytest.importorskip("torch", minversion="2.13", reason="the extra 'parity' has torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert TORCH == table("torch")


#: As the pages of 1.4 print them, by what stands before ``torch.`` there.
DOCUMENTED = """
quantization.quantize(model, run_fn, run_args, mapping=None, inplace=False)
quantization.quantize_dynamic(model, qconfig_spec=None, dtype=torch.qint8, mapping=None, \
inplace=False)
quantization.quantize_qat(model, run_fn, run_args, inplace=False)
quantization.prepare(model, qconfig_dict=None, inplace=False)
quantization.prepare_qat(model, mapping=None, inplace=False)
quantization.convert(module, mapping=None, inplace=False)
quantization.fuse_modules(model, modules_to_fuse, inplace=False, fuser_func=None)
quantization.QuantStub(qconfig=None)
quantization.DeQuantStub()
quantization.QuantWrapper(module)
quantization.add_quant_dequant(module)
quantization.add_observer_(module)
quantization.swap_module(mod, mapping)
quantization.propagate_qconfig_(module, qconfig_dict=None)
quantization.default_eval_fn(model, calib_data)
quantization.MinMaxObserver(dtype=torch.quint8, qscheme=torch.per_tensor_affine, \
reduce_range=False)
quantization.MovingAverageMinMaxObserver(averaging_constant=0.01, dtype=torch.quint8, \
qscheme=torch.per_tensor_affine, reduce_range=False)
quantization.PerChannelMinMaxObserver(ch_axis=0, dtype=torch.quint8, \
qscheme=torch.per_channel_affine, reduce_range=False)
quantization.MovingAveragePerChannelMinMaxObserver(averaging_constant=0.01, ch_axis=0, \
dtype=torch.quint8, qscheme=torch.per_channel_affine, reduce_range=False)
quantization.HistogramObserver(bins=2048, upsample_rate=16, dtype=torch.quint8, \
qscheme=torch.per_tensor_affine, reduce_range=False)
quantization.FakeQuantize(observer=None, quant_min=None, quant_max=None)
quantization.NoopObserver(dtype=torch.float16)
quantization.get_observer_dict(mod, target_dict, prefix='')
nn.intrinsic.ConvBn2d(conv, bn)
nn.intrinsic.ConvBnReLU2d(conv, bn, relu)
nn.intrinsic.ConvReLU2d(conv, relu)
nn.intrinsic.ConvReLU3d(conv, relu)
nn.intrinsic.LinearReLU(linear, relu)
nn.intrinsic.qat.ConvReLU2d(in_channels, out_channels, kernel_size, stride=1, padding=0, \
dilation=1, groups=1, bias=True, padding_mode='zeros', qconfig=None)
nn.intrinsic.qat.LinearReLU(in_features, out_features, bias=True, qconfig=None)
nn.intrinsic.quantized.ConvReLU2d(in_channels, out_channels, kernel_size, stride=1, padding=0, \
dilation=1, groups=1, bias=True, padding_mode='zeros')
nn.intrinsic.quantized.ConvReLU3d(in_channels, out_channels, kernel_size, stride=1, padding=0, \
dilation=1, groups=1, bias=True, padding_mode='zeros')
nn.intrinsic.quantized.LinearReLU(in_features, out_features, bias=True)
nn.qat.Conv2d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, \
bias=True, padding_mode='zeros', qconfig=None)
nn.qat.Linear(in_features, out_features, bias=True, qconfig=None)
nn.quantized.functional.relu(input, inplace=False)
nn.quantized.functional.linear(input, weight, bias=None, scale=None, zero_point=None)
nn.quantized.functional.conv2d(input, weight, bias, stride=1, padding=0, dilation=1, groups=1, \
padding_mode='zeros', scale=1.0, zero_point=0, dtype=torch.quint8)
nn.quantized.functional.conv3d(input, weight, bias, stride=1, padding=0, dilation=1, groups=1, \
padding_mode='zeros', scale=1.0, zero_point=0, dtype=torch.quint8)
nn.quantized.functional.max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, \
ceil_mode=False, return_indices=False)
nn.quantized.functional.adaptive_avg_pool2d(input, output_size)
nn.quantized.functional.avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, \
count_include_pad=True, divisor_override=None)
nn.quantized.functional.interpolate(input, size=None, scale_factor=None, mode='nearest', \
align_corners=None)
nn.quantized.functional.upsample(input, size=None, scale_factor=None, mode='nearest', \
align_corners=None)
nn.quantized.functional.upsample_bilinear(input, size=None, scale_factor=None)
nn.quantized.functional.upsample_nearest(input, size=None, scale_factor=None)
nn.quantized.ReLU(inplace=False)
nn.quantized.ReLU6(inplace=False)
nn.quantized.Conv2d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, \
groups=1, bias=True, padding_mode='zeros')
nn.quantized.Conv3d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, \
groups=1, bias=True, padding_mode='zeros')
nn.quantized.Quantize(scale, zero_point, dtype)
nn.quantized.DeQuantize()
nn.quantized.Linear(in_features, out_features, bias_=True)
nn.quantized.dynamic.Linear(in_features, out_features, bias_=True)
"""
#: A default that 2.13 says in another way: None stands for the dtype's range, or the usual one.
OTHER_DEFAULT = {"fuser_func", "observer"}


@pytest.mark.parametrize("text", DOCUMENTED.strip().splitlines())
def test_parameters_of_1_4(text: str) -> None:
    """The names, places and defaults that the documentation prints."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    found: Any = pyqref
    for name in ast.unparse(call.func).split("."):
        found = getattr(found, name)
    mine = list(inspect.signature(found).parameters.values())
    names = [ast.unparse(each) for each in call.args]
    names += [str(each.arg) for each in call.keywords]
    assert names == [each.name for each in mine][: len(names)]
    given = {each.name: each.default for each in mine}
    for keyword in call.keywords:
        default = eval(ast.unparse(keyword.value), {"torch": pyqref})
        if keyword.arg not in OTHER_DEFAULT:
            assert default == given[str(keyword.arg)], keyword.arg


def test_conv_bn_takes_the_arguments_of_1_4_by_name() -> None:
    """2.13 has ``bias`` where the pages have ``padding_mode``: by keyword both are meant."""
    documented = (
        "in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, "
        "eps, momentum, freeze_bn, qconfig"
    )
    for name in ("ConvBn2d", "ConvBnReLU2d"):
        mine = (parameters(getattr(pyqref.nn.intrinsic.qat, name)) or "").split(", ")
        assert [] == [each for each in documented.split(", ") if each not in mine]
