"""The momentum of an optimiser, which some schedules change against the learning rate."""

from __future__ import annotations

from typing import Any

from ..optimizer import Optimizer

__all__ = ["check_momentum", "per_group", "set_momentum"]


def check_momentum(optimizer: Optimizer) -> None:
    """Raise if the optimiser has neither momentum nor betas."""
    if not {"momentum", "betas"} & set(optimizer.defaults):
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled; "
            "pass cycle_momentum=False"
        )


def set_momentum(group: dict[str, Any], momentum: float) -> None:
    """The momentum of a group, or the first of its betas."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def per_group(name: str, optimizer: Optimizer, value: object) -> list[Any]:
    """One value for each group.

    Raises
    ------
    ValueError
        There are several, but not as many as groups.
    """
    groups = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(f"expected {groups} values for {name}, got {len(value)}")
    return list(value)
