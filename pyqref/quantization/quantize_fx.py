"""Graph mode: from a float model to a quantized one, without stubs and manual fusion.

``prepare_fx`` records a model as a graph, fuses it and inserts observers; after calibration
``convert_fx`` makes a reference model of it and lowers that to quantized operations. What can be
quantized, and how, stands in a :class:`~pyqref.quantization.backend_config.BackendConfig`; the
passes are in :mod:`pyqref.quantization.fx`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyqref._typing import Module, Tensor
from pyqref.fx import GraphModule

from .backend_config import BackendConfig
from .diagnostics import strictly as _strictly
from .fx.arguments import backend_from, check_model, config_from, optional_config
from .fx.convert import convert as _convert
from .fx.custom_config import ConvertCustomConfig as ConvertCustomConfig
from .fx.custom_config import FuseCustomConfig as FuseCustomConfig
from .fx.custom_config import PrepareCustomConfig as PrepareCustomConfig
from .fx.fusing import fuse as _fuse
from .fx.prepare import leave_used as _leave_used
from .fx.prepare import prepare_as_asked as _prepare
from .fx.prepare import trace as _trace
from .fx.standalone import _convert_standalone_module_fx as _convert_standalone_module_fx
from .fx.standalone import _prepare_standalone_module_fx as _prepare_standalone_module_fx
from .fx.tied import keeping_what_is_read as _keeping_what_is_read
from .fx.watching import passed as _passed
from .fx.watching import watch_passes as watch_passes
from .qconfig_mapping import QConfigMapping

__all__ = [
    "convert_fx",
    "convert_to_reference_fx",
    "fuse_fx",
    "prepare_fx",
    "prepare_qat_fx",
    "watch_passes",
]


def fuse_fx(
    model: Module,
    fuse_custom_config: FuseCustomConfig | Mapping[str, Any] | None = None,
    backend_config: BackendConfig | Mapping[str, Any] | None = None,
    strict: bool = False,
) -> GraphModule:
    """Fuse layers: convolution, batch norm and ReLU into one, and so on.

    Parameters
    ----------
    model
        A model in evaluation mode.
    fuse_custom_config
        See :class:`~pyqref.quantization.fx.custom_config.FuseCustomConfig`.
    backend_config
        Says what can be fused, and how; the native one if None.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning.

    Raises
    ------
    TypeError
        ``model`` is no module.
    ValueError
        It is in training mode.
    TraceError
        It cannot be traced.

    Notes
    -----
    Source: ``torch.ao.quantization.quantize_fx.fuse_fx``.

    Examples
    --------
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()).eval()
    >>> print(fuse_fx(model).code.strip())
    def forward(self, input):
        input_1 = input
        _0 = getattr(self, "0")(input_1);  input_1 = None
        return _0
    """
    check_model("fuse_fx", model)
    custom = config_from("fuse_custom_config", fuse_custom_config, FuseCustomConfig)
    backend = backend_from(backend_config)
    with _strictly(strict):
        traced, _ = _trace("fuse_fx", model, PrepareCustomConfig())
        with _keeping_what_is_read(traced):
            _fuse(traced, False, backend)
        _passed("fuse", traced)
        _leave_used("fuse_fx", traced, model, custom.preserved_attributes)
    return traced


def prepare_fx(
    model: Module,
    qconfig_mapping: QConfigMapping | Mapping[str, Any],
    example_inputs: Sequence[Tensor] | Tensor,
    prepare_custom_config: PrepareCustomConfig | Mapping[str, Any] | None = None,
    _equalization_config: QConfigMapping | Mapping[str, Any] | None = None,
    backend_config: BackendConfig | Mapping[str, Any] | None = None,
    strict: bool = False,
) -> GraphModule:
    """Prepare a model for static, dynamic or weight-only quantization.

    Parameters
    ----------
    model
        A model in evaluation mode. It is not changed, but its parameters are shared.
    qconfig_mapping
        Which operation is quantized how.
    example_inputs
        A tuple of inputs of ``forward``; also one input, a dictionary of them by name, or None.
        Nothing is computed with them.
    prepare_custom_config
        See :class:`~pyqref.quantization.fx.custom_config.PrepareCustomConfig`.
    _equalization_config
        Whose input and weight are scaled against each other, column by column
        (``eq-input-weight-equalization``): ``QConfigMapping().set_global(
        default_equalization_qconfig)``, from ``pyqref.quantization.fx._equalize``.
    backend_config
        Says what can be quantized, and how; the native one if None.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning. The
        model stays as it was either way.

    Returns
    -------
    GraphModule
        The model with observers. Run it on calibration data, then :func:`convert_fx`.

    Raises
    ------
    TypeError
        An argument has the wrong type, a QConfig makes no observer, or the model is prepared or
        converted already.
    ValueError
        ``model`` is in training mode.
    TraceError
        It cannot be traced; the message names the line and the ways out.

    Warns
    -----
    NoMatchWarning
        An entry of ``qconfig_mapping`` or ``prepare_custom_config`` matches nothing in the model.
    ExampleInputsWarning
        ``example_inputs`` are too few or too many, or their shapes do not fit the first layers.
    UnusedMappingWarning
        The model has no module of a class that ``prepare_custom_config`` names.
    QConfigMismatchWarning
        The back end has a pattern for an operation, but not for its QConfig.
    NotQuantizedWarning
        Nothing will be quantized.
    NotRepairedWarning
        A layer cannot be equalized: it has groups of channels, or is called more than once.

    Notes
    -----
    Source: ``torch.ao.quantization.quantize_fx.prepare_fx``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> from pyqref.quantization import get_default_qconfig_mapping
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU()).eval()
    >>> prepared = prepare_fx(model, get_default_qconfig_mapping(), (pyqref.zeros(1, 2),))
    >>> [node.name for node in prepared.graph.nodes]
    ['input_1', 'activation_post_process_0', '_0', 'activation_post_process_1', 'output']
    """
    check_model("prepare_fx", model)
    with _strictly(strict):
        return _prepare(
            "prepare_fx",
            model,
            qconfig_mapping,
            False,
            example_inputs,
            prepare_custom_config,
            backend_config,
            equalization=_equalization_config,
        )


def prepare_qat_fx(
    model: Module,
    qconfig_mapping: QConfigMapping | Mapping[str, Any],
    example_inputs: Sequence[Tensor],
    prepare_custom_config: PrepareCustomConfig | Mapping[str, Any] | None = None,
    backend_config: BackendConfig | Mapping[str, Any] | None = None,
    strict: bool = False,
) -> GraphModule:
    """Prepare a model for quantization-aware training.

    Parameters
    ----------
    model
        A model, in training mode as a rule; the result is in the mode of the model.
    qconfig_mapping, example_inputs, prepare_custom_config, backend_config
        As for :func:`prepare_fx`.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning.

    Returns
    -------
    GraphModule
        The model with fake quantization. Train it, then :func:`convert_fx`.

    Raises
    ------
    TypeError
        An argument has the wrong type.
    TraceError
        The model cannot be traced.

    Notes
    -----
    Source: ``torch.ao.quantization.quantize_fx.prepare_qat_fx``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> from pyqref.quantization import get_default_qat_qconfig_mapping
    >>> model = nn.Sequential(nn.Linear(2, 3)).train()
    >>> prepared = prepare_qat_fx(model, get_default_qat_qconfig_mapping(), (pyqref.zeros(1, 2),))
    >>> type(prepared.get_submodule("0")).__module__
    'pyqref.nn.qat.modules.linear'
    """
    check_model("prepare_qat_fx", model, is_qat=True)
    with _strictly(strict):
        return _prepare(
            "prepare_qat_fx",
            model,
            qconfig_mapping,
            True,
            example_inputs,
            prepare_custom_config,
            backend_config,
        )


def convert_fx(
    graph_module: GraphModule,
    convert_custom_config: ConvertCustomConfig | Mapping[str, Any] | None = None,
    _remove_qconfig: bool = True,
    qconfig_mapping: QConfigMapping | Mapping[str, Any] | None = None,
    backend_config: BackendConfig | Mapping[str, Any] | None = None,
    keep_original_weights: bool = False,
    strict: bool = False,
) -> GraphModule:
    """Convert a calibrated or trained model to a quantized one.

    First the model becomes a reference model, in which every quantized operation is float
    between ``dequantize`` and ``quantize_per_tensor``; then these are lowered to quantized
    modules and functions.

    Parameters
    ----------
    graph_module
        A prepared model, calibrated or trained. It goes on as it was, and can be run, trained and
        converted again; only observers of weights look at them once more.
    convert_custom_config
        See :class:`~pyqref.quantization.fx.custom_config.ConvertCustomConfig`.
    _remove_qconfig
        Take the ``qconfig`` attributes out of the result.
    qconfig_mapping
        Its entries must be those given to :func:`prepare_fx`, with the same values or None,
        and may be more, with None. What has None is not quantized::

            qconfig_mapping = (QConfigMapping()
                .set_global(qconfig_from_prepare)
                .set_object_type(pyqref.add, None)       # skip quantizing add
                .set_module_name("foo.bar", None))       # skip the module "foo.bar"
    backend_config
        As given to :func:`prepare_fx`; that one if None.
    keep_original_weights
        Keep what went into the packed weights of functions in the attribute
        ``original_weights_lookup``: by the name of each packed weight, such as
        ``"_packed_weight_0"``, a list of the float weight, the bias if there is one, zero
        point and scale; of a float16 weight, weight and bias only.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning. The
        prepared model stays as it was either way, so that it can be calibrated further.

    Returns
    -------
    GraphModule
        The quantized model.

    Raises
    ------
    TypeError
        The model was not prepared, or is converted already.
    ValueError
        ``qconfig_mapping`` differs from that of :func:`prepare_fx` otherwise than by None.

    Warns
    -----
    UncalibratedWarning
        Observers saw no data.
    NoMatchWarning, UnusedMappingWarning
        An entry of ``qconfig_mapping`` or ``convert_custom_config`` matches nothing in the model.
    NotQuantizedWarning
        ``qconfig_mapping`` leaves nothing to quantize.

    Notes
    -----
    Source: ``torch.ao.quantization.quantize_fx.convert_fx``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> from pyqref.quantization import get_default_qconfig_mapping
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU()).eval()
    >>> x = pyqref.tensor([[1.0, -1.0]])
    >>> prepared_model = prepare_fx(model, get_default_qconfig_mapping(), (x,))
    >>> _ = prepared_model(x)
    >>> quantized_model = convert_fx(prepared_model)
    >>> [node.name for node in quantized_model.graph.nodes][3:]
    ['quantize_per_tensor', '_0', 'dequantize_1', 'output']
    """
    with _strictly(strict):
        return _convert(
            "convert_fx",
            graph_module,
            config_from("convert_custom_config", convert_custom_config, ConvertCustomConfig),
            is_reference=False,
            remove_qconfig=_remove_qconfig,
            mapping=optional_config("qconfig_mapping", qconfig_mapping, QConfigMapping),
            backend_config=optional_config("backend_config", backend_config, BackendConfig),
            keep_original_weights=keep_original_weights,
        )


def convert_to_reference_fx(
    graph_module: GraphModule,
    convert_custom_config: ConvertCustomConfig | Mapping[str, Any] | None = None,
    _remove_qconfig: bool = True,
    qconfig_mapping: QConfigMapping | Mapping[str, Any] | None = None,
    backend_config: BackendConfig | Mapping[str, Any] | None = None,
    strict: bool = False,
) -> GraphModule:
    """Convert a calibrated or trained model to a reference model only.

    In a reference model all quantization is visible: ``quantize_per_tensor`` and
    ``dequantize`` nodes, with float operations between, for your own back end to
    lower.

    Parameters
    ----------
    graph_module, convert_custom_config, _remove_qconfig, qconfig_mapping, backend_config
        As for :func:`convert_fx`.
    strict
        Raise :class:`~pyqref.quantization.QuantizationError` in place of each warning.

    Notes
    -----
    Source: ``torch.ao.quantization.quantize_fx.convert_to_reference_fx``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> from pyqref.quantization import get_default_qconfig_mapping
    >>> x = pyqref.tensor([[1.0, -1.0]])
    >>> model = nn.Sequential(nn.Linear(2, 3)).eval()
    >>> prepared_model = prepare_fx(model, get_default_qconfig_mapping(), (x,))
    >>> _ = prepared_model(x)
    >>> reference = convert_to_reference_fx(prepared_model)
    >>> type(reference.get_submodule("0")).__module__
    'pyqref.nn.quantized.reference.modules.linear'
    """
    with _strictly(strict):
        return _convert(
            "convert_to_reference_fx",
            graph_module,
            config_from("convert_custom_config", convert_custom_config, ConvertCustomConfig),
            is_reference=True,
            remove_qconfig=_remove_qconfig,
            mapping=optional_config("qconfig_mapping", qconfig_mapping, QConfigMapping),
            backend_config=optional_config("backend_config", backend_config, BackendConfig),
        )
