"""Settings of graph mode besides qconfigs: :class:`PrepareCustomConfig` and its siblings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyqref.quantization.arguments import as_class, as_config, as_index, as_list, as_text
from pyqref.quantization.backend_config import BackendConfig
from pyqref.quantization.qconfig_mapping import QConfigMapping
from pyqref.quantization.quant_type import QuantType
from pyqref.tensor.arguments import described

__all__ = [
    "ConvertCustomConfig",
    "FuseCustomConfig",
    "PrepareCustomConfig",
    "StandaloneModuleConfigEntry",
]


@dataclass
class StandaloneModuleConfigEntry:
    """Settings by which a standalone module is prepared.

    Examples
    --------
    >>> from pyqref.quantization.fx.custom_config import PrepareCustomConfig
    >>> config = PrepareCustomConfig().set_standalone_module_name("head", None, (), None, None)
    >>> config.standalone_module_names["head"].prepare_custom_config is None
    True
    """

    qconfig_mapping: QConfigMapping | None
    example_inputs: Any
    prepare_custom_config: PrepareCustomConfig | None
    backend_config: BackendConfig | None

    def __post_init__(self) -> None:
        """Check the types of all."""
        as_config(self.qconfig_mapping, "qconfig_mapping", QConfigMapping)
        as_config(self.prepare_custom_config, "prepare_custom_config", PrepareCustomConfig)
        as_config(self.backend_config, "backend_config", BackendConfig)

    def to_tuple(self) -> tuple[Any, ...]:
        """The four as in a dictionary."""
        return (
            None if self.qconfig_mapping is None else self.qconfig_mapping.to_dict(),
            self.example_inputs,
            None if self.prepare_custom_config is None else self.prepare_custom_config.to_dict(),
            self.backend_config,
        )

    @classmethod
    def from_tuple(cls, key: str, entry: object) -> tuple[Any, StandaloneModuleConfigEntry]:
        """Name or class of the module, and its entry, from a tuple of five."""
        if not isinstance(entry, tuple | list) or len(entry) != 5:
            raise ValueError(
                f"{key!r} must be a list of tuples (module, qconfig mapping, example inputs, "
                f"prepare custom config, backend config), got {entry!r} in it"
            )
        module, mapping, inputs, custom, backend = entry
        if isinstance(mapping, Mapping):
            mapping = QConfigMapping.from_dict(mapping)
        if isinstance(custom, Mapping):
            custom = PrepareCustomConfig.from_dict(custom)
        if isinstance(backend, Mapping):
            backend = BackendConfig.from_dict(backend)
        return module, cls(mapping, inputs, custom, backend)


_Classes = dict[QuantType, dict[type, type]]


class PrepareCustomConfig:
    """Settings of :func:`~pyqref.quantization.quantize_fx.prepare_fx` besides qconfigs.

    Raises
    ------
    TypeError
        Names, classes, indexes or attributes are not given as a list of those, or another
        argument is of the wrong type.
    ValueError
        ``from_dict``: a key is unknown.

    Notes
    -----
    Source: ``torch.ao.quantization.fx.custom_config.PrepareCustomConfig``.

    Examples
    --------
    >>> config = (PrepareCustomConfig()
    ...     .set_non_traceable_module_names(["sub.loop"])
    ...     .set_output_quantized_indexes([0])
    ...     .set_preserved_attributes(["vocabulary"]))
    >>> list(config.to_dict())
    ['non_traceable_module_name', 'output_quantized_idxs', 'preserved_attributes']
    """

    def __init__(self) -> None:
        self.standalone_module_names: dict[str, StandaloneModuleConfigEntry] = {}
        self.standalone_module_classes: dict[type, StandaloneModuleConfigEntry] = {}
        self.float_to_observed_mapping: _Classes = {}
        self.non_traceable_module_names: list[str] = []
        self.non_traceable_module_classes: list[type] = []
        self.input_quantized_indexes: list[int] = []
        self.output_quantized_indexes: list[int] = []
        self.preserved_attributes: list[str] = []

    def __repr__(self) -> str:
        return _text(self)

    def set_standalone_module_name(
        self,
        module_name: str,
        qconfig_mapping: QConfigMapping | None,
        example_inputs: tuple[Any, ...],
        prepare_custom_config: PrepareCustomConfig | None,
        backend_config: BackendConfig | None,
    ) -> PrepareCustomConfig:
        """Quantize the module at a path by itself, with a mapping of its own.

        Where ``qconfig_mapping`` is None, the qconfig that the module has in the model around
        it is used for all of it.
        """
        module_name = as_text(module_name, "module_name")
        self.standalone_module_names[module_name] = StandaloneModuleConfigEntry(
            qconfig_mapping, example_inputs, prepare_custom_config, backend_config
        )
        return self

    def set_standalone_module_class(
        self,
        module_class: type,
        qconfig_mapping: QConfigMapping | None,
        example_inputs: tuple[Any, ...],
        prepare_custom_config: PrepareCustomConfig | None,
        backend_config: BackendConfig | None,
    ) -> PrepareCustomConfig:
        """Quantize all modules of a class by themselves."""
        module_class = as_class(module_class, "module_class")
        self.standalone_module_classes[module_class] = StandaloneModuleConfigEntry(
            qconfig_mapping, example_inputs, prepare_custom_config, backend_config
        )
        return self

    def set_float_to_observed_mapping(
        self, float_class: type, observed_class: type, quant_type: QuantType = QuantType.STATIC
    ) -> PrepareCustomConfig:
        """Replace modules of a class by ``observed_class.from_float(module)``.

        Raises
        ------
        ValueError
            ``quant_type`` is not static.
        """
        if quant_type != QuantType.STATIC:
            raise ValueError(
                "set_float_to_observed_mapping is only for static quantization, got "
                f"quant_type={quant_type!r}"
            )
        classes = self.float_to_observed_mapping.setdefault(quant_type, {})
        classes[as_class(float_class, "float_class")] = as_class(observed_class, "observed_class")
        return self

    def set_non_traceable_module_names(self, module_names: list[str]) -> PrepareCustomConfig:
        """Set paths of modules that are kept whole: they are not traced, nor quantized."""
        self.non_traceable_module_names = as_list(module_names, "module_names", as_text)
        return self

    def set_non_traceable_module_classes(self, module_classes: list[type]) -> PrepareCustomConfig:
        """Set classes of modules that are kept whole."""
        self.non_traceable_module_classes = as_list(module_classes, "module_classes", as_class)
        return self

    def set_input_quantized_indexes(self, indexes: list[int]) -> PrepareCustomConfig:
        """Set which inputs of the model are quantized tensors already."""
        self.input_quantized_indexes = as_list(indexes, "indexes", as_index)
        return self

    def set_output_quantized_indexes(self, indexes: list[int]) -> PrepareCustomConfig:
        """Set which outputs of the model stay quantized tensors."""
        self.output_quantized_indexes = as_list(indexes, "indexes", as_index)
        return self

    def set_preserved_attributes(self, attributes: list[str]) -> PrepareCustomConfig:
        """Set attributes of the model that the result has, too, though no code uses them."""
        self.preserved_attributes = as_list(attributes, "attributes", as_text)
        return self

    @classmethod
    def from_dict(cls, prepare_custom_config_dict: Mapping[str, Any]) -> PrepareCustomConfig:
        """Make one from a dictionary, the inverse of :meth:`to_dict`.

        Parameters
        ----------
        prepare_custom_config_dict
            All optional: ``"standalone_module_name"`` and ``"standalone_module_class"`` (lists
            of tuples of name or class, qconfig mapping, example inputs, custom config and
            back end config), ``"float_to_observed_custom_module_class"`` (by ``"static"``:
            from class to class), ``"non_traceable_module_name"``,
            ``"non_traceable_module_class"``, ``"input_quantized_idxs"``,
            ``"output_quantized_idxs"``, ``"preserved_attributes"`` (lists).

        Raises
        ------
        ValueError
            A key is unknown, or a value has not this form.
        """
        given = _known(cls, prepare_custom_config_dict, (*_STANDALONE, _FLOAT_TO_OBSERVED, *_LISTS))
        config = cls()
        for key, name in _STANDALONE.items():
            entries = [StandaloneModuleConfigEntry.from_tuple(key, e) for e in given.get(key, ())]
            getattr(config, name).update(dict(entries))
        for kind, classes in given.get(_FLOAT_TO_OBSERVED, {}).items():
            for float_class, observed_class in classes.items():
                config.set_float_to_observed_mapping(float_class, observed_class, _kind(kind))
        for key, (name, check) in _LISTS.items():
            setattr(config, name, as_list(given.get(key, []), key, check))
        return config

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the items described in :meth:`from_dict`, without empty ones."""
        found: dict[str, Any] = {}
        for key, name in _STANDALONE.items():
            entries = getattr(self, name)
            found[key] = [(module, *each.to_tuple()) for module, each in entries.items()]
        found[_FLOAT_TO_OBSERVED] = _by_name(self.float_to_observed_mapping)
        found.update({key: getattr(self, name) for key, (name, _) in _LISTS.items()})
        return {key: value for key, value in found.items() if value}


