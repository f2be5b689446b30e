"""Golden vectors: what every quantized layer takes and gives, in files for other programs.

Read :mod:`.vectors` (what is kept of a layer), :mod:`.stages` (the names of what lies between input
and output), :mod:`.taking` (a model runs, and its layers are taken down), :mod:`.manifest` (the
form of ``manifest.json``, with its schema), :mod:`.hexadecimal` and :mod:`.c_header` (forms for
hardware and C), :mod:`.folder` (all of it, or nothing), :mod:`.verifying` (what a device gave).
"""

from __future__ import annotations
