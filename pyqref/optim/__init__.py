"""Optimisers: how parameters follow their gradients. Begin with :mod:`.optimizer`."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from . import lr_scheduler as lr_scheduler
from .adam import Adam as Adam
from .adam import AdamW as AdamW
from .optimizer import Optimizer as Optimizer
from .sgd import SGD as SGD

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {})

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]
