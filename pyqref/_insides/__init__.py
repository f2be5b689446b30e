"""Tricks that rely on internals of Python, NumPy and the C library, each in its own file.

Each file says what it does, why (with what it gains), and what happens where the inside that it
touches is absent: results are the same there, calls are slower or messages say less. The tests in
``tests/insides`` take the tricks away one by one.

======================  ===============================================================
:mod:`.stack`           the frames of callers: paths of layers, lines of users
:mod:`.bytecode`        the instruction that a frame runs
:mod:`.code_objects`    a function that runs other code for a while, or takes other arguments
:mod:`.numpy_errors`    NumPy's context variable for what it warns of
:mod:`.c_heap`          how GNU's C library keeps memory that was freed
:mod:`.openmp_waiting`  how long a thread of GNU's OpenMP waits awake
======================  ===============================================================
"""
