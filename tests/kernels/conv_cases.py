"""Convolutions that the tests of kernels compute: their shapes and geometry."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """A convolution in any number of dimensions."""

    batch: int
    channels: int
    size: tuple[int, ...]
    outputs: int
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1


def plane(batch: int, channels: int, size: int, outputs: int, kernel: int, **rest: int) -> Case:
    """Build a square convolution in two dimensions."""
    pair = {name: (rest.get(name, 1), rest.get(name, 1)) for name in ("stride", "dilation")}
    padding = (rest.get("padding", 0), rest.get("padding", 0))
    shape = (batch, channels, (size, size + 1), outputs, (kernel, kernel))
    return Case(*shape, pair["stride"], padding, pair["dilation"], rest.get("groups", 1))


DENSE = [
    plane(1, 1, 1, 1, 1),
    plane(0, 3, 5, 2, 3),
    plane(1, 3, 7, 8, 3, padding=1),
    plane(2, 3, 20, 66, 5, padding=2, stride=2),
    plane(1, 3, 37, 20, 3, padding=1),
    plane(1, 3, 37, 20, 7, padding=3, stride=2),
    plane(1, 20, 12, 24, 1),
    plane(2, 4, 6, 5, 1),
    plane(3, 8, 5, 65, 1, stride=2),
    plane(1, 5, 6, 4, 1, padding=1),
    plane(1, 16, 9, 17, 3, padding=2, dilation=2),
    plane(1, 4, 3, 2, 3, padding=3),
    Case(2, 3, (6, 9), 5, (3, 2), (2, 1), (1, 0), (1, 3)),
]
GROUPED = [
    plane(2, 8, 8, 6, 1, groups=2),
    plane(2, 12, 9, 20, 3, padding=1, stride=2, groups=4),
    plane(1, 6, 5, 6, 3, padding=1, groups=3),
    plane(1, 8, 5, 16, 3, padding=1, groups=8),
    plane(1, 130, 4, 130, 3, padding=1, groups=2),
    plane(1, 64, 5, 96, 3, padding=1, groups=16),
    plane(2, 30, 6, 15, 3, padding=1, stride=2, groups=15),
    plane(1, 24, 11, 48, 3, padding=2, dilation=2, groups=6),
    plane(1, 7, 5, 35, 3, padding=1, groups=7),
    # Strips: groups of 4, 8 and 16, fewer outputs than a vector and more.
    plane(2, 16, 5, 16, 3, padding=1, groups=4),
    plane(1, 48, 6, 48, 3, padding=1, groups=6),
    plane(1, 144, 9, 144, 3, padding=2, dilation=2, groups=9),
    plane(2, 80, 7, 80, 3, padding=1, stride=2, groups=20),
    plane(1, 400, 4, 400, 1, groups=50),
    Case(1, 32, (3, 700), 32, (2, 3), (1, 2), (1, 1), (1, 1), 4),
]
#: Around vectors of 4, 8, 16 channels, and panels of 64.
DEPTHWISE = [
    plane(2, channels, 6, channels, 3, padding=1, groups=channels)
    for channels in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 130)
] + [
    plane(1, 35, 9, 35, 3, padding=2, dilation=2, groups=35),
    plane(2, 20, 11, 20, 5, padding=2, stride=2, groups=20),
    Case(1, 18, (7, 8), 18, (1, 3), (1, 2), (0, 1), (1, 1), 18),
    # Runs of several pixels, whose last vectors overlap; two lines of outputs and a last one.
    plane(1, 72, 9, 72, 5, padding=2, stride=2, groups=72),
    plane(1, 24, 13, 24, 3, groups=24),
    plane(1, 3, 45, 3, 3, padding=1, groups=3),
    Case(1, 12, (5, 31), 12, (3, 3), (1, 3), (1, 1), (2, 1), 12),
    Case(1, 12, (9, 31), 12, (3, 2), (3, 1), (1, 1), (1, 4), 12),
    Case(1, 10, (8, 9), 10, (4, 4), (2, 2), (9, 9), (3, 3), 10),
    # More channels, and longer lines, than are computed at a time.
    plane(1, 700, 5, 700, 3, padding=1, groups=700),
    plane(1, 136, 7, 136, 7, padding=3, groups=136),
    Case(1, 40, (4, 900), 40, (3, 3), (1, 2), (1, 1), (1, 1), 40),
]
#: Channels that nearly fill vectors, or fill them: depthwise, read in place.
IN_PLACE = (
    [
        plane(2, 64, 9, 64, 3, padding=1, stride=2, groups=64),
        # Edges of lines, of planes and of the image; lines too long for one of padding.
        Case(1, 64, (3, 4, 9), 64, (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), 64),
        Case(1, 64, (5, 230), 64, (3, 3), (1, 1), (1, 40), (1, 40), 64),
        Case(1, 64, (3, 1100), 64, (3, 3), (1, 1), (1, 1), (1, 1), 64),
        Case(1, 100, (40, 6), 100, (3, 3), (2, 2), (20, 1), (20, 1), 100),
    ]
    + [
        plane(2, channels, size, channels, 3, padding=1, stride=stride, groups=channels)
        for channels in (16, 31, 63, 64, 96, 100, 128)
        for size in (8, 9)
        for stride in (1, 2)
    ]
    + [
        plane(1, 64, 12, 64, 3, groups=64),
        plane(1, 128, 9, 128, 5, padding=2, groups=128),
        plane(1, 64, 13, 64, 7, padding=3, stride=2, groups=64),
        plane(1, 320, 9, 320, 3, padding=1, stride=2, groups=320),
        Case(1, 64, (3, 11), 64, (3, 3), (1, 2), (0, 1), (1, 1), 64),
        Case(1, 64, (6, 15), 64, (3, 3), (1, 3), (1, 1), (2, 1), 64),
        Case(1, 48, (9, 21), 48, (3, 3), (1, 2), (2, 3), (2, 3), 48),
        Case(2, 64, (5, 12), 64, (4, 3), (1, 1), (0, 1), (1, 1), 64),
        Case(1, 64, (8, 40), 64, (4, 4), (2, 2), (9, 9), (3, 3), 64),
        Case(2, 64, (9,), 64, (3,), (2,), (1,), (1,), 64),
        Case(1, 32, (4, 5, 9), 32, (2, 3, 3), (1, 2, 2), (1, 1, 1), (1, 1, 1), 32),
    ]
)
#: Taps so far apart that copies have what each of them takes: depthwise, and in strips.
FAR_APART = [
    Case(1, 70, (5, 230), 70, (3, 3), (1, 1), (1, 100), (1, 100), 70),
    Case(2, 20, (7, 260), 20, (3, 4), (2, 2), (1, 90), (2, 61), 20),
    Case(1, 200, (4, 90), 200, (2, 3), (1, 3), (0, 45), (3, 40), 200),
    Case(1, 20, (2, 2, 120), 20, (2, 1, 2), (1, 1, 1), (0, 0, 50), (1, 1, 77), 20),
    Case(1, 32, (4, 300), 32, (2, 3), (1, 2), (0, 70), (1, 90), 4),
    Case(2, 144, (500,), 144, (3,), (1,), (99,), (150,), 9),
]
OTHER_DIMENSIONS = [
    Case(2, 3, (11,), 5, (3,), (2,), (1,), (1,)),
    Case(1, 17, (9,), 17, (4,), (1,), (2,), (2,), 17),
    Case(2, 3, (4, 5, 6), 7, (2, 3, 2), (1, 2, 1), (1, 1, 0), (1, 1, 2)),
    Case(1, 19, (3, 4, 5), 19, (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), 19),
    Case(1, 8, (3, 4, 5), 4, (1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1), 2),
    Case(1, 32, (3, 4, 5), 32, (2, 3, 2), (1, 1, 2), (1, 1, 0), (2, 1, 1), 4),
    Case(2, 64, (21,), 64, (5,), (1,), (2,), (1,), 16),
]
EVERY = DENSE + GROUPED + DEPTHWISE + IN_PLACE + OTHER_DIMENSIONS
