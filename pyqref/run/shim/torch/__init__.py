"""``torch`` in a process that was spawned by one with the alias: installs the alias there."""

from pyqref.run.alias import install_as_torch

install_as_torch()
