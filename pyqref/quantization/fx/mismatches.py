"""Warnings about QConfigs that leave the model, or a part of it, float.

A mapping for everything is not meant for operations that can only be quantized in another way. So
there is no warning if a static QConfig leaves an ``nn.LSTM``, which has a dynamic form only, or if
a dynamic one leaves a ReLU. There is a warning for a QConfig of the right kind with unfitting
types; for a dynamic one for a layer that has a weight and a static form only; for one that an entry
gives to just this operation; and for any where nothing is quantized in the end.
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.quantization.diagnostics import NotQuantizedWarning, QConfigMismatchWarning, warn
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase

from .dtype_support import UNFITTING, Kind, Types, has_weight, kind_of, kinds_of, unsupported_reason
from .matching import Match
from .observed import Preparation, is_observer, is_observer_node
from .places import listed, place

__all__ = [
    "require_observers",
    "warn_of_mismatches",
    "warn_of_nothing_quantized",
    "warn_of_observers_only",
]


def require_observers(asks: str, model: GraphModule, qconfigs: dict[str, Any]) -> None:
    """Refuse a QConfig that makes anything else than observers and fake quantizers.

    Parameters
    ----------
    asks
        Who asks, for the message.
    model
        The model.
    qconfigs
        Of its nodes by name.

    Raises
    ------
    TypeError
        One does.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    seen: set[int] = set()
    for node in model.graph.nodes:
        qconfig = qconfigs.get(node.name)
        if qconfig is None or id(qconfig) in seen:
            continue
        seen.add(id(qconfig))
        for what in ("activation", "weight"):
            recipe = getattr(qconfig, what)
            made = None if recipe is None else recipe()
            if is_observer(made) or (what == "weight" and made is None):
                continue
            got = "None" if made is None else f"a {type(made).__name__}, which does not observe"
            raise TypeError(
                f"{asks}: the {what} of a QConfig must make an observer or a fake quantizer, a "
                f"subclass of ObserverBase or FakeQuantizeBase; that of {place(node, modules)} "
                f"makes {got}; use MinMaxObserver.with_args(dtype=pyqref.quint8), for example"
            )


def warn_of_mismatches(
    asks: str, model: GraphModule, preparation: Preparation, refused: dict[Node, Match]
) -> bool:
    """Warn of patterns of the back end that stay float because of their QConfig.

    Parameters
    ----------
    asks
        Who asks, for the message.
    model
        The fused model.
    preparation
        Knows the qconfigs.
    refused
        The patterns whose QConfig does not fit, by node.

    Returns
    -------
    bool
        Whether there was anything to say.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    places: dict[str, list[str]] = {}
    for node, match in refused.items():
        qconfig = preparation.qconfigs[match.root.name]
        wanted, offered = kind_of(Types(qconfig)), kinds_of(match)
        is_news = node.name in preparation.addressed or not preparation.observed
        if node is match.root and (is_news or _is_news(wanted, offered, match)):
            reason = _reason(match, qconfig, wanted, offered)
            places.setdefault(reason, []).append(place(node, modules))
    name = preparation.backend_config.name
    for reason, names in places.items():
        one = len(set(names)) == 1
        remedy = (
            "give a QConfig that fits in the qconfig_mapping, or None for parts that stay float"
        )
        if "no QConfig can ask" in reason:
            remedy = "give None in the qconfig_mapping for parts that stay float"
        warn(
            f"{asks}: {listed(names)} {'stays' if one else 'stay'} float, because "
            f"{'its' if one else 'their'} QConfig does not fit the back end {name!r}: {reason}; "
            f"{remedy}",
            QConfigMismatchWarning,
        )
    return bool(places)


def _is_news(wanted: Kind, offered: set[Kind], match: Match) -> bool:
    """Return True if a QConfig that was given to more operations was meant for this one, too."""
    if wanted in offered:
        return True
    return wanted != "static" and offered != {"weight only"} and has_weight(match)


def _reason(match: Match, qconfig: Any, wanted: Kind, offered: set[Kind]) -> str:
    if wanted not in offered:
        how = " or ".join(sorted(offered)) or "no"
        return f"the QConfig is {wanted}, supported is {how} quantization"
    found = unsupported_reason(match, qconfig, only=wanted)
    assert found is not None
    return found.removeprefix(UNFITTING)


def warn_of_observers_only(
    asks: str, model: GraphModule, preparation: Preparation, kept: dict[Node, Match]
) -> None:
    """Warn of a QConfig for calibration in a model that is to be trained.

    Parameters
    ----------
    asks
        Who asks, for the message.
    model
        The prepared model.
    preparation
        Knows the qconfigs.
    kept
        The patterns that are quantized, by node.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    usual = preparation.qconfig_mapping._usual.values()
    places = []
    for node, match in kept.items():
        qconfig = preparation.qconfigs[match.root.name]
        if (
            node is not match.root
            or not has_weight(match)
            or any(each is qconfig for each in usual)
        ):
            continue
        types = Types(qconfig)
        made = [types.weight_observer]
        made += [types.activation_observer] if kind_of(types) == "static" else []
        if any(not isinstance(each, FakeQuantizeBase) for each in made):
            places.append(place(node, modules))
    if places:
        warn(
            f"{asks}: the QConfig of {listed(places)} has observers and no fake quantizers, so "
            "training does not see the quantization; pass get_default_qat_qconfig_mapping('x86'), "
            "for example, or use prepare_fx to calibrate",
            QConfigMismatchWarning,
        )


def warn_of_nothing_quantized(
    asks: str, model: GraphModule, preparation: Preparation, is_told: bool
) -> None:
    """Warn where nothing of a model is quantized.

    Parameters
    ----------
    asks
        Who asks, for the message.
    model
        The prepared model.
    preparation
        Knows what is quantized.
    is_told
        Whether another warning said why.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    observes = any(is_observer_node(node, modules) for node in model.graph.nodes)
    if is_told or preparation.observed or observes:
        return
    if any(each is not None for each in preparation.qconfigs.values()):
        cause = (
            "no operation that has a QConfig is one that the back end "
            f"{preparation.backend_config.name!r} quantizes by itself; give others a QConfig in "
            "the qconfig_mapping, or pass a backend_config that knows these"
        )
    else:
        cause = (
            "the qconfig_mapping gives no operation a QConfig; pass "
            "get_default_qconfig_mapping('x86'), for example, or call set_global"
        )
    warn(f"{asks}: nothing will be observed or quantized: {cause}", NotQuantizedWarning)
