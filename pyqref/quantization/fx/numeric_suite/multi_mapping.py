"""Several qconfigs for each layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyqref.quantization.qconfig_mapping import QConfigMapping

__all__ = ["QConfigMultiMapping"]


class QConfigMultiMapping:
    """Mappings of one to try side by side, set together.

    The methods are those of :class:`~pyqref.quantization.QConfigMapping`, with a list of qconfigs
    instead of one. A layer with fewer qconfigs than another has None in the mappings after.

    Attributes
    ----------
    qconfig_mappings_list
        The mappings.

    Examples
    --------
    >>> from pyqref import nn
    >>> from pyqref.quantization import default_dynamic_qconfig, default_qconfig
    >>> both = QConfigMultiMapping().set_global([default_qconfig, default_dynamic_qconfig])
    >>> both = both.set_object_type(nn.Conv2d, [default_qconfig])
    >>> [each.object_type_qconfigs[nn.Conv2d] is None for each in both.qconfig_mappings_list]
    [False, True]
    """

    def __init__(self) -> None:
        self.qconfig_mappings_list: list[QConfigMapping] = [QConfigMapping()]

    def _set(self, style: str, key: tuple[Any, ...], qconfigs: Sequence[Any]) -> None:
        """Give the mappings one qconfig each; those that are None or there already are left out."""
        if not isinstance(qconfigs, (list, tuple)) or hasattr(qconfigs, "_fields"):  # a QConfig
            raise TypeError(
                f"{style} must get a list of qconfigs, got {type(qconfigs).__name__}; "
                "write [qconfig] for one"
            )
        different: list[Any] = []
        for each in qconfigs:
            if each is not None and each not in different:
                different.append(each)
        while len(self.qconfig_mappings_list) < len(different):
            self.qconfig_mappings_list.append(_without_any(self.qconfig_mappings_list[0]))
        for number, mapping in enumerate(self.qconfig_mappings_list):
            given = different[number] if number < len(different) else None
            getattr(mapping, style)(*key, given)

    def set_global(self, global_qconfig_list: Sequence[Any]) -> QConfigMultiMapping:
        """The qconfigs of all that no other entry names."""
        self._set("set_global", (), global_qconfig_list)
        return self

    def set_object_type(
        self, object_type: Callable[..., Any] | str, qconfig_list: Sequence[Any]
    ) -> QConfigMultiMapping:
        """The qconfigs of a class, a function or a method."""
        self._set("set_object_type", (object_type,), qconfig_list)
        return self

    def set_module_name_regex(
        self, module_name_regex: str, qconfig_list: Sequence[Any]
    ) -> QConfigMultiMapping:
        """The qconfigs of the modules whose path an expression matches."""
        self._set("set_module_name_regex", (module_name_regex,), qconfig_list)
        return self

    def set_module_name(self, module_name: str, qconfig_list: Sequence[Any]) -> QConfigMultiMapping:
        """The qconfigs of the module at a path."""
        self._set("set_module_name", (module_name,), qconfig_list)
        return self

    def set_module_name_object_type_order(
        self,
        module_name: str,
        object_type: Callable[..., Any],
        index: int,
        qconfig_list: Sequence[Any],
    ) -> QConfigMultiMapping:
        """The qconfigs of the n-th call of a type in the module at a path."""
        key = (module_name, object_type, index)
        self._set("set_module_name_object_type_order", key, qconfig_list)
        return self

    @classmethod
    def from_list_qconfig_mapping(
        cls, qconfig_mapping_list: Sequence[QConfigMapping]
    ) -> QConfigMultiMapping:
        """Make a mapping of several mappings.

        Examples
        --------
        >>> from pyqref.quantization import QConfigMapping, default_qconfig
        >>> mappings = [QConfigMapping().set_global(default_qconfig), QConfigMapping()]
        >>> QConfigMultiMapping.from_list_qconfig_mapping(mappings)
        QConfigMultiMapping of 1 mappings
        """
        made = cls()
        made.set_global([each.global_qconfig for each in qconfig_mapping_list])
        for style in _STYLES:
            tables = [getattr(each, f"{style}_qconfigs") for each in qconfig_mapping_list]
            for key in dict.fromkeys(key for table in tables for key in table):
                whole = key if isinstance(key, tuple) else (key,)
                made._set(f"set_{style}", whole, [table.get(key) for table in tables])
        return made

    def __repr__(self) -> str:
        return f"QConfigMultiMapping of {len(self.qconfig_mappings_list)} mappings"


_STYLES = (
    "object_type",
    "module_name_regex",
    "module_name",
    "module_name_object_type_order",
)


def _without_any(mapping: QConfigMapping) -> QConfigMapping:
    """A mapping with the same entries, all None."""
    made = QConfigMapping()
    for style in _STYLES:
        for key in getattr(mapping, f"{style}_qconfigs"):
            whole = key if isinstance(key, tuple) else (key,)
            getattr(made, f"set_{style}")(*whole, None)
    return made
