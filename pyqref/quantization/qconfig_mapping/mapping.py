"""``QConfigMapping``: which operation of a model is quantized how."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from pyqref.quantization.arguments import as_index, as_operation, as_text
from pyqref.quantization.qconfig.base import QConfigAny
from pyqref.quantization.qconfig.checks import require_entry

__all__ = ["QConfigMapping"]

#: Keys of the dictionary form, with their attributes; in the order of increasing precedence.
_LEVELS = {
    "object_type": "object_type_qconfigs",
    "module_name_regex": "module_name_regex_qconfigs",
    "module_name": "module_name_qconfigs",
    "module_name_object_type_order": "module_name_object_type_order_qconfigs",
}


class QConfigMapping:
    r"""From the operations of a model to their qconfigs.

    Five levels, of increasing precedence:

    1. :meth:`set_global`: everything;
    2. :meth:`set_object_type`: a module class, a function, or a method's name;
    3. :meth:`set_module_name_regex`: paths of modules that match a regular expression, the
       one registered first;
    4. :meth:`set_module_name`: a module's path, and all below it that has none of its own;
    5. :meth:`set_module_name_object_type_order`: the n-th operation of a type in a module.

    Each method returns the mapping, so that calls can be chained. A qconfig of None means
    that the operation is not quantized.

    Attributes
    ----------
    global_qconfig
        The qconfig of everything.
    object_type_qconfigs, module_name_regex_qconfigs, module_name_qconfigs
        By type, expression and path, in order of registration.
    module_name_object_type_order_qconfigs
        By ``(path, type, index)``.

    Raises
    ------
    TypeError
        What is given as a qconfig is none, as a path or expression no string, or as a type
        neither a class, nor a function, nor a method's name.
    ValueError
        An index is negative, a regular expression is malformed; ``from_dict``: a key is unknown.

    Notes
    -----
    Source: ``torch.ao.quantization.qconfig_mapping.QConfigMapping``.

    Examples
    --------
    >>> from pyqref import nn
    >>> from pyqref.quantization import default_qconfig, default_per_channel_qconfig
    >>> qconfig_mapping = (QConfigMapping()
    ...     .set_global(default_qconfig)
    ...     .set_object_type(nn.Linear, default_per_channel_qconfig)
    ...     .set_module_name_regex("foo.*bar.*conv[0-9]+", default_per_channel_qconfig)
    ...     .set_module_name("module1", None)
    ...     .set_module_name_object_type_order(
    ...         "foo.bar", nn.functional.linear, 0, default_qconfig))
    >>> list(qconfig_mapping.to_dict())
    ['', 'object_type', 'module_name_regex', 'module_name', 'module_name_object_type_order']
    """

    def __init__(self) -> None:
        self.global_qconfig: QConfigAny = None
        self.object_type_qconfigs: OrderedDict[Any, QConfigAny] = OrderedDict()
        self.module_name_regex_qconfigs: OrderedDict[str, QConfigAny] = OrderedDict()
        self.module_name_qconfigs: OrderedDict[str, QConfigAny] = OrderedDict()
        self.module_name_object_type_order_qconfigs: OrderedDict[
            tuple[str, Any, int], QConfigAny
        ] = OrderedDict()
        # Entries that come with a usual mapping; it is no news if they match nothing.
        self._usual: dict[Any, QConfigAny] = {}

    def _entries(self) -> dict[str, OrderedDict[Any, QConfigAny]]:
        """The entries of each level but the first."""
        return {key: getattr(self, name) for key, name in _LEVELS.items()}

    def set_global(self, global_qconfig: QConfigAny) -> QConfigMapping:
        """Set the qconfig of everything that no other level names."""
        self.global_qconfig = require_entry(global_qconfig, "global_qconfig")
        return self

    def set_object_type(self, object_type: object, qconfig: QConfigAny) -> QConfigMapping:
        """Set the qconfig of a module class, a function or a method's name.

        It takes the place of one set for the same type before.
        """
        object_type = as_operation(object_type, "object_type")
        self.object_type_qconfigs[object_type] = require_entry(qconfig, "qconfig")
        return self

    def set_module_name_regex(self, module_name_regex: str, qconfig: QConfigAny) -> QConfigMapping:
        r"""Set the qconfig of modules whose path matches a regular expression.

        Expressions are tried in the order in which they were registered, so the more
        specific should come first. Setting an expression again changes its qconfig and
        keeps its place. It must match from the start of the path (``re.match``).

        Raises
        ------
        ValueError
            It is no regular expression.

        Examples
        --------
        ``foo.bar.conv0`` is given the first, ``foo.bar.linear`` the second, ``foo.baz.relu``
        the third:

        >>> from pyqref.quantization import default_qconfig as qconfig
        >>> mapping = (QConfigMapping()
        ...     .set_module_name_regex("foo.*bar.*conv[0-9]+", qconfig)
        ...     .set_module_name_regex("foo.*bar.*", qconfig)
        ...     .set_module_name_regex("foo.*", qconfig))
        """
        as_text(getattr(module_name_regex, "pattern", module_name_regex), "module_name_regex")
        try:
            re.compile(module_name_regex)
        except re.error as error:
            raise ValueError(
                f"module_name_regex must be a regular expression, got {module_name_regex!r}: "
                f"{error}"
            ) from None
        self.module_name_regex_qconfigs[module_name_regex] = require_entry(qconfig, "qconfig")
        return self

    def set_module_name(self, module_name: str, qconfig: QConfigAny) -> QConfigMapping:
        """Set the qconfig of the module at a path.

        It takes the place of one set for the same path before.
        """
        self.module_name_qconfigs[as_text(module_name, "module_name")] = require_entry(
            qconfig, "qconfig"
        )
        return self

    def set_module_name_object_type_order(
        self, module_name: str, object_type: Callable[..., Any], index: int, qconfig: QConfigAny
    ) -> QConfigMapping:
        """Set the qconfig of the ``index``-th operation of a type in the module at a path.

        It takes the place of one set for the same three before.
        """
        key = (
            as_text(module_name, "module_name"),
            as_operation(object_type, "object_type"),
            as_index(index, "index"),
        )
        self.module_name_object_type_order_qconfigs[key] = require_entry(qconfig, "qconfig")
        return self

    def __repr__(self) -> str:
        lines = ["QConfigMapping (", " global_qconfig", f"  {self.global_qconfig}"]
        for name in _LEVELS.values():
            entries = getattr(self, name)
            lines.append(f" {name}")
            lines += [f"  {key}: {qconfig}" for key, qconfig in entries.items()]
            if not entries:
                lines.append("  OrderedDict()")
        return "\n".join([*lines, ")"])

    def to_dict(self) -> dict[str, Any]:
        """Return the mapping as a dictionary with the keys described in :meth:`from_dict`.

        Returns
        -------
        dict
            Apart from ``""`` the values are lists of tuples.
        """
        found: dict[str, Any] = {"": self.global_qconfig}
        for key, name in _LEVELS.items():
            entries = getattr(self, name).items()
            found[key] = [
                (*what, qconfig) if isinstance(what, tuple) else (what, qconfig)
                for what, qconfig in entries
            ]
        return found

    @classmethod
    def from_dict(cls, qconfig_dict: Mapping[str, Any]) -> QConfigMapping:
        """Make one from a dictionary, the inverse of :meth:`to_dict`.

        Parameters
        ----------
        qconfig_dict
            All optional: ``""`` (the global qconfig), ``"object_type"``,
            ``"module_name_regex"``, ``"module_name"``, ``"module_name_object_type_order"``.
            The values, but the first, are lists of tuples ``(type, qconfig)``,
            ``(expression, qconfig)``, ``(path, qconfig)``, ``(path, type, index, qconfig)``.

        Raises
        ------
        ValueError
            A key is unknown, or a tuple has not the right length.

        Examples
        --------
        >>> from pyqref.quantization import default_qconfig
        >>> mapping = QConfigMapping.from_dict({"module_name": [("sub", None)]})
        >>> dict(mapping.module_name_qconfigs)
        {'sub': None}
        """
        mapping = cls()
        for key, value in qconfig_dict.items():
            if key == "":
                mapping.set_global(value)
                continue
            if key not in _LEVELS:
                known = ", ".join(repr(each) for each in ("", *_LEVELS))
                raise ValueError(f"QConfigMapping.from_dict knows the keys {known}, got {key!r}")
            count = 4 if key == "module_name_object_type_order" else 2
            for entry in value:
                if not isinstance(entry, tuple | list) or len(entry) != count:
                    raise ValueError(
                        f"{key!r} must be a list of tuples of {count}, got {entry!r} in it"
                    )
                getattr(mapping, f"set_{key}")(*entry)
        return mapping
