"""The table of kernels: the operations, and the instruction sets that each is compiled for.

``setup.py`` reads here what to compile, :mod:`.registry` what to call, and the tests what to
compare. An operation is a folder beside this file. Its ``kernel.pyx`` is the one body in Cython,
which is translated to C once and compiled once for each instruction set.

``setup.py`` runs this file by itself, before there is a package: it imports nothing of pyqref.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["KERNELS", "OPERATIONS", "PYTHON", "Kernel", "Operation"]


class Operation(NamedTuple):
    """An operation that has kernels.

    Attributes
    ----------
    name
        Its folder.
    equations
        The modules of :mod:`pyqref.numerics` that define its numbers.
    optimize
        How gcc and clang optimize it, where ``CFLAGS`` does not say.
    """

    name: str
    equations: tuple[str, ...]
    optimize: str = "-O3"


class Kernel(NamedTuple):
    """One way of running every operation.

    Attributes
    ----------
    name
        As given to :func:`pyqref.kernels.use`; of a compiled kernel the name of its header in
        ``simd`` and of its module in the folder of each operation.
    needs
        The feature of the processor that it takes, or None.
    summary
        A line for the table of :func:`pyqref.kernels.show`.
    machines
        Processors that it is compiled for, as Python names them; none named means any.
    gcc
        Flags of gcc and clang.
    msvc
        Flags of Microsoft's compiler; None if that cannot compile it.
    extends
        The kernel whose modules run the operations that this one has no module for.
    operations
        Those that it has a module for.
    """

    name: str
    needs: str | None
    summary: str
    machines: tuple[str, ...] = ()
    gcc: tuple[str, ...] = ()
    msvc: tuple[str, ...] | None = ()
    extends: str = ""
    operations: tuple[str, ...] | None = None

    def module(self, operation: str) -> str:
        """Return the name of the module that runs ``operation``, in the folder of that."""
        has_own = self.operations is None or operation in self.operations
        return self.name if has_own else self.extends


OPERATIONS: dict[str, Operation] = {
    each.name: each
    for each in (
        Operation(
            "activations",
            (
                "exponential",
                "float_activation",
                "float_softmax",
                "logarithm",
                "normal",
                "piecewise",
            ),
            # Long chains of operations: gcc then puts those of two vectors side by side.
            "-O3 -fschedule-insns -fsched-pressure",
        ),
        Operation("attention", ("attention", "float_product")),
        Operation("channels", ("channels", "float_normalization", "moments")),
        Operation("elementwise", ("elementwise",)),
        Operation("fake_quantize", ("fake_quantize", "learnable_fake_quantize")),
        Operation("fgemm", ("float_product",)),
        Operation("normalization", ("normalization",)),
        Operation(
            "observe",
            (
                "fused_observe",
                "histogram",
                "learned_range",
                "moving_average",
                "nested_histogram",
                "squared_error_range",
                "widening_histogram",
            ),
        ),
        Operation("pooling", ("pooling",)),
        # The tile says itself which loops are unrolled: -O3 makes it larger, and no faster.
        Operation("product", ("accumulator", "requantize"), "-O2"),
        Operation("qconv", ("convolution",)),
        Operation("qgemm", ("linear", "matmul", "dynamic")),
        Operation("quantize", ("affine",)),
        Operation("recurrent", ("float_product", "recurrent")),
        Operation("resize", ("interpolate", "float_resize")),
        Operation("tables", ("embedding", "float_embedding", "packed_rows")),
        Operation("windows", ("windows", "float_convolution", "float_depthwise")),
    )
}

# An instruction set that only adds products of integers in another way has its own of these.
_PRODUCTS = ("product", "qconv", "qgemm", "recurrent")
_X86 = ("x86_64", "amd64")
_ARM = ("aarch64", "arm64")
_AVX512 = ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl")
_AVX512VNNI = ("-mavx2", "-mfma", *_AVX512, "-mavx512vnni")
# Compilers copy 32 bytes at a time unless told that 64 are as good, as they are where tiles are.
_AMX = (*_AVX512VNNI, "-mamx-tile", "-mamx-int8", "-mprefer-vector-width=512")

#: From the slowest to the fastest.
KERNELS: dict[str, Kernel] = {
    each.name: each
    for each in (
        Kernel("reference", None, "the equations, plain NumPy"),
        Kernel("portable", None, "compiled, any processor"),
        Kernel(
            "avx2", "avx2", "x86-64 with AVX2 and FMA", _X86, ("-mavx2", "-mfma"), ("/arch:AVX2",)
        ),
        Kernel(
            "avxvnni",
            "avxvnni",
            "x86-64 with AVX2 and AVX-VNNI",
            _X86,
            ("-mavx2", "-mfma", "-mavxvnni"),
            ("/arch:AVX2",),
            extends="avx2",
            operations=_PRODUCTS,
        ),
        Kernel(
            "avx512vnni",
            "avx512vnni",
            "x86-64 with AVX512 and VNNI",
            _X86,
            _AVX512VNNI,
            ("/arch:AVX512",),
        ),
        Kernel("amx", "amx", "x86-64 with AMX-INT8", _X86, _AMX, None, "avx512vnni", _PRODUCTS),
        Kernel(
            "neon_dotprod",
            "dotprod",
            "64-bit ARM with dot products",
            _ARM,
            ("-march=armv8.2-a+dotprod",),
            None,
        ),
        Kernel(
            "neon_i8mm",
            "i8mm",
            "64-bit ARM with mixed-sign dot products",
            _ARM,
            ("-march=armv8.2-a+dotprod+i8mm",),
            None,
            extends="neon_dotprod",
            operations=_PRODUCTS,
        ),
    )
}

#: Modules in Python that are compiled as they stand, with the types of the ``.pxd`` beside them:
#: every operation on a small tensor runs through them. Without a compiler they run as Python.
PYTHON = (
    "pyqref._kernels.layout",
    "pyqref._kernels.tensors",
    "pyqref.tensor.dispatch",
    "pyqref.tensor.usual",
)
