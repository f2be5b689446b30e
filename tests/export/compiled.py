"""C programs of exported models: compiled with all warnings and sanitizers, run on bytes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["COMPILERS", "EMULATED", "compiled", "results"]

#: What there is of the compilers that the documentation names.
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
#: Compilers for ARM whose programs qemu runs, and what runs them.
EMULATED = {
    compiler: runner
    for compiler, runner in {
        "aarch64-linux-gnu-gcc": "qemu-aarch64-static",
        "arm-linux-gnueabihf-gcc": "qemu-arm-static",
    }.items()
    if shutil.which(compiler) and shutil.which(runner)
}
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
SANITIZED = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

MAIN = """
#include <stdio.h>
#include "{name}.h"
{rooms}
int main(void)
{{
    while ({read}) {{
        if ({name}_run({names}))
            return 1;
        {write}
    }}
    return 0;
}}
"""


def compiled(made: Any, compiler: str = "gcc", options: list[str] = SANITIZED) -> Path:
    """A program that reads inputs until there are no more, and writes the outputs of each."""
    source = Path(made.source)
    name = source.stem
    sizes = _sizes(made)
    rooms = "\n".join(f"static uint8_t {each}[{size}];" for each, size in sizes.items())
    ends = {kind: [each for each in sizes if each.startswith(kind)] for kind in ("in", "out")}
    read = " && ".join(f"fread({each}, sizeof {each}, 1, stdin) == 1" for each in ends["in"])
    write = " ".join(f"fwrite({each}, sizeof {each}, 1, stdout);" for each in ends["out"])
    main = source.with_name(f"{name}_main.c")
    names = ", ".join(sizes)
    main.write_text(MAIN.format(name=name, rooms=rooms, read=read, write=write, names=names))
    program = source.with_suffix(f".{compiler}")
    if compiler == "clang":  # whose optimizer takes three times as long
        options = ["-O0" if each == "-O1" else each for each in options]
    command = [compiler, *STRICT, *options, str(source), str(main), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def results(made: Any, program: Path, *inputs: np.ndarray, runner: str = "") -> list[np.ndarray]:
    """The bytes of each output for inputs ``(runs, ...)``, one row for each run."""
    command = [runner, str(program)] if runner else [str(program)]
    rows = [np.ascontiguousarray(each, np.uint8).reshape(len(each), -1) for each in inputs]
    given = np.concatenate(rows, axis=1).tobytes()
    run = subprocess.run(command, input=given, capture_output=True, check=True)
    sizes = [size for name, size in _sizes(made).items() if name.startswith("out")]
    table = np.frombuffer(run.stdout, np.uint8).reshape(len(rows[0]), sum(sizes))
    return np.split(table, np.cumsum(sizes)[:-1], axis=1)


def _sizes(made: Any) -> dict[str, int]:
    """Return the bytes of each input and output, as the header says."""
    name = Path(made.source).stem.upper()
    found = re.findall(rf"#define {name}_(\w+)_SIZE (\d+)", Path(made.header).read_text())
    return {end.lower(): int(size) for end, size in found}