class ConvertCustomConfig:
    """Settings of :func:`~pyqref.quantization.quantize_fx.convert_fx`.

    Raises
    ------
    TypeError
        Attributes are not given as a list of strings.
    ValueError
        ``from_dict``: a key is unknown.

    Notes
    -----
    Source: ``torch.ao.quantization.fx.custom_config.ConvertCustomConfig``.

    Examples
    --------
    >>> ConvertCustomConfig().set_preserved_attributes(["labels"]).to_dict()
    {'preserved_attributes': ['labels']}
    """

    def __init__(self) -> None:
        self.observed_to_quantized_mapping: _Classes = {}
        self.preserved_attributes: list[str] = []

    def __repr__(self) -> str:
        return _text(self)

    def set_observed_to_quantized_mapping(
        self, observed_class: type, quantized_class: type, quant_type: QuantType = QuantType.STATIC
    ) -> ConvertCustomConfig:
        """Replace modules of a class by ``quantized_class.from_observed(module)``."""
        if not isinstance(quant_type, QuantType):
            raise TypeError(f"quant_type must be a QuantType, got {described(quant_type)}")
        as_class(observed_class, "observed_class")
        classes = self.observed_to_quantized_mapping.setdefault(quant_type, {})
        classes[observed_class] = as_class(quantized_class, "quantized_class")
        return self

    def set_preserved_attributes(self, attributes: list[str]) -> ConvertCustomConfig:
        """Set attributes of the model that the result has, too."""
        self.preserved_attributes = as_list(attributes, "attributes", as_text)
        return self

    @classmethod
    def from_dict(cls, convert_custom_config_dict: Mapping[str, Any]) -> ConvertCustomConfig:
        """Make one from a dictionary, the inverse of :meth:`to_dict`.

        Parameters
        ----------
        convert_custom_config_dict
            Both optional: ``"observed_to_quantized_custom_module_class"`` (by ``"static"``,
            ``"dynamic"`` or ``"weight_only"``: from class to class),
            ``"preserved_attributes"`` (list).
        """
        keys = (_OBSERVED_TO_QUANTIZED, "preserved_attributes")
        given = _known(cls, convert_custom_config_dict, keys)
        config = cls().set_preserved_attributes(given.get("preserved_attributes", []))
        for kind, classes in given.get(_OBSERVED_TO_QUANTIZED, {}).items():
            for observed_class, quantized_class in classes.items():
                config.set_observed_to_quantized_mapping(
                    observed_class, quantized_class, _kind(kind)
                )
        return config

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the items described in :meth:`from_dict`, without empty ones."""
        found = {
            _OBSERVED_TO_QUANTIZED: _by_name(self.observed_to_quantized_mapping),
            "preserved_attributes": self.preserved_attributes,
        }
        return {key: value for key, value in found.items() if value}


class FuseCustomConfig:
    """Settings of :func:`~pyqref.quantization.quantize_fx.fuse_fx`.

    Raises
    ------
    TypeError
        Attributes are not given as a list of strings.
    ValueError
        ``from_dict``: a key is unknown.

    Notes
    -----
    Source: ``torch.ao.quantization.fx.custom_config.FuseCustomConfig``.

    Examples
    --------
    >>> FuseCustomConfig.from_dict({"preserved_attributes": ["a"]}).preserved_attributes
    ['a']
    """

    def __init__(self) -> None:
        self.preserved_attributes: list[str] = []

    def __repr__(self) -> str:
        return _text(self)

    def set_preserved_attributes(self, attributes: list[str]) -> FuseCustomConfig:
        """Set attributes of the model that the result has, too."""
        self.preserved_attributes = as_list(attributes, "attributes", as_text)
        return self

    @classmethod
    def from_dict(cls, fuse_custom_config_dict: Mapping[str, Any]) -> FuseCustomConfig:
        """Make one from ``{"preserved_attributes": [...]}``, the inverse of :meth:`to_dict`."""
        given = _known(cls, fuse_custom_config_dict, ("preserved_attributes",))
        return cls().set_preserved_attributes(given.get("preserved_attributes", []))

    def to_dict(self) -> dict[str, Any]:
        """Return the config as a dictionary, which is empty if nothing is set."""
        return {
            key: value
            for key, value in {"preserved_attributes": self.preserved_attributes}.items()
            if value
        }


_STANDALONE = {
    "standalone_module_name": "standalone_module_names",
    "standalone_module_class": "standalone_module_classes",
}
_FLOAT_TO_OBSERVED = "float_to_observed_custom_module_class"
_OBSERVED_TO_QUANTIZED = "observed_to_quantized_custom_module_class"
_LISTS = {
    "non_traceable_module_name": ("non_traceable_module_names", as_text),
    "non_traceable_module_class": ("non_traceable_module_classes", as_class),
    "input_quantized_idxs": ("input_quantized_indexes", as_index),
    "output_quantized_idxs": ("output_quantized_indexes", as_index),
    "preserved_attributes": ("preserved_attributes", as_text),
}
_KINDS = {"static": QuantType.STATIC, "dynamic": QuantType.DYNAMIC, "qat": QuantType.QAT}
_KINDS["weight_only"] = QuantType.WEIGHT_ONLY


def _kind(name: str) -> QuantType:
    if name not in _KINDS:
        raise ValueError(f"the kind of quantization must be one of {list(_KINDS)}, got {name!r}")
    return _KINDS[name]


def _by_name(mapping: _Classes) -> dict[str, dict[type, type]]:
    names = {kind: name for name, kind in _KINDS.items()}
    return {names[kind]: dict(classes) for kind, classes in mapping.items()}


def _known(kind: type, given: Mapping[str, Any], keys: Iterable[str]) -> Mapping[str, Any]:
    known = list(keys)
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ValueError(f"{kind.__name__}.from_dict knows the keys {known}, got {unknown}")
    return given


def _text(config: Any) -> str:
    return f"{type(config).__name__}({ ({k: v for k, v in vars(config).items() if v}) })"
