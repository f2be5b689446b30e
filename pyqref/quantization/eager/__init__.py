"""Quantization module by module: the eager workflow.

Read :mod:`.propagate` (who is quantized how), :mod:`.observe`, :mod:`.prepare`,
:mod:`.convert`; :mod:`.fuse` comes before them, :mod:`.dynamic` and :mod:`.quantize` put
them together.
"""
