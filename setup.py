"""Build of the kernels; everything else about the package stands in pyproject.toml.

Each kernel is one Cython body compiled once for each instruction set. An instruction
set that the compiler does not know, and OpenMP where it is missing, are left out with
a message; the package then works with what is there. Without a C compiler it is plain NumPy, and
says so when it is imported. ``PYQREF_BUILD`` names the only kernels
to build, with commas between them, for those who wait for the compiler often; ``reference``
builds nothing: plain NumPy only.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError, PlatformError

KERNELS = Path("pyqref/_kernels")
OPERATIONS = (
    "channels",
    "elementwise",
    "fake_quantize",
    "normalization",
    "observe",
    "pooling",
    "qconv",
    "qgemm",
    "quantize",
    "recurrent",
    "resize",
    "windows",
)
PRODUCTS = ("qconv", "qgemm", "recurrent")


@dataclass(frozen=True)
class InstructionSet:
    """An instruction set: where it exists, what compilers call it, what it is for."""

    name: str
    machines: tuple[str, ...] | None
    gcc: tuple[str, ...] = ()
    msvc: tuple[str, ...] | None = ()
    operations: tuple[str, ...] = OPERATIONS


X86 = ("x86_64", "amd64")
ARM = ("aarch64", "arm64")
AVX512 = ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl")
AVX512VNNI = ("-mavx2", "-mfma", *AVX512, "-mavx512vnni")
# Compilers copy 32 bytes at a time unless told that 64 are as good, as they are where tiles are.
AMX = (*AVX512VNNI, "-mamx-tile", "-mamx-int8", "-mprefer-vector-width=512")
INSTRUCTION_SETS = (
    InstructionSet("portable", None),
    InstructionSet("avx2", X86, ("-mavx2", "-mfma"), ("/arch:AVX2",)),
    InstructionSet("avxvnni", X86, ("-mavx2", "-mfma", "-mavxvnni"), ("/arch:AVX2",)),
    InstructionSet("avx512vnni", X86, AVX512VNNI, ("/arch:AVX512",)),
    InstructionSet("amx", X86, AMX, None, PRODUCTS),
    InstructionSet("neon_dotprod", ARM, ("-march=armv8.2-a+dotprod",), None),
    InstructionSet("neon_i8mm", ARM, ("-march=armv8.2-a+dotprod+i8mm",), None),
)

# The same bits from every kernel: no fast-math, and a fused multiply-add only where it is
# written. Microsoft's compiler keeps both by /fp:precise.
C_FLAGS = shlex.split(os.environ.get("CFLAGS", ""))
GCC_FLAGS = ["-ffp-contract=off", "-fvisibility=hidden", "-Wno-unused-function"]
if not any(each.startswith("-O") for each in C_FLAGS):
    GCC_FLAGS.append("-O3")
MSVC_FLAGS = ["/O2", "/fp:precise"]

OPENMP_FLAGS = {
    "msvc": [(["/openmp"], [])],
    "unix": [
        (["-fopenmp"], ["-fopenmp"]),
        (["-Xpreprocessor", "-fopenmp"], ["-lomp"]),  # Apple's clang with Homebrew's libomp
    ],
}
OPENMP_PROGRAM = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
EMPTY_PROGRAM = "int main(void) { return 0; }\n"
PYTHON_PROGRAM = f"#include <Python.h>\n{EMPTY_PROGRAM}"

#: Read by ``pyqref/_kernels/uncompiled.py`` when the package is imported.
NO_COMPILER = "no_compiler.txt"
ADVICE = (
    "no C compiler with Python's headers was found when it was installed; install them (Debian: "
    "apt install gcc python3-dev; macOS: xcode-select --install; Windows: the Build Tools for "
    "Visual Studio) and then pyqref again"
)


def target_machines() -> set[str]:
    """Processors that are compiled for: more than one in a universal build for macOS."""
    flags = os.environ.get("ARCHFLAGS", "").split()
    named = {flag for flag in flags if flag in ("arm64", "x86_64")}
    if named:
        return named
    build = os.environ.get("_PYTHON_HOST_PLATFORM") or sysconfig.get_platform()
    known = ("x86_64", "amd64", "aarch64", "arm64")
    return {each for each in known if each in build.lower()} or {platform.machine().lower()}


def instruction_sets(machines: set[str]) -> list[InstructionSet]:
    """Those that all of the machines know."""
    return [
        each for each in INSTRUCTION_SETS if each.machines is None or machines <= set(each.machines)
    ]


def chosen_kernels() -> set[str]:
    """Kernels that ``PYQREF_BUILD`` names; empty where all are wanted."""
    chosen = set(filter(None, os.environ.get("PYQREF_BUILD", "").split(",")))
    unknown = chosen - {"reference"} - {each.name for each in INSTRUCTION_SETS}
    if unknown:
        raise SystemExit(
            f"PYQREF_BUILD names {sorted(unknown)}; kernels are reference, "
            + ", ".join(each.name for each in INSTRUCTION_SETS)
        )
    return chosen


def extension(module: str) -> Extension:
    """One compiled module; its flags are added once the compiler is known."""
    return Extension(
        f"pyqref._kernels.{module}",
        [str(KERNELS / (module.replace(".", "/") + ".pyx"))],
        include_dirs=[str(KERNELS), numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        depends=[str(path) for path in KERNELS.rglob("*.h")],
    )


def extensions() -> list[Extension]:
    """Every module that this machine's processors may use."""
    wanted = chosen_kernels()
    if wanted == {"reference"}:
        return []
    modules = [extension(name) for name in ("_cpu", "_layout", "_pages", "_parallel", "_tensors")]
    for each in instruction_sets(target_machines()):
        if wanted and each.name not in wanted:
            continue
        modules += [extension(f"{operation}.{each.name}") for operation in each.operations]
    return modules


