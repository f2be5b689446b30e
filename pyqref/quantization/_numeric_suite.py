"""Compare a float model with its quantized one: weights, outputs, and each module by itself.

The names of ``torch.ao.ns._numeric_suite``. :mod:`pyqref.measure` answers the same questions for
models of graph mode too, with errors in decibels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyqref._typing import Tensor
from pyqref.nn import Module, Sequential
from pyqref.nn import quantized as nnq
from pyqref.tape import no_grad

from .quantization_mappings import get_default_compare_output_module_list
from .stubs import DeQuantStub

__all__ = [
    "Logger",
    "OutputLogger",
    "Shadow",
    "ShadowLogger",
    "compare_model_outputs",
    "compare_model_stub",
    "compare_weights",
    "get_logger_dict",
    "get_matching_activations",
    "prepare_model_outputs",
    "prepare_model_with_stubs",
]

_PACKED = ("_packed_params", "_packed_params")


def compare_weights(
    float_dict: dict[str, Any], quantized_dict: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Pairs of a float weight and its quantized one.

    Parameters
    ----------
    float_dict, quantized_dict
        State dicts of the two models.

    Returns
    -------
    dict
        For each key of a quantized weight, ``{"float": ..., "quantized": ...}``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(2, 3))
    >>> quantized = pyqref.quantization.quantize_dynamic(model)
    >>> pairs = compare_weights(model.state_dict(), quantized.state_dict())
    >>> [(key, pair["quantized"].dtype) for key, pair in pairs.items()]
    [('0._packed_params._packed_params', pyqref.qint8)]
    """
    pairs = {}
    for key, value in quantized_dict.items():
        parts = tuple(key.split("."))
        packed = parts[-2:] == _PACKED
        if not packed and parts[-1] != "weight":
            continue
        path = parts[:-2] if packed else parts[:-1]
        # A fused module, such as a convolution with ReLU, has the weight in its first part.
        for name in (".".join((*path, "weight")), ".".join((*path, "0", "weight"))):
            if name in float_dict:
                weight = value[0] if isinstance(value, tuple) else value
                pairs[key] = {"float": float_dict[name], "quantized": weight}
                break
    return pairs


class Logger(Module):
    """Remembers what goes through it, in ``stats``; subclasses say what."""

    def __init__(self) -> None:
        super().__init__()
        self.stats: dict[str, Any] = {}
        self.dtype = None

    def forward(self, x: Any) -> Tensor | None:
        """The input; a subclass remembers something of it."""
        return x


class OutputLogger(Logger):
    """Remembers every tensor in ``stats["tensor_val"]``.

    Examples
    --------
    >>> logger = OutputLogger()
    >>> import pyqref
    >>> logger(pyqref.ones(1)).tolist(), len(logger.stats["tensor_val"])
    ([1.0], 1)
    """

    def __init__(self) -> None:
        super().__init__()
        self.stats["tensor_val"] = []

    def forward(self, x: Tensor) -> Tensor:
        """The input."""
        self.stats["tensor_val"].append(_detached(x))
        return x


class ShadowLogger(Logger):
    """Remembers pairs of outputs in ``stats["float"]`` and ``stats["quantized"]``."""

    def __init__(self) -> None:
        super().__init__()
        self.stats["float"] = []
        self.stats["quantized"] = []

    def forward(self, x: Tensor, y: Tensor | None = None) -> None:
        """Record a quantized and a float output, of tuples the first element; return nothing."""
        if y is None:
            return
        self.stats["quantized"].append(_detached(_first(x)))
        self.stats["float"].append(_detached(_first(y)))
        return


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, tuple | list) else value


def _detached(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(_detached, value))
    return value.detach() if hasattr(value, "detach") else value


