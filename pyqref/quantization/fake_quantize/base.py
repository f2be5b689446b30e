"""The base of all fake quantizers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from pyqref._typing import Self, Tensor
from pyqref.nn.modules.module import Module
from pyqref.quantization.observer.checks import named
from pyqref.quantization.observer.merging import require_alike
from pyqref.quantization.observer.partial import PartialWrapper, make_partial
from pyqref.tensor.base import wrap
from pyqref.tensor.foreign import kind_of

__all__ = ["FakeQuantizeBase", "require_equal", "require_tensor"]


def require_tensor(asks: Module, x: Tensor) -> None:
    """Raise TypeError unless ``x`` is a tensor; ``asks`` is the module that was called."""
    if not hasattr(x, "_array"):
        raise TypeError(f"{named(asks)} takes a tensor, got {kind_of(x)}")


def require_equal(own: Module, name: str, other: Module, remedy: str = "") -> None:
    """Raise ValueError unless a tensor of two fake quantizers is the same."""
    mine, theirs = getattr(own, name).tolist(), getattr(other, name).tolist()
    if mine != theirs:
        raise ValueError(
            f"{named(own)}: merge takes a fake quantizer with the same {name}, {mine}, "
            f"got {theirs}{remedy}"
        )


class FakeQuantizeBase(ABC, Module):
    """A module that shows a float model what quantization will do to its numbers.

    Two switches, kept as buffers so that they are saved with the model, turn the
    quantization error and the observing on and off.

    Attributes
    ----------
    fake_quant_enabled, observer_enabled : Tensor
        uint8 flags of shape ``(1,)``.

    Notes
    -----
    A new fake quantizer defines ``forward`` and ``calculate_qparams``.

    Source: ``torch.ao.quantization.FakeQuantizeBase``.

    Examples
    --------
    >>> import pyqref
    >>> class RoundToIntegers(FakeQuantizeBase):
    ...     def forward(self, x):
    ...         return x.round() if self.fake_quant_enabled[0] == 1 else x
    ...     def calculate_qparams(self):
    ...         return pyqref.tensor([1.0]), pyqref.tensor([0])
    >>> fake_quantize = RoundToIntegers()
    >>> fake_quantize(pyqref.tensor([1.3]))
    tensor([1.])
    >>> fake_quantize.disable_fake_quant()
    >>> fake_quantize(pyqref.tensor([1.3]))
    tensor([1.3000])
    """

    fake_quant_enabled: Any
    observer_enabled: Any

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", wrap(np.ones(1, np.uint8)))
        self.register_buffer("observer_enabled", wrap(np.ones(1, np.uint8)))

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """``x``, observed and fake quantized as the switches say."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """Scale and zero point for what was seen."""

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Apply the quantization error from now on."""
        self.fake_quant_enabled[0] = 1 if enabled else 0

    def disable_fake_quant(self) -> None:
        """Let numbers pass unchanged."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Keep scale and zero point up to date with the data."""
        self.observer_enabled[0] = 1 if enabled else 0

    def disable_observer(self) -> None:
        """Keep scale and zero point as they are."""
        self.enable_observer(False)

    def merge(self, other: FakeQuantizeBase) -> Self:
        """Take in what another fake quantizer saw, as if this one had seen it as well.

        The observers are merged (:meth:`ObserverBase.merge`), and scale and zero point follow.

        Parameters
        ----------
        other
            A fake quantizer of the same class, made with the same arguments, whose switches are
            set alike. It stays as it is.

        Returns
        -------
        FakeQuantizeBase
            The fake quantizer itself.

        Raises
        ------
        TypeError
            ``other`` is of another class.
        ValueError
            It was made with other arguments, has other switches, or other parameters where they
            were trained or do not depend on the data.
        NotImplementedError
            A class of your own does not define ``_merge(self, other)``.

        Examples
        --------
        >>> import pyqref
        >>> first, second = [pyqref.quantization.FakeQuantize() for _ in range(2)]
        >>> _ = first(pyqref.tensor([0.0, 1.0])), second(pyqref.tensor([0.0, 255.0]))
        >>> first.merge(second).scale
        tensor([1.])
        """
        require_alike(self, other)
        for name in ("fake_quant_enabled", "observer_enabled", "static_enabled"):
            if name in self._buffers:
                require_equal(self, name, other)
        self._merge(other)
        return self

    def _merge(self, other: Any) -> None:
        """Take in the state of ``other``, which is of this class and was made alike."""
        raise NotImplementedError(
            f"{type(self).__name__} does not say how to merge: define its method "
            "_merge(self, other), which takes in what other saw"
        )

    @property
    def _fake_quantizes(self) -> bool:
        return bool(self.fake_quant_enabled._array[0] == 1)

    @property
    def _observes(self) -> bool:
        return bool(self.observer_enabled._array[0] == 1)

    @classmethod
    def with_args(cls, **kwargs: object) -> PartialWrapper:
        """A recipe for this fake quantizer with these arguments, for a QConfig."""
        return make_partial(cls, **kwargs)
