"""Build of the kernels; everything else about the package stands in pyproject.toml.

Each operation is one Cython body, translated to C once and compiled once for each instruction set;
``pyqref/_kernels/table.py`` lists both. An instruction set that the compiler does not know, and
OpenMP where it is missing, are left out with a message; the package then works with what is there.
Without a C compiler it is plain NumPy, and says so when it is imported. ``PYQREF_BUILD`` names the
only kernels to build, with commas between them, for those who wait for the compiler often;
``reference`` builds nothing: plain NumPy only.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import runpy
import shlex
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CompileError, LinkError, PlatformError

KERNELS = Path("pyqref/_kernels")
TABLE = SimpleNamespace(**runpy.run_path(str(KERNELS / "table.py")))
COMPILED = [each for each in TABLE.KERNELS.values() if each.name != "reference"]
#: Compiled once, for any processor.
COMMON = ("_cpu", "_outputs", "_parallel", "memory")
TRANSLATED = Path("build/cython")
#: The compiler's own headers for one instruction set are a third of the work on a small module.
HEADERS = KERNELS / "system_headers.h"
#: Kernels are C by other means; Python that is compiled as it stands means what it says.
DIRECTIVES: dict[str, dict[str, bool]] = {
    ".pyx": {
        "boundscheck": False,
        "wraparound": False,
        "cdivision": True,
        "initializedcheck": False,
        "binding": False,  # functions of C, without what makes them look like Python's
    },
    ".py": {"annotation_typing": False, "auto_pickle": False},
}
#: Where the functions begin that Cython adds to each module: they set it up, parse arguments and
#: raise errors. To optimize them as kernels took more than half a second a module.
ADDED_BY_CYTHON = "/* #### Code section: init_module ### */\n"
OPTIMIZED_LESS = """\
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize ("O1")
#endif
"""
#: A module for one instruction set: the C that Cython makes of an operation, behind the header
#: that defines the primitives for that set.
MODULE = """\
#include "system_headers.h"
#define KERNEL "{name}"
#define PyInit_kernel PyInit_{name}
#include "one_set.h"
#include "simd/{name}.h"
#include "kernel.c"
"""

# The same bits from every kernel: no fast-math, and a fused multiply-add only where it is
# written. Microsoft's compiler keeps both by /fp:precise.
C_FLAGS = shlex.split(os.environ.get("CFLAGS", ""))
GCC_FLAGS = ["-ffp-contract=off", "-fvisibility=hidden", "-Wno-unused-function"]
if not any(each.startswith("-g") for each in C_FLAGS):
    GCC_FLAGS.append("-g0")  # Python's own flags ask for debugging symbols: 48 MB of them
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
GCC_PROGRAM = "#if !defined(__GNUC__) || defined(__clang__)\n#error\n#endif\n"
PYTHON_PROGRAM = f"#include <Python.h>\n{EMPTY_PROGRAM}"

#: A header in quotes, as opposed to one of the system.
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.MULTILINE)

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


def instruction_sets(machines: set[str]) -> list[Any]:
    """Kernels that all of the machines may run."""
    return [each for each in COMPILED if not each.machines or machines <= set(each.machines)]


def chosen_kernels() -> set[str]:
    """Kernels that ``PYQREF_BUILD`` names; empty where all are wanted."""
    chosen = set(filter(None, os.environ.get("PYQREF_BUILD", "").split(",")))
    unknown = chosen - set(TABLE.KERNELS)
    if unknown:
        known = ", ".join(TABLE.KERNELS)
        raise SystemExit(f"PYQREF_BUILD names {sorted(unknown)}; kernels are {known}")
    return chosen


def extension(name: str, source: Path) -> Extension:
    """One compiled module; its flags are added once the compiler is known."""
    return Extension(
        name,
        [str(source)],
        include_dirs=[str(KERNELS), numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
    )


def extensions() -> list[Extension]:
    """Every module that this machine's processors may use."""
    wanted = chosen_kernels()
    if wanted == {"reference"}:
        return []
    modules = [extension(f"pyqref._kernels.{name}", KERNELS / f"{name}.pyx") for name in COMMON]
    modules += [extension(name, Path(name.replace(".", "/") + ".py")) for name in TABLE.PYTHON]
    sets = [
        each for each in instruction_sets(target_machines()) if each.name in wanted or not wanted
    ]
    for operation in TABLE.OPERATIONS:
        modules += [
            extension(f"pyqref._kernels.{operation}.{name}", KERNELS / operation / "kernel.pyx")
            for name in dict.fromkeys(each.module(operation) for each in sets)
        ]
    return modules


def optimization(module: str) -> list[str]:
    """How gcc and clang optimize a module, unless ``CFLAGS`` says it."""
    operation = TABLE.OPERATIONS.get(module.split(".")[-2])
    is_told = any(each.startswith("-O") for each in C_FLAGS)
    return [] if is_told else (operation.optimize if operation else "-O3").split()


