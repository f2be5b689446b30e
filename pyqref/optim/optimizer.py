"""Base class of all optimisers: groups of parameters, and a state for each parameter."""

from __future__ import annotations

import copy
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from .._typing import Tensor
from ..nn.modules.handle import Hooks, RemovableHandle, add_hook
from ..tape import Array, enable_grad, no_grad
from ..tensor.base import TensorBase, wrap
from ..tensor.foreign import kind_of

__all__ = ["Optimizer", "required"]

#: A default that every group of parameters has to give.
required: Any = type("required", (), {"__repr__": lambda _: "<required parameter>"})()


class Optimizer:
    """Changes parameters against their gradients.

    Parameters
    ----------
    params
        Parameters, or pairs of name and parameter, or dictionaries: each of these has
        its ``params`` and, beside it, settings that differ from the defaults.
    defaults
        Settings by name.

    Attributes
    ----------
    param_groups : list of dict
        Each with its ``params`` and all settings.
    state : dict
        For each parameter what the method remembers of it.

    Notes
    -----
    A method of optimisation defines :meth:`_update`, its equation for one parameter.

    Examples
    --------
    >>> import pyqref
    >>> optimizer = pyqref.optim.SGD([pyqref.nn.Parameter(pyqref.ones(1))], lr=0.1)
    >>> isinstance(optimizer, pyqref.optim.Optimizer)
    True
    >>> optimizer.param_groups[0]['lr']
    0.1
    """

    def __init__(
        self, params: Iterable[Tensor] | Iterable[dict[str, Any]], defaults: dict[str, Any]
    ) -> None:
        if isinstance(params, TensorBase):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {type(params).__name__}"
            )
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._steps_taken = 0
        self._step_pre_hooks: Hooks = OrderedDict()
        self._step_post_hooks: Hooks = OrderedDict()
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimise more parameters from now on.

        Parameters
        ----------
        param_group
            ``params`` and the settings that differ from the defaults.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, "
                "but the ordering of tensors in sets will change between runs; use a list"
            )
        single = isinstance(params, TensorBase)
        members: list[Any] = [params] if single else list(params)
        named = [isinstance(member, tuple) for member in members]
        if any(named) and not all(named):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        if members and all(named):
            group["param_names"] = [name for name, _ in members]
            members = [parameter for _, parameter in members]
        self._check(members)
        group["params"] = members
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization "
                    f"parameter {name}"
                )
            group.setdefault(name, default)
        if isinstance(group.get("lr"), TensorBase):
            group["lr"] = group["lr"]._array.item()
        self._refuse_settings(group)
        self.param_groups.append(group)

    def _check(self, members: list[Any]) -> None:
        for member in members:
            if not isinstance(member, TensorBase):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    f"{kind_of(member)}"
                )
            if not member.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        ids = {id(member) for member in members}
        if len(ids) < len(members):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "give each of them once",
                stacklevel=4,
            )
        if any(id(member) in ids for group in self.param_groups for member in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    def _refuse_settings(self, group: dict[str, Any]) -> None:
        """Say so if a setting of ``torch`` is wanted that means nothing here."""
        name = type(self).__name__
        for setting in ("capturable", "differentiable"):
            if group.get(setting):
                raise RuntimeError(f"{name}: {setting}=True is not available; leave it False")
        for setting in ("foreach", "fused"):
            if group.get(setting):
                warnings.warn(
                    f"{name}: {setting}=True has no effect; there is one implementation",
                    stacklevel=5,
                )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient.

        Parameters
        ----------
        closure
            Computes the loss and its gradients again; called first.

        Returns
        -------
        object
            What ``closure`` returned, else None.
        """
        for hook in self._step_pre_hooks.values():
            hook(self, () if closure is None else (closure,), {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        grad = parameter.grad._array
                        grad = -grad if group.get("maximize") else grad
                        self._update(parameter._array, grad, group, self.state[parameter])
                        parameter._version[0] += 1
        self._steps_taken += 1
        for hook in self._step_post_hooks.values():
            hook(self, () if closure is None else (closure,), {})
        return loss

    def _update(
        self, parameter: Array, grad: Array, group: dict[str, Any], state: dict[str, Any]
    ) -> None:
        """Change one parameter in place; ``state`` keeps what the next step needs."""
        raise NotImplementedError(f"{type(self).__name__} defines neither _update nor step")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad.detach().zero_()

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step."""
        return add_hook(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return add_hook(self._step_post_hooks, hook)

    def state_dict(self) -> dict[str, Any]:
        """Settings and state, with parameters replaced by their numbers."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
            settings = {key: value for key, value in group.items() if key != "params"}
            groups.append(
                {**settings, "params": [numbers[id(parameter)] for parameter in group["params"]]}
            )
        state = {
            numbers[id(key)] if isinstance(key, TensorBase) else key: value
            for key, value in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over settings and state from :meth:`state_dict` of such an optimiser.

        Raises
        ------
        ValueError
            The groups differ in number or size, or a state does not have the shape of
            its parameter. The optimiser is then as it was.
        """
        if not {"state", "param_groups"} <= set(state_dict):
            raise ValueError(
                "loaded state dict must have the keys 'state' and 'param_groups', "
                f"got {sorted(map(str, state_dict))}"
            )
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        sizes = [len(group["params"]) for group in self.param_groups]
        if sizes != [len(group["params"]) for group in saved]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        numbers = [number for group in saved for number in group["params"]]
        parameters = [each for group in self.param_groups for each in group["params"]]
        by_number = dict(zip(numbers, parameters, strict=True))
        state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for number, values in state_dict["state"].items():
            if number not in by_number:
                state[number] = copy.deepcopy(values)
                continue
            parameter = by_number[number]
            state[parameter] = {
                name: _like(parameter, value, f"state[{number}]['{name}']", name)
                for name, value in values.items()
            }
        groups = [
            {**self.defaults, **copy.deepcopy(_settings(new)), "params": old["params"]}
            for new, old in zip(saved, self.param_groups, strict=True)
        ]
        self.state, self.param_groups = state, groups

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [
                f"    {key}: {group[key]}"
                for key in sorted(group)
                if key not in ("params", "param_names")
            ]
            lines.append("")
        return "\n".join(lines[:-1]) + "\n)"


def _settings(group: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in group.items() if key != "params"}


def _like(parameter: Any, value: Any, where: str, name: str) -> Any:
    """A copy of a saved value, of the parameter's dtype if it is a tensor of its shape."""
    if not isinstance(value, TensorBase):
        return copy.deepcopy(value)
    if name == "step":
        return wrap(value._array.copy())
    if value._array.shape != parameter._array.shape:
        raise ValueError(
            f"loaded state dict: {where} has shape {tuple(value._array.shape)}, "
            f"its parameter has {tuple(parameter._array.shape)}"
        )
    return wrap(value._array.astype(parameter._array.dtype))


def check_at_least_zero(**settings: float | Tensor) -> None:
    """Raise ``ValueError: Invalid <name>: <value>`` for a negative setting or nan."""
    names = {"lr": "learning rate", "eps": "epsilon value"}
    for name, value in settings.items():
        if not float(value) >= 0.0:
            raise ValueError(
                f"Invalid {names.get(name, f'{name} value')}: {value}; it must be >= 0"
            )


def check_betas(betas: Iterable[float]) -> None:
    """Raise for a decay rate of an average outside [0, 1)."""
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}; use [0, 1)")
