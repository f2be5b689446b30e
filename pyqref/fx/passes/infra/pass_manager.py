"""Several passes, one after another, until nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...graph_module import GraphModule
from .pass_base import PassResult

__all__ = ["PassManager"]


class PassManager:
    """Runs passes in their order, and all of them again while they change something.

    Parameters
    ----------
    passes
        Functions of a graph module that return a :class:`~.pass_base.PassResult`.
    constraints
        Functions of two passes: whether the first may stand before the second.
    steps
        How often all are run at most.
    run_checks_after_each_pass
        Run the checks of :meth:`add_checks` after each pass, not after the last only.
    suppress_check_failures
        Go on where passes stand in an order that a constraint forbids.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.fx.passes.infra.pass_base import PassResult
    >>> def without_dead_code(gm):
    ...     changed = gm.graph.eliminate_dead_code()
    ...     gm.recompile()
    ...     return PassResult(gm, changed)
    >>> gm = pyqref.fx.symbolic_trace(lambda x: (x + 1, x * 2)[0])
    >>> PassManager([without_dead_code])(gm).modified
    True
    """

    def __init__(
        self,
        passes: list[Callable[[GraphModule], PassResult | None]] | None = None,
        constraints: list[Callable[[Any, Any], bool]] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes = list(passes or [])
        self.constraints = list(constraints or [])
        self.steps = 1 if steps is None else steps
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._check: Callable[[Any], None] | None = None

    def add_pass(self, _pass: Callable[[GraphModule], PassResult | None]) -> None:
        """Put a pass at the end."""
        self.passes.append(_pass)

    def add_constraint(self, constraint: Callable[[Any, Any], bool]) -> None:
        """Add a condition on the order of passes."""
        self.constraints.append(constraint)

    def add_checks(self, check: Callable[[Any], None]) -> None:
        """Take a function of a graph module that raises if it is wrong."""
        self._check = check

    def validate_constraints(self) -> None:
        """Raise RuntimeError if a pass stands before one that it must follow."""
        for constraint in self.constraints:
            for place, before in enumerate(self.passes):
                for after in self.passes[place + 1 :]:
                    if not constraint(before, after):
                        raise RuntimeError(
                            f"{_name(before)} comes in front of {_name(after)}, against a "
                            "constraint of the schedule"
                        )

    def __call__(self, module: GraphModule) -> PassResult:
        """Run the passes."""
        if not self.suppress_check_failures:
            self.validate_constraints()
        self._checked(module)
        ever = False
        for _ in range(self.steps):
            modified = False
            for each in self.passes:
                result = each(module)
                if not isinstance(result, PassResult):
                    raise TypeError(
                        f"{_name(each)} returned a {type(result).__name__}; a pass returns "
                        "PassResult(graph_module, modified)"
                    )
                module, modified = result.graph_module, modified or result.modified
                if self.run_checks_after_each_pass:
                    self._checked(module)
            self._checked(module)
            ever |= modified
            if not modified:
                break
        return PassResult(module, ever)

    def _checked(self, module: GraphModule) -> None:
        if self._check is not None:
            self._check(module)


def _name(each: Any) -> str:
    return getattr(each, "__name__", type(each).__name__)
