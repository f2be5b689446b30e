"""Base class of all ways of pruning: a mask, and the hook that applies it before every call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...._typing import Module, Tensor, TensorOrNumber
from ....tape import no_grad
from ....tensor.base import TensorBase
from ....tensor.creation_like import ones_like
from ....tensor.foreign import kind_of
from ....tensor.parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BasePruningMethod", "PruningContainer"]


class BasePruningMethod(ABC):
    """A way to choose what of a parameter is kept.

    A subclass defines :meth:`compute_mask`, and says with ``PRUNING_TYPE`` what an earlier mask
    means for it: ``"unstructured"`` looks at elements that are still there, ``"structured"`` at
    channels that are, ``"global"`` at all.

    Attributes
    ----------
    PRUNING_TYPE : str
        See above.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.utils import prune
    >>> class EverySecond(prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> layer = pyqref.nn.Linear(4, 1)
    >>> _ = EverySecond.apply(layer, "weight")
    >>> layer.weight_mask.tolist()
    [[0.0, 1.0, 0.0, 1.0]]
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: tuple[Any, ...]) -> None:
        """Compute the pruned tensor anew; called before the module."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """A mask for ``t``, of ones and zeros.

        Parameters
        ----------
        t
            How important each element is: the parameter, or the scores that were given.
        default_mask
            The mask so far.
        """

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter of a module times its mask."""
        name = self._tensor_name
        original = getattr(module, f"{name}_orig")
        return getattr(module, f"{name}_mask").to(original.dtype) * original

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: TensorOrNumber,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> Self | PruningContainer:
        """Prune a parameter of a module, on top of what was pruned before.

        Parameters
        ----------
        module
            Whose parameter is pruned.
        name
            Of the parameter.
        *args, **kwargs
            Arguments of the class.
        importance_scores
            A tensor of the parameter's shape that is looked at in its place.

        Returns
        -------
        BasePruningMethod
            The hook; a :class:`PruningContainer` if there was one before.
        """
        found = [
            (number, hook)
            for number, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if importance_scores is not None:
            _check_scores(importance_scores, getattr(module, name))
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        hook = method
        if found:
            number, before = found[0]
            hook = before if isinstance(before, PruningContainer) else PruningContainer(before)
            original = getattr(module, f"{name}_orig")
            mask = getattr(module, f"{name}_mask")
        else:
            original = _parameter(module, name)
            mask = ones_like(original.detach())
        scores = original if importance_scores is None else importance_scores
        with no_grad():
            if found:
                new_mask = _combined(method, scores.detach(), mask)
            else:
                new_mask = method.compute_mask(scores.detach(), default_mask=mask)
            new_mask = new_mask.to(original.dtype)
        if found:
            del module._forward_pre_hooks[number]
            if before is not hook or method is not before:
                hook.add_pruning_method(method)
        else:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", original)
        module.register_buffer(f"{name}_mask", new_mask)
        setattr(module, name, hook.apply_mask(module))
        module.register_forward_pre_hook(hook)
        return hook

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """``t`` with zeros where the mask has them; nothing is changed.

        Parameters
        ----------
        t
            The tensor.
        default_mask
            The mask so far; ones by default.
        importance_scores
            A tensor of the same shape that is looked at in its place.
        """
        if importance_scores is not None:
            _check_scores(importance_scores, t)
        scores = t if importance_scores is None else importance_scores
        default_mask = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default_mask)

    def remove(self, module: Any) -> None:
        """Make the zeros permanent: the parameter has its old name again."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        original.data = weight.detach()
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several ways of pruning, one after the other, for one parameter.

    Parameters
    ----------
    *args
        The methods, or one iterable of them.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.utils import prune
    >>> layer = pyqref.nn.Linear(4, 1)
    >>> _ = prune.l1_unstructured(layer, "weight", amount=1)
    >>> _ = prune.l1_unstructured(layer, "weight", amount=1)
    >>> (hook,) = layer._forward_pre_hooks.values()
    >>> isinstance(hook, prune.PruningContainer), len(hook)
    (True, 2)
    """

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        methods: Iterable[Any] = args
        if len(args) == 1 and not isinstance(args[0], BasePruningMethod):
            methods = args[0]
        elif len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in methods:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: object) -> None:
        """Add one that comes after the others.

        Raises
        ------
        TypeError
            It is none.
        ValueError
            It is for another parameter.
        """
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{kind_of(method)} is not a BasePruningMethod subclass")
        if not hasattr(self, "_tensor_name"):
            self._tensor_name = method._tensor_name
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}', got one for '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int | slice) -> BasePruningMethod | tuple[BasePruningMethod, ...]:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method, where the masks before left something."""
        return _combined(self._pruning_methods[-1], t, default_mask)


def _combined(method: BasePruningMethod, t: Any, mask: Any) -> Any:
    """The mask so far, with what a method prunes of what it leaves."""
    kind = method.PRUNING_TYPE
    where: Any
    if kind == "unstructured":
        where = mask == 1
    elif kind == "structured":
        dim = method.dim % mask.ndim  # type: ignore[attr-defined]
        others = [each for each in range(mask.ndim) if each != dim]
        where = tuple(
            mask.sum(dim=others) != 0 if each == dim else slice(None) for each in range(mask.ndim)
        )
    elif kind == "global":
        where = (slice(None),) * mask.ndim
    else:
        raise ValueError(
            f"PRUNING_TYPE must be 'unstructured', 'structured' or 'global', got {kind!r}"
        )
    combined = mask.clone()
    part = method.compute_mask(t[where], default_mask=mask[where])
    combined[where] = part.to(mask.dtype)
    return combined


def _check_scores(scores: Any, like: Any) -> None:
    shape = getattr(scores, "shape", ())
    if not isinstance(scores, TensorBase):
        raise TypeError(f"importance_scores must be a Tensor, got {kind_of(scores)}")
    if tuple(shape) != tuple(like.shape):
        raise ValueError(
            f"importance_scores must have the parameter's shape {tuple(like.shape)}, "
            f"got {tuple(shape)}"
        )


def _parameter(module: Any, name: str) -> Parameter:
    found = module._parameters.get(name)
    if found is None:
        known = ", ".join(key for key, value in module._parameters.items() if value is not None)
        raise AttributeError(
            f"{type(module).__name__} has no parameter '{name}' to prune; it has: {known or 'none'}"
        )
    parameter: Parameter = found
    return parameter
