"""The data: 1,797 handwritten digits of 8 x 8 pixels, split into training and test images."""

from __future__ import annotations

from dataclasses import dataclass

import pyqref
from pyqref import Tensor

__all__ = ["CALIBRATION_IMAGES", "Digits", "load_digits"]

CALIBRATION_IMAGES = 256
"""Number of training images for the observers; test images are never among them."""


@dataclass(frozen=True)
class Digits:
    """Images `(N, 1, 8, 8)` of float32 in [0, 1] and their labels `(N,)`, 0 to 9.

    Attributes
    ----------
    train_images, train_labels
        What the models learn from.
    test_images, test_labels
        What every accuracy of the report is measured on.
    """

    train_images: Tensor
    train_labels: Tensor
    test_images: Tensor
    test_labels: Tensor

    @property
    def calibration_images(self) -> Tensor:
        """The first training images, in their shuffled order."""
        return self.train_images[:CALIBRATION_IMAGES]

    def limited(self, train: int, test: int) -> Digits:
        """Return only the first digits of each part."""
        return Digits(
            self.train_images[:train],
            self.train_labels[:train],
            self.test_images[:test],
            self.test_labels[:test],
        )


def load_digits(seed: int = 0, test_share: float = 0.25) -> Digits:
    """Load the UCI digits that scikit-learn ships and split them.

    Parameters
    ----------
    seed
        Chooses the split; every digit keeps its share in both parts.
    test_share
        Part of the images kept for testing, in (0, 1).
    """
    from sklearn import datasets, model_selection

    pixels, labels = datasets.load_digits(return_X_y=True)
    images = (pixels / 16).astype("float32").reshape(-1, 1, 8, 8)
    train_images, test_images, train_labels, test_labels = model_selection.train_test_split(
        images, labels.astype("int64"), test_size=test_share, stratify=labels, random_state=seed
    )
    return Digits(
        pyqref.from_numpy(train_images),
        pyqref.from_numpy(train_labels),
        pyqref.from_numpy(test_images),
        pyqref.from_numpy(test_labels),
    )
