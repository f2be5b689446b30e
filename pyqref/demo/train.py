"""Training: the loop of every tutorial, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pyqref
from pyqref import Tensor, nn, optim
from pyqref.utils.data import DataLoader, TensorDataset

__all__ = ["predict", "train"]


def train(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    *,
    epochs: int,
    lr: float,
    batch_size: int = 64,
    after_epoch: Callable[[float], None] | None = None,
) -> nn.Module:
    """Fit ``model`` with Adam and a learning rate that falls along a cosine.

    Parameters
    ----------
    model
        From images to logits; changed in place.
    images, labels
        `(N, 1, 8, 8)` and `(N,)`.
    epochs
        Passes over the images, at least 1.
    lr
        Learning rate of the first epoch.
    batch_size
        Images a step.
    after_epoch
        Called with the mean loss of each epoch.

    Returns
    -------
    Module
        ``model``, in evaluation mode.
    """
    loader = DataLoader(TensorDataset(images, labels), batch_size=batch_size, shuffle=True)
    optimizer = optim.Adam(model.parameters(), lr=lr)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    model.train()
    for _ in range(epochs):
        losses = []
        for batch, targets in loader:
            loss = nn.functional.cross_entropy(model(batch), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        if after_epoch is not None:
            after_epoch(sum(losses) / len(losses))
    return model.eval()


def predict(model: nn.Module, images: Tensor, batch_size: int = 128) -> Tensor:
    """Logits `(N, 10)` of ``model`` for ``images``; nothing is recorded on the tape."""
    with pyqref.no_grad():
        batches = [model(images[i : i + batch_size]) for i in range(0, len(images), batch_size)]
        return pyqref.cat(batches)
