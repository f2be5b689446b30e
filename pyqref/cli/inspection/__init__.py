"""Output of ``pyqref inspect`` on a file.

Read :mod:`.contents` (tensors and other values), :mod:`.file` (which container), :mod:`.model`
(whether it fits), :mod:`.text` and :mod:`.page` (how it is shown).
"""