def translate(modules: list[Extension]) -> None:
    """Let each module be compiled from the C that Cython makes of it."""
    translated = cythonize(
        modules,
        build_dir="build/cython",
        nthreads=0 if sys.platform == "win32" else os.cpu_count() or 1,
        compiler_directives={
            "language_level": "3",
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    )
    by_name = {each.name: each for each in translated}
    for each in modules:
        each.sources = by_name[each.name].sources
        each.depends = by_name[each.name].depends


class BuildKernels(build_ext):
    """Find what the compiler can do, then compile the modules side by side."""

    def finalize_options(self) -> None:
        """Compile as many modules at a time as there are processors, unless told otherwise."""
        super().finalize_options()
        if self.parallel is None:
            self.parallel = os.cpu_count() or 1

    def build_extensions(self) -> None:
        """Add the flags of each module, and leave out what cannot be compiled."""
        if self.extensions and not self._compiles(PYTHON_PROGRAM, self._headers(), None):
            self._leave_all_out()
            return
        is_msvc = self.compiler.compiler_type == "msvc"
        wanted = instruction_sets(target_machines())
        flags = {each.name: each.msvc if is_msvc else each.gcc for each in wanted}
        known = {
            name: extra is not None and self._compiles(EMPTY_PROGRAM, list(extra), None)
            for name, extra in flags.items()
        }
        for name in (name for name, is_known in known.items() if not is_known):
            self.warn(f"the compiler does not know {flags[name]}: kernel {name!r} is left out")
        self.extensions[:] = [
            each for each in self.extensions if known.get(each.name.rpartition(".")[2], True)
        ]
        for each in self.extensions:
            module = each.name.rpartition(".")[2]
            each.extra_compile_args += MSVC_FLAGS if is_msvc else GCC_FLAGS
            each.extra_compile_args += flags.get(module) or ()
            if module == "_parallel":
                self._add_openmp(each, "msvc" if is_msvc else "unix")
        translate(self.extensions)
        super().build_extensions()

    def _headers(self) -> list[str]:
        return [f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")]

    def _leave_all_out(self) -> None:
        """Plain NumPy; the package has a file that tells whoever imports it."""
        self.warn(f"pyqref will be slow: {ADVICE}")
        self.extensions[:] = []
        # An editable install imports the tree itself, which knows that it is one.
        if not self.inplace:
            folder = Path(self.build_lib) / KERNELS
            folder.mkdir(parents=True, exist_ok=True)
            (folder / NO_COMPILER).write_text(ADVICE + "\n", encoding="utf-8")

    def _add_openmp(self, module: Extension, kind: str) -> None:
        for compile_flags, link_flags in OPENMP_FLAGS[kind]:
            if self._compiles(OPENMP_PROGRAM, compile_flags, link_flags):
                module.extra_compile_args += compile_flags
                module.extra_link_args += link_flags
                return
        self.warn(
            "OpenMP was not found, the kernels will use one thread. To use more, install "
            "it (Debian: libgomp1 and gcc, or libomp-dev for clang; macOS: brew install libomp) "
            "and build again."
        )

    def _compiles(
        self, program: str, compile_flags: list[str], link_flags: list[str] | None
    ) -> bool:
        """Whether a program can be compiled, and linked unless the flags for that are None."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "probe.c"
            source.write_text(program)
            try:
                objects = self.compiler.compile(
                    [str(source)], output_dir=folder, extra_postargs=compile_flags
                )
                if link_flags is not None:
                    # A program compiled with a sanitizer is linked with it, too.
                    flags = [each for each in C_FLAGS if each.startswith("-fsanitize")]
                    flags += link_flags
                    self.compiler.link_executable(
                        objects, "probe", output_dir=folder, extra_postargs=flags
                    )
            except (CompileError, LinkError, PlatformError):
                return False
        return True


if __name__ == "__main__":
    setup(ext_modules=extensions(), cmdclass={"build_ext": BuildKernels})
