"""``GradScaler``: losses times a large number, so that small gradients of few bits survive."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Tensor
from ..devices import device as device_
from ..optim.optimizer import Optimizer
from ..tensor.base import TensorBase

__all__ = ["GradScaler"]


class GradScaler:
    """Scale a loss, and the gradients back, as training in float16 wants it.

    The scale is multiplied by ``growth_factor`` after ``growth_interval`` steps in a row with
    finite gradients, and by ``backoff_factor`` after a step with infinite ones or nan, which is
    left out. For a device that is not there, as ``"cuda"``, it does nothing, as in ``torch``:
    :meth:`scale` returns its argument and :meth:`step` calls the optimiser.

    Parameters
    ----------
    device
        ``"cuda"``, where it does nothing, or ``"cpu"``.
    init_scale
        The first scale, a positive number.
    growth_factor
        Above 1.
    backoff_factor
        In (0, 1).
    growth_interval
        A number of steps.
    enabled
        Whether to scale.

    Raises
    ------
    ValueError
        A factor is out of its range.

    Notes
    -----
    Source: documentation of ``torch.amp.GradScaler``.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.nn.Parameter(pyqref.ones(1))
    >>> optimizer = pyqref.optim.SGD([w], lr=1.0)
    >>> scaler = pyqref.amp.GradScaler("cpu", init_scale=1024.0)
    >>> scaler.scale(w.sum() / 2).backward()
    >>> w.grad.item()
    512.0
    >>> _ = scaler.step(optimizer)
    >>> scaler.update()
    >>> w.item(), scaler.get_scale()
    (0.5, 1024.0)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled:
            if not growth_factor > 1.0:
                raise ValueError(f"GradScaler: growth_factor must be > 1, got {growth_factor}")
            if not 0.0 < backoff_factor < 1.0:
                raise ValueError(f"GradScaler: backoff_factor must be < 1, got {backoff_factor}")
        self._enabled = bool(enabled) and device_(device).type == "cpu"
        self._scale = float(init_scale)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._good_steps = 0
        self._found: dict[int, bool] = {}  # by optimiser: unscaled since the last update
        self._stepped: set[int] = set()

    def scale(self, outputs: Tensor) -> Tensor:
        """A tensor, or nested lists and tuples of them, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, TensorBase):
            scaled: Any = outputs
            return scaled * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(each) for each in outputs)
        raise ValueError(
            "GradScaler.scale: outputs must be a tensor or several in a list or tuple, "
            f"got {type(outputs).__name__}"
        )

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimiser's parameters by the scale, in place.

        Raises
        ------
        RuntimeError
            It has been called since the last :meth:`update`.
        """
        if not self._enabled:
            return
        key = id(optimizer)
        if key in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        if key in self._found:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        found = False
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is not None:
                    with np.errstate(all="ignore"):
                        grad._array[...] = grad._array * grad._array.dtype.type(1 / self._scale)
                    found |= not bool(np.isfinite(grad._array).all())
        self._found[key] = found

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Unscale unless that was done, and call ``optimizer.step()`` if gradients are finite.

        Returns
        -------
        object
            What the optimiser returns; None if the step is left out.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("GradScaler.step: closures are not supported if it is enabled")
        if id(optimizer) in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        self._stepped.add(id(optimizer))
        if self._found[id(optimizer)]:
            return None
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Choose the next scale, or set it to ``new_scale``.

        Raises
        ------
        RuntimeError
            No gradients have been looked at since the last call.
        """
        if not self._enabled:
            return
        if new_scale is not None:
            is_tensor = isinstance(new_scale, TensorBase)
            self._scale = float(new_scale.item() if is_tensor else new_scale)
        elif not self._found:
            raise RuntimeError("No inf checks were recorded prior to update.")
        elif any(self._found.values()):
            self._scale *= self._backoff_factor
            self._good_steps = 0
        else:
            self._good_steps += 1
            if self._good_steps == self._growth_interval:
                self._scale *= self._growth_factor
                self._good_steps = 0
        self._found.clear()
        self._stepped.clear()

    def get_scale(self) -> float:
        """The scale; 1 if it does nothing."""
        return self._scale if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Return True if the scaler scales losses."""
        return self._enabled

    def get_growth_factor(self) -> float:
        """Return the factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set by what the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set by what the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the number of steps after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many steps the scale grows."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """Scale, factors and steps; empty if it does nothing."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._good_steps,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "GradScaler: the state dict is empty, possibly because it was saved from a "
                "disabled instance"
            )
        self._scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._good_steps = state_dict["_growth_tracker"]
