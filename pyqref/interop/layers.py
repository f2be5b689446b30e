"""Layers of ``torch`` and their twins here: the same class name, the same arguments.

A layer keeps the arguments of its constructor as attributes of the same names, here as in
``torch``. So the twin of a layer is made by reading the attributes that the constructor of
the class of that name asks for; the exceptions stand in :data:`SPECIAL`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from pyqref import nn
from pyqref.nn import functional as F
from pyqref.nn import intrinsic
from pyqref.nn.modules.linear import NonDynamicallyQuantizableLinear
from pyqref.nn.quantizable.modules.rnn import _LSTMLayer, _LSTMSingleLayer
from pyqref.nn.quantized import FloatFunctional, FXFloatFunctional
from pyqref.quantization import (
    DeQuantStub,
    QuantStub,
    QuantWrapper,
    _learnable_fake_quantize,
    fake_quantize,
    observer,
)

from .._typing import Module
from .arguments import arguments_of
from .arrays import to_value
from .quantized_layers import make_quantization_part

__all__ = ["base_layer", "layer_class", "make_layer", "torch_name"]

#: Packages of ``torch`` in which a class of the same name as one here is the same layer.
_NAMESPACES: dict[str, Any] = {
    "torch.nn.modules": nn,
    "torch.nn.parallel": nn,
    "torch.ao.nn.intrinsic.quantized.dynamic": intrinsic.quantized.dynamic,
    "torch.ao.nn.intrinsic.quantized": intrinsic.quantized,
    "torch.ao.nn.intrinsic.qat": intrinsic.qat,
    "torch.ao.nn.intrinsic.modules": intrinsic,
    "torch.nn.intrinsic.modules": intrinsic,
    "torch.ao.nn.qat.dynamic": nn.qat.dynamic,
    "torch.ao.nn.qat": nn.qat,
    "torch.ao.nn.quantizable": nn.quantizable,
    "torch.ao.nn.quantized.dynamic": nn.quantized.dynamic,
    "torch.ao.nn.quantized.reference": nn.quantized.reference,
    "torch.ao.nn.quantized": nn.quantized,
    "torch.ao.quantization.observer": observer,
    "torch.ao.quantization.fake_quantize": fake_quantize,
    "torch.ao.quantization._learnable_fake_quantize": _learnable_fake_quantize,
}
_BY_NAME = {
    "torch.nn.modules.module.Module": nn.Module,
    "torch.nn.modules.linear.NonDynamicallyQuantizableLinear": NonDynamicallyQuantizableLinear,
    "torch.ao.nn.quantizable.modules.rnn._LSTMLayer": _LSTMLayer,
    "torch.ao.nn.quantizable.modules.rnn._LSTMSingleLayer": _LSTMSingleLayer,
    "torch.ao.quantization.stubs.QuantStub": QuantStub,
    "torch.ao.quantization.stubs.DeQuantStub": DeQuantStub,
    "torch.ao.quantization.stubs.QuantWrapper": QuantWrapper,
    "torch.ao.nn.quantized.modules.functional_modules.FloatFunctional": FloatFunctional,
}
#: Containers are made empty; their children are set afterwards, under their own names.
_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
_FUNCTIONALS = (FloatFunctional, FXFloatFunctional)
#: What a subclass may define and still be the layer from which it inherits.
_HARMLESS = {
    *("__init__", "__repr__", "extra_repr", "__module__", "__doc__", "__annotations__"),
    *("__parameters__", "__constants__", "__firstlineno__", "__static_attributes__"),
}


def torch_name(cls: type) -> str:
    """Module and name of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"


def layer_class(cls: type) -> type | None:
    """The class here that is the twin of a layer class of ``torch``, or None."""
    name = torch_name(cls)
    if name in _BY_NAME:
        return _BY_NAME[name]
    for package, ours in _NAMESPACES.items():
        if cls.__module__.startswith(package):
            found = getattr(ours, cls.__name__, None)
            return found if inspect.isclass(found) and found is not nn.Module else None
    return None


