"""A plan as one file of C and its header.

Read :mod:`.source` (the file), :mod:`.calls` (what each step becomes), :mod:`.constants` (its
numbers), and the texts in C: :mod:`.layers`, :mod:`.integer_rounding`, :mod:`.real_rounding`.
"""

__all__: list[str] = []
