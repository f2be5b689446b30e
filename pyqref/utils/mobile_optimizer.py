"""``optimize_for_mobile``: the model itself, since nothing is compiled."""

from __future__ import annotations

from .._typing import Module
from ..jit import ScriptModule
from ..nn.diagnostics import NoEffectWarning, warn

__all__ = ["MobileOptimizerType", "optimize_for_mobile"]


class MobileOptimizerType:
    """Names of the passes that a script may forbid.

    Examples
    --------
    >>> from pyqref.utils.mobile_optimizer import MobileOptimizerType
    >>> MobileOptimizerType.REMOVE_DROPOUT
    'remove_dropout'
    """

    CONV_BN_FUSION = "conv_bn_fusion"
    INSERT_FOLD_PREPACK_OPS = "insert_fold_prepack_ops"
    REMOVE_DROPOUT = "remove_dropout"
    FUSE_ADD_RELU = "fuse_add_relu"
    HOIST_CONV_PACKED_PARAMS = "hoist_conv_packed_params"


def optimize_for_mobile(
    script_module: Module,
    optimization_blocklist: object = None,
    preserved_methods: object = None,
    backend: str = "CPU",
) -> Module:
    """The scripted model itself: what ``torch`` would rewrite gives the same numbers.

    Parameters
    ----------
    script_module
        What :func:`pyqref.jit.script` or :func:`pyqref.jit.trace` returned.
    optimization_blocklist, preserved_methods, backend
        Of no use here.

    Raises
    ------
    TypeError
        The model has not been scripted.

    Warns
    -----
    NoEffectWarning
        Always, since nothing is rewritten.

    Examples
    --------
    >>> import warnings, pyqref
    >>> from pyqref.utils.mobile_optimizer import optimize_for_mobile
    >>> scripted = pyqref.jit.script(pyqref.nn.ReLU())
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     optimize_for_mobile(scripted) is scripted
    True
    """
    if not isinstance(script_module, ScriptModule):
        raise TypeError(
            f"optimize_for_mobile: got {type(script_module).__name__}, but ScriptModule is "
            "expected; call pyqref.jit.script(model) first"
        )
    warn(
        "optimize_for_mobile has no effect: the model is returned as it is, its numbers are the "
        "same; save it with .save(path)",
        NoEffectWarning,
    )
    return script_module
