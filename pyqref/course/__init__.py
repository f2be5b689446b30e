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

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
