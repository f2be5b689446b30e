"""``python -m pyqref`` is the command ``pyqref``."""

import sys

from .cli import main

sys.exit(main())
