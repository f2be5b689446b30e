"""``torch`` in a process that was spawned by one with the alias: installs the alias there."""

from pyqref.run.alias import install_as_torch

if __name__ == "torch":  # not where somebody walks through the packages of pyqref
    install_as_torch()
