"""Exercises for a course, and a checker that tells the mistake by its name.

Students write one of the functions of quantization themselves, in plain NumPy::

    from pyqref import course

    course.exercises()                    # what there is
    print(course.describe("requantize"))  # what to write
    course.check("requantize", mine)      # what is wrong with it, and why
    course.check_all(globals())           # all that are answered

A mistake is recognized by a deliberately wrong solution that gives the same numbers in every case;
two mistakes at once by their combination. Where none fits, the checker says where the results are
wrong and by how much. Reading order: :mod:`.exercise`, :mod:`.catalogue`, :mod:`.checking`,
:mod:`.library`, then the exercises themselves.
"""

from __future__ import annotations

from .catalogue import answer as answer
from .catalogue import describe as describe
from .catalogue import exercises as exercises
from .catalogue import get as get
from .catalogue import solution as solution
from .exercise import Case as Case
from .exercise import Exercise as Exercise
from .exercise import Mistake as Mistake
from .grading import Report as Report
from .grading import check as check
from .grading import check_all as check_all
from .grading import check_file as check_file
from .loading import SolutionError as SolutionError
from .result import Failure as Failure
from .result import Result as Result

__all__ = [
    "Case",
    "Exercise",
    "Failure",
    "Mistake",
    "Report",
    "Result",
    "SolutionError",
    "answer",
    "check",
    "check_all",
    "check_file",
    "describe",
    "exercises",
    "get",
    "solution",
]
