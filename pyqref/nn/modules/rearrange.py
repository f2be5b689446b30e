"""Small layers: shuffles of channels and pixels, sliding windows, distances."""

from __future__ import annotations

from ..._typing import Ints, Tensor
from .. import functional as F
from .module import Module

__all__ = [
    "ChannelShuffle",
    "CosineSimilarity",
    "Fold",
    "PairwiseDistance",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unfold",
]


class PixelShuffle(Module):
    """`(*, C r^2, H, W)` to `(*, C, H r, W r)` with ``r = upscale_factor``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.PixelShuffle(3)(pyqref.zeros(1, 9, 4, 4)).shape
    pyqref.Size([1, 1, 12, 12])
    """

    __constants__ = ["upscale_factor"]

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Channels become pixels."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """`(*, C, H r, W r)` to `(*, C r^2, H, W)` with ``r = downscale_factor``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.PixelUnshuffle(2)
    >>> layer(pyqref.arange(4.0).reshape(1, 1, 2, 2)).flatten()
    tensor([0., 1., 2., 3.])
    """

    __constants__ = ["downscale_factor"]

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Pixels become channels."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels of `(N, C, *)` read across ``groups``: `(N, g, C/g, *)` with the two exchanged.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ChannelShuffle(2)
    >>> layer(pyqref.arange(4.0).reshape(1, 4, 1, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    __constants__ = ["groups"]

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """The shape stays."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """The groups."""
        return f"groups={self.groups}"


class Unfold(Module):
    """`(N, C, H, W)` to `(N, C K_h K_w, L)`: a column for each of the ``L`` windows.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Unfold(kernel_size=2)
    >>> layer(pyqref.arange(6.0).reshape(1, 1, 2, 3))
    tensor([[[0., 1.],
             [1., 2.],
             [3., 4.],
             [4., 5.]]])
    """

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(
        self, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """The windows as columns."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The windows."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Module):
    """`(N, C K_h K_w, L)` to `(N, C, *output_size)`: overlapping columns are added up.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Fold((2, 3), kernel_size=(2, 2))
    >>> layer(pyqref.ones(1, 4, 2))
    tensor([[[[1., 2., 1.],
              [1., 2., 1.]]]])
    """

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]

    def __init__(
        self,
        output_size: Ints,
        kernel_size: Ints,
        dilation: Ints = 1,
        padding: Ints = 0,
        stride: Ints = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """The columns added up."""
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        """Size and windows."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )


class CosineSimilarity(Module):
    """``sum(x1 * x2) / (max(|x1|, eps) * max(|x2|, eps))`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.CosineSimilarity(dim=0)
    >>> layer(pyqref.tensor([1.0, 0.0]), pyqref.tensor([1.0, 1.0]))
    tensor(0.7071)
    """

    __constants__ = ["dim", "eps"]

    def __init__(self, dim: int = 1, eps: float = 1e-08) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Numbers in [-1, 1], without dimension ``dim``."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The ``p``-norm of ``x1 - x2 + eps`` along the last dimension.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.PairwiseDistance(eps=0.0)
    >>> layer(pyqref.tensor([[0.0, 0.0]]), pyqref.tensor([[3.0, 4.0]]))
    tensor([5.])
    """

    __constants__ = ["norm", "eps", "keepdim"]

    def __init__(self, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Distances, without the last dimension."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
