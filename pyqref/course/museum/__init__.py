"""A museum of bugs: what quantization libraries got wrong, as changes of single functions.

``pyqref museum`` shows it; ``pyqref course grade-tests FILE`` plants each bug and says which of
them the tests in a file find.
"""

from __future__ import annotations

from .bug import Bug
from .grading import Grade, grade_tests
from .layers import LAYERS
from .ranges import RANGES
from .rounding import ROUNDING
from .showing import picture, told

__all__ = ["Bug", "Grade", "bugs", "grade_tests", "picture", "told"]


def bugs() -> dict[str, Bug]:
    """All bugs by their names.

    Examples
    --------
    >>> len(bugs()), list(bugs())[0]
    (34, 'half-away')
    """
    return {each.name: each for each in (*ROUNDING, *RANGES, *LAYERS)}
