"""``python -m pyqref.run script.py`` is the command ``pyqref run script.py``."""

import sys

from .command import main

sys.exit(main())
