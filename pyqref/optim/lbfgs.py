"""Steps from a model of the curvature, with a search along the direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array, enable_grad, no_grad
from ..tensor.base import wrap
from .line_search import strong_wolfe
from .optimizer import Optimizer, check_at_least_zero

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """The method of Broyden, Fletcher, Goldfarb and Shanno with limited memory.

    All parameters are one vector `p` with gradient `g`. From the last ``history_size`` pairs of
    changes, `s` of `p` and `y` of `g`, a direction follows (equation ``eq-lbfgs``)::

        q = -g
        a_i = (s_i . q) / (y_i . s_i);   q = q - a_i * y_i          from the last pair back
        d = q * (y . s) / (y . y)        of the last pair
        b_i = (y_i . d) / (y_i . s_i);   d = d + (a_i - b_i) * s_i  from the first pair on
        p = p + t * d

    with ``t = lr``, at the very first step ``min(1, 1 / sum(abs(g))) * lr``, or, with
    ``line_search_fn="strong_wolfe"``, a step that fulfils the strong Wolfe conditions.

    Parameters
    ----------
    params
        See :class:`Optimizer`; one group only.
    lr
        Learning rate, >= 0.
    max_iter
        Changes of the parameters in one :meth:`step`.
    max_eval
        Calls of the closure in one :meth:`step`; ``max_iter * 5 // 4`` by default.
    tolerance_grad
        Stop when no element of the gradient is larger.
    tolerance_change
        Stop when neither a parameter nor the loss changes by more.
    history_size
        How many pairs are kept.
    line_search_fn
        None or ``"strong_wolfe"``.

    Notes
    -----
    :meth:`step` needs a closure. Source: documentation of ``torch.optim.LBFGS``; Nocedal and
    Wright, Numerical Optimization, algorithm 7.4.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.ones(2))
    >>> optimizer = pyqref.optim.LBFGS([weight], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((weight - 3) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure).item()
    8.0
    >>> weight.tolist()
    [3.0, 3.0]
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_at_least_zero(lr=lr)
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueError(
                f"line_search_fn must be None or 'strong_wolfe', got {line_search_fn!r}"
            )
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS doesn't support per-parameter options (parameter groups); give one list"
            )

    def _vector(self) -> Array:
        """The gradients of all parameters, one after the other."""
        return np.concatenate(
            [
                (np.zeros_like(each._array) if each.grad is None else each.grad._array).ravel()
                for each in self.param_groups[0]["params"]
            ]
        )

    def _move(self, step: float, direction: Array) -> None:
        """``p = p + step * direction``."""
        start = 0
        for each in self.param_groups[0]["params"]:
            part = direction[start : start + each._array.size].reshape(each._array.shape)
            each._array += step * part
            each._version[0] += 1
            start += part.size

    def step(self, closure: Callable[[], Any] | None = None) -> Tensor:
        """Change the parameters up to ``max_iter`` times.

        Parameters
        ----------
        closure
            Computes the loss and its gradients again.

        Returns
        -------
        Tensor
            The loss before the first change.
        """
        if closure is None:
            raise TypeError("LBFGS.step() needs a closure that computes the loss and its gradients")
        for hook in self._step_pre_hooks.values():
            hook(self, (closure,), {})

        def evaluate() -> Any:
            with enable_grad():
                return closure()

        with no_grad():
            loss = self._step(evaluate)
        self._steps_taken += 1
        for hook in self._step_post_hooks.values():
            hook(self, (closure,), {})
        return loss

    def _step(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        small_grad, small_change = group["tolerance_grad"], group["tolerance_change"]
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, grad = float(first_loss), self._vector()
        calls = 1
        state["func_evals"] += 1
        if np.abs(grad).max() <= small_grad:
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            self._direction(state, grad, group["history_size"])
            direction = state["d"]._array
            state["prev_flat_grad"] = wrap(grad.copy())
            before = state["prev_loss"] = loss
            step = group["lr"]
            if state["n_iter"] == 1:
                step = min(1.0, 1.0 / np.abs(grad).sum().item()) * group["lr"]
            slope = np.dot(grad, direction).item()
            state["t"] = step
            if slope > -small_change:
                break
            more = 0
            done = False
            if group["line_search_fn"] is not None:
                start = [each._array.copy() for each in group["params"]]

                def along(step: float, direction: Array = direction, start: Any = start) -> Any:
                    self._move(step, direction)
                    loss = float(closure())
                    grad = self._vector()
                    for each, values in zip(group["params"], start, strict=True):
                        each._array[...] = values
                    return loss, grad

                loss, grad, step, more = strong_wolfe(
                    along, step, direction, loss, grad, slope, small_change
                )
                state["t"] = step
                self._move(step, direction)
                done = np.abs(grad).max() <= small_grad
            else:
                self._move(step, direction)
                if iteration != group["max_iter"]:
                    loss, grad = float(closure()), self._vector()
                    done = np.abs(grad).max() <= small_grad
                    more = 1
            calls += more
            state["func_evals"] += more
            if (
                calls >= group["max_eval"]
                or done
                or np.abs(direction * np.float32(step)).max() <= small_change
                or abs(loss - before) < small_change
            ):
                break
        return first_loss

    def _direction(self, state: dict[str, Any], grad: Array, history_size: int) -> None:
        """Put the next direction into the state, and the last pair of changes."""
        if state["n_iter"] == 1:
            state.update(d=wrap(-grad), old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return
        old_y, old_s, ro = state["old_dirs"], state["old_stps"], state["ro"]
        y = grad - state["prev_flat_grad"]._array
        s = state["d"]._array * grad.dtype.type(state["t"])
        curvature = np.dot(y, s)
        if curvature > 1e-10:
            if len(old_y) == history_size:
                for each in (old_y, old_s, ro):
                    each.pop(0)
            old_y.append(wrap(y))
            old_s.append(wrap(s))
            ro.append(wrap(np.asarray(1.0 / curvature, grad.dtype)))
            state["H_diag"] = wrap(np.asarray(curvature / np.dot(y, y), grad.dtype))
        q, shares = -grad, [grad.dtype.type(0)] * len(old_y)
        for i in reversed(range(len(old_y))):
            shares[i] = np.dot(old_s[i]._array, q) * ro[i]._array
            q = q + _scaled(old_y[i], -shares[i])
        diagonal = state["H_diag"]
        d = q * (diagonal if isinstance(diagonal, int) else diagonal._array)
        for i in range(len(old_y)):
            back = np.dot(old_y[i]._array, d) * ro[i]._array
            d = d + _scaled(old_s[i], shares[i] - back)
        state["d"] = wrap(d)


def _scaled(vector: Any, factor: Any) -> Array:
    """A vector times a number, in the type of the vector."""
    return vector._array * vector._array.dtype.type(factor)