def translate(modules: list[Extension]) -> None:
    """Let each module be compiled from the C that Cython makes of its source, once for all."""
    sources = {
        source: ".".join(Path(source).with_suffix("").parts)
        for each in modules
        for source in each.sources
    }
    translated = []
    for suffix, directives in DIRECTIVES.items():
        translated += cythonize(
            [
                extension(name, Path(source))
                for source, name in sources.items()
                if source.endswith(suffix)
            ],
            build_dir=str(TRANSLATED),
            nthreads=0 if sys.platform == "win32" else os.cpu_count() or 1,
            compiler_directives={"language_level": "3", **directives},
        )
    for each in translated:
        optimize_less(Path(each.sources[0]))
    by_name = {each.name: each for each in translated}
    for each in modules:
        each.sources = by_name[sources[each.sources[0]]].sources
        name = each.name.rpartition(".")[2]
        if name in TABLE.KERNELS:
            each.sources = [str(module_for(name, Path(each.sources[0])))]
        each.depends = [str(path) for path in included_by(Path(each.sources[0]))]


def included_by(path: Path) -> set[Path]:
    """Return what a C file includes of ours, headers of headers too: it depends on them."""
    found, left = set(), [path]
    while left:
        at = left.pop()
        for name in INCLUDE.findall(at.read_text(encoding="utf-8")):
            for each in (at.parent / name, KERNELS / name):
                if each.exists() and each not in found:
                    found.add(each)
                    left.append(each)
    return found


def optimize_less(translated: Path) -> None:
    """Tell the compiler which functions of a module no kernel calls."""
    text = translated.read_text(encoding="utf-8")
    if OPTIMIZED_LESS not in text:
        changed = text.replace(ADDED_BY_CYTHON, OPTIMIZED_LESS + ADDED_BY_CYTHON)
        translated.write_text(changed, encoding="utf-8")


def module_for(kernel: str, translated: Path) -> Path:
    """Write the C file that compiles an operation for one instruction set."""
    path = translated.with_name(f"{kernel}.c")
    text = MODULE.format(name=kernel)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


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
            if not is_msvc:
                each.extra_compile_args += optimization(each.name)
            if module == "_parallel":
                self._add_openmp(each, "msvc" if is_msvc else "unix")
        translate(self.extensions)
        if self._compiles(GCC_PROGRAM, [], None):
            self._precompile_headers()
        self.done = 0
        super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        """Compile one module, and say which and how long it took."""
        began = time.monotonic()
        super().build_extension(ext)
        self.done += 1
        seconds = time.monotonic() - began
        if seconds > 0.2:  # else it was there
            self.announce(
                f"[{self.done}/{len(self.extensions)}] {ext.name}: {seconds:.1f} s", logging.INFO
            )

    def _precompile_headers(self) -> None:
        """Read the headers of each instruction set once; GCC looks for what it read beside them."""
        of_sets = {each.name.rpartition(".")[2]: each for each in self.extensions}
        for name in of_sets.keys() & {each for each in TABLE.KERNELS if each != "portable"}:
            module, folder = of_sets[name], TRANSLATED / name
            folder.mkdir(parents=True, exist_ok=True)
            macros = [f"-D{key}={value}" for key, value in module.define_macros]
            flags = [*self._headers(), *macros, *module.extra_compile_args]
            output = ["-x", "c-header", str(HEADERS), "-o", str(folder / f"{HEADERS.name}.gch")]
            self.compiler.spawn([*self.compiler.compiler_so, *flags, *output])
            for each in self.extensions:
                if each.name.endswith(f".{name}"):
                    each.include_dirs.insert(0, str(folder))

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
        """Return True if a program compiles, and links unless ``link_flags`` is None."""
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


class BuildPackage(build_py):
    """Copy the package, and keep what only a source tree can tell of its equations."""

    def run(self) -> None:
        """Search theory, functions and tests for labels, for the pages of courses."""
        super().run()
        source = Path("pyqref/sphinx/equations.py")
        if self.editable_mode or not self.build_lib:
            return
        found = runpy.run_path(str(source), run_name="equations")["found"]()
        kept = Path(self.build_lib) / source.with_suffix(".json")
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found, indent=0), encoding="utf-8")


def text_for_an_index() -> str:
    """README.md without the pictures and links that lead nowhere outside of the repository."""
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r"<picture>.*?</picture>\n\n", "", text, flags=re.DOTALL)
    return re.sub(r"\[([^]]+)\]\((?!https?:)[^)]+\)", r"\1", text)


if __name__ == "__main__":
    setup(
        ext_modules=extensions(),
        cmdclass={"build_ext": BuildKernels, "build_py": BuildPackage},
        long_description=text_for_an_index(),
        long_description_content_type="text/markdown",
    )