class Shadow(Module):
    """A quantized module, with its float one behind it on the same input.

    Parameters
    ----------
    q_module, float_module
        The two.
    logger_cls
        A class such as :class:`ShadowLogger`, for both outputs.
    """

    def __init__(
        self, q_module: Module, float_module: Module, logger_cls: Callable[[], Any]
    ) -> None:
        super().__init__()
        self.orig_module = q_module
        self.shadow_module = float_module
        self.dequant = nnq.DeQuantize()
        self.logger = logger_cls()

    def forward(self, *x: Tensor) -> Tensor:
        """Return the output of the quantized module; the float one gets the dequantized input."""
        return self._log(lambda module, inputs: module(*inputs), x)

    def _log(self, call: Callable[[Any, Any], Any], x: tuple[Any, ...]) -> Any:
        output = call(self.orig_module, x)
        with no_grad():
            self.logger(output, call(self.shadow_module, tuple(map(_dequantized, x))))
        return output

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Shadow ``add`` of a ``QFunctional``, like :meth:`forward`."""
        return self._log(lambda module, inputs: module.add(*inputs), (x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """Shadow ``add_scalar``, like :meth:`forward`."""
        return self._log(lambda module, inputs: module.add_scalar(*inputs), (x, y))

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """Shadow ``mul``, like :meth:`forward`."""
        return self._log(lambda module, inputs: module.mul(*inputs), (x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """Shadow ``mul_scalar``, like :meth:`forward`."""
        return self._log(lambda module, inputs: module.mul_scalar(*inputs), (x, y))

    def cat(self, x: Tensor, dim: int = 0) -> Tensor:
        """Shadow ``cat``, like :meth:`forward`."""
        return self._log(lambda module, inputs: module.cat(list(inputs), dim), tuple(x))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """Shadow ``add_relu``, like :meth:`forward`."""
        return self._log(lambda module, inputs: module.add_relu(*inputs), (x, y))


def _dequantized(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(_dequantized, value))
    return value.dequantize() if getattr(value, "is_quantized", False) else value


def get_logger_dict(mod: Module, prefix: str = "") -> dict[str, dict[str, Any]]:
    """Return the records of the loggers of a model, by ``"path.stats"``.

    Parameters
    ----------
    mod
        A model after :func:`prepare_model_outputs` or :func:`prepare_model_with_stubs`.
    prefix
        Put before every path.
    """
    found = {}
    for name, module in mod.named_modules(prefix=prefix.rstrip(".")):
        for child in ("activation_post_process", "logger"):
            logger = getattr(module, child, None)
            if isinstance(logger, Logger):
                found[f"{name}.stats" if name else "stats"] = logger.stats
    return found


def prepare_model_with_stubs(
    float_module: Module,
    q_module: Module,
    module_swap_list: Iterable[type],
    logger_cls: Callable[[], Any],
) -> None:
    """Put a :class:`Shadow` in place of quantized modules, with their float ones.

    Parameters
    ----------
    float_module, q_module
        The two models; ``q_module`` is changed.
    module_swap_list
        Classes of the float modules that are to be compared.
    logger_cls
        See :class:`Shadow`.
    """
    wanted = tuple(module_swap_list)
    originals = dict(float_module.named_children())
    for name, module in list(q_module.named_children()):
        original = originals.get(name)
        if original is None:
            continue
        if type(original) in wanted and any(_differs(original, module)):
            q_module._modules[name] = Shadow(module, original, logger_cls)
        else:
            prepare_model_with_stubs(original, module, wanted, logger_cls)


def _differs(original: Any, module: Any) -> Iterable[bool]:
    """Yield for each module below whether it was converted."""
    originals = dict(original.named_modules())
    for name, each in module.named_modules():
        yield type(originals.get(name)) is not type(each)


def compare_model_stub(
    float_model: Module,
    q_model: Module,
    module_swap_list: Iterable[type],
    *data: Tensor,
    logger_cls: Callable[[], Any] = ShadowLogger,
) -> dict[str, dict[str, Any]]:
    """Outputs of quantized modules beside those of their float ones on the same inputs.

    Parameters
    ----------
    float_model, q_model
        The two models; ``q_model`` is changed as by :func:`prepare_model_with_stubs`.
    module_swap_list
        Classes of the float modules that are to be compared.
    *data
        Inputs of the model.
    logger_cls
        See :class:`Shadow`.

    Returns
    -------
    dict
        For each ``"path.stats"``, ``{"float": [...], "quantized": [...]}``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(2, 3)).eval()
    >>> quantized = pyqref.quantization.quantize_dynamic(model)
    >>> found = compare_model_stub(model, quantized, {pyqref.nn.Linear}, pyqref.ones(1, 2))
    >>> {key: [each.shape for each in pair["float"]] for key, pair in found.items()}
    {'0.stats': [pyqref.Size([1, 3])]}
    """
    prepare_model_with_stubs(float_model, q_model, module_swap_list, logger_cls)
    q_model(*data)
    return get_logger_dict(q_model)


def prepare_model_outputs(
    float_module: Module,
    q_module: Module,
    logger_cls: Callable[[], Any] = OutputLogger,
    allow_list: Iterable[type] | None = None,
) -> None:
    """Let modules of both models remember their outputs.

    Parameters
    ----------
    float_module, q_module
        The two models; both are changed.
    logger_cls
        A class such as :class:`OutputLogger`.
    allow_list
        Classes of the modules;
        :func:`~pyqref.quantization.get_default_compare_output_module_list` by default.
    """
    given = get_default_compare_output_module_list() if allow_list is None else allow_list
    wanted = tuple(set(given) - {DeQuantStub, Sequential})
    for model in (float_module, q_module):
        for module in list(model.modules()):
            if type(module) in wanted and not isinstance(module, Logger):
                _attach(module, logger_cls())


def _attach(module: Any, logger: Any) -> None:
    calls_it = "activation_post_process" in module._modules
    if isinstance(module, Sequential):
        # As a part it would be called like the others.
        module.__dict__["activation_post_process"] = logger
    else:
        module.activation_post_process = logger
    if not calls_it:
        module.register_forward_hook(lambda _module, _inputs, output: logger(output))


def get_matching_activations(float_module: Module, q_module: Module) -> dict[str, dict[str, Any]]:
    """Outputs that two prepared models remember, side by side.

    Parameters
    ----------
    float_module, q_module
        Models after :func:`prepare_model_outputs` and a call.

    Returns
    -------
    dict
        For each ``"path.stats"`` of both, ``{"float": [...], "quantized": [...]}``. Loggers of
        one's own that remember nothing as ``stats["tensor_val"]`` have no entry.
    """
    floats, found = get_logger_dict(float_module), {}
    for key, stats in get_logger_dict(q_module).items():
        values, of_float = stats.get("tensor_val"), floats.get(key, {}).get("tensor_val")
        if values and of_float:
            found[key] = {"float": of_float, "quantized": values}
    return found


def compare_model_outputs(
    float_model: Module,
    q_model: Module,
    *data: Tensor,
    logger_cls: Callable[[], Any] = OutputLogger,
    allow_list: Iterable[type] | None = None,
) -> dict[str, dict[str, Any]]:
    """Outputs of the modules of two models for the same input of the whole.

    Parameters
    ----------
    float_model, q_model
        The two models; both are changed as by :func:`prepare_model_outputs`.
    *data
        Inputs of the models.
    logger_cls, allow_list
        See :func:`prepare_model_outputs`.

    Returns
    -------
    dict
        For each ``"path.stats"``, ``{"float": [...], "quantized": [...]}``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(2, 3)).eval()
    >>> quantized = pyqref.quantization.quantize_dynamic(model)
    >>> list(compare_model_outputs(model, quantized, pyqref.ones(1, 2)))
    ['0.stats']
    """
    prepare_model_outputs(float_model, q_model, logger_cls, allow_list)
    with no_grad():
        float_model(*data)
        q_model(*data)
    return get_matching_activations(float_model, q_model)