def base_layer(cls: type) -> type:
    """The layer that a class is.

    That is the class itself, or the layer of ``torch`` from which it inherits all that it
    computes, as a user's subclass of ``Sequential`` with nothing but an ``__init__`` does.
    """
    own: set[str] = set()
    for base in cls.__mro__:
        if base.__module__.startswith("torch."):
            overridden = {name for name in own if hasattr(base, name)} - _HARMLESS
            return cls if overridden or layer_class(base) is None else base
        own |= set(vars(base))
    return cls


def make_layer(twin: type, source: Any, name: str, children: dict[str, Any]) -> Module:
    """A layer of class ``twin`` with the arguments of ``source``, its parameters not yet set.

    Parameters
    ----------
    twin
        A class of this package.
    source
        The layer of ``torch``.
    name
        Class name of ``source``.
    children
        The twins of its children.
    """
    layer: Any = make_quantization_part(twin, source, children)
    if layer is not None:
        pass
    elif twin in _CONTAINERS or twin in _FUNCTIONALS or twin is nn.Module:
        layer = twin()
    elif issubclass(twin, nn.Sequential):  # fused: its parts may be observed, or reference layers
        layer = twin.__new__(twin)
        nn.Module.__init__(layer)
    elif name in SPECIAL:
        layer = SPECIAL[name](twin, source, children)
    else:
        layer = twin(**_arguments(twin, source))
    for key, child in children.items():
        layer._modules[key] = child
    return layer


def _arguments(twin: type, source: Any, **known: Any) -> dict[str, Any]:
    """The arguments of the constructor of ``twin``."""
    return arguments_of(twin, source, known)


def _attention(twin: type, source: Any, children: Any) -> Any:
    return twin(
        **_arguments(
            twin,
            source,
            bias=source.in_proj_bias is not None,
            add_bias_kv=source.bias_k is not None,
        )
    )


def _encoder_layer(twin: type, source: Any, children: Any) -> Any:
    return twin(
        d_model=source.self_attn.embed_dim,
        nhead=source.self_attn.num_heads,
        dim_feedforward=source.linear1.out_features,
        dropout=source.dropout.p,
        activation=children.get("activation") or _activation(source.activation),
        layer_norm_eps=source.norm1.eps,
        batch_first=source.self_attn.batch_first,
        norm_first=source.norm_first,
        bias=source.linear1.bias is not None,
    )


def _activation(function: Any) -> Any:
    """The function here of the same name as one of ``torch``."""
    name = getattr(function, "__name__", repr(function))
    found = getattr(F, name, None)
    if found is None or not str(function.__module__ or "torch").startswith("torch"):
        raise TypeError(f"its activation {name} is not a function of torch.nn.functional")
    return found


SPECIAL: dict[str, Callable[[type, Any, Any], Any]] = {
    "MultiheadAttention": _attention,
    "ParameterDict": lambda twin, source, _: twin({k: to_value(v) for k, v in source.items()}),
    "ParameterList": lambda twin, source, _: twin([to_value(each) for each in source]),
    "PairwiseDistance": lambda twin, source, _: twin(source.norm, source.eps, source.keepdim),
    "DataParallel": lambda twin, _, children: twin(children["module"]),
    "QuantWrapper": lambda twin, _, children: twin(children["module"]),
    "TransformerEncoder": lambda twin, _, children: twin(
        children["layers"][0], len(children["layers"]), children.get("norm")
    ),
    "TransformerEncoderLayer": _encoder_layer,
    "TransformerDecoder": lambda twin, _, children: twin(
        children["layers"][0], len(children["layers"]), children.get("norm")
    ),
    "TransformerDecoderLayer": _encoder_layer,
    # It draws the weights of all its parts anew, so it gets them afterwards.
    "Transformer": lambda twin, source, _: twin(
        source.d_model,
        source.nhead,
        custom_encoder=nn.Identity(),
        custom_decoder=nn.Identity(),
        batch_first=source.batch_first,
    ),
}
