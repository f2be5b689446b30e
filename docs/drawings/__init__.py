"""Drawings of the pages: one function a figure, one file a chapter or a part of the site.

Each function draws with ``pyqref.plot`` in the light theme and returns the figure. The directive
``drawing`` shows it in both themes, wide and narrow; numbers come from pyqref, not from the file.
"""
