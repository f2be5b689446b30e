"""A museum of bugs: what quantization libraries got wrong, as changes of single functions.

``pyqref museum`` shows it; ``pyqref course grade-tests FILE`` plants each bug and says which of
them the tests in a file find.
"""

from __future__ import annotations

from .bug import Bug
from .grading import Grade, grade_tests
from .hall import bugs
from .showing import picture, told

__all__ = ["Bug", "Grade", "bugs", "grade_tests", "picture", "told"]
