"""The usual mappings as dictionaries, the form of before ``QConfigMapping``."""

from __future__ import annotations

from typing import Any

from .defaults import get_default_qat_qconfig_mapping, get_default_qconfig_mapping

__all__ = ["get_default_qat_qconfig_dict", "get_default_qconfig_dict"]


def get_default_qconfig_dict(backend: str = "x86", version: int = 0) -> dict[str, Any]:
    """:func:`get_default_qconfig_mapping` as a dictionary.

    Examples
    --------
    >>> list(get_default_qconfig_dict("fbgemm"))[:2]
    ['', 'object_type']
    """
    return get_default_qconfig_mapping(backend, version).to_dict()


def get_default_qat_qconfig_dict(backend: str = "x86", version: int = 1) -> dict[str, Any]:
    """:func:`get_default_qat_qconfig_mapping` as a dictionary.

    Examples
    --------
    >>> from pyqref import quantization
    >>> sorted(quantization.get_default_qat_qconfig_dict("fbgemm"))
    ['', 'module_name', 'module_name_object_type_order', 'module_name_regex', 'object_type']
    """
    return get_default_qat_qconfig_mapping(backend, version).to_dict()
