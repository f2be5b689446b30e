"""A layer in Verilog and in C, tested with golden vectors.

Writes the vectors of one linear layer in the arithmetic of TFLite, simulates the hardware with
Icarus Verilog, lets ``pyqref verify`` judge what it gave, and does the same with a fault planted
in the requantizer. Then it compiles and runs the layer in C. The vectors, and what was computed,
stay in a folder that the last line names.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import OrderedDict
from pathlib import Path

import pyqref
from pyqref import nn

HERE = Path(__file__).resolve().parent
ROWS, LENGTH, COLUMNS = 64, 16, 8


def made() -> tuple[nn.Module, pyqref.Tensor]:
    """A quantized linear layer, half of whose scales are powers of two: those meet ties often."""
    pyqref.manual_seed(0)
    scales = pyqref.tensor([2.0**-7] * 4 + [0.0061, 0.0047, 0.0083, 0.0029], dtype=pyqref.float64)
    zero_points = pyqref.zeros(COLUMNS, dtype=pyqref.int64)
    weight = pyqref.randn(COLUMNS, LENGTH) * 0.2
    weight = pyqref.quantize_per_channel(weight, scales, zero_points, 0, pyqref.qint8)
    layer = nn.quantized.Linear(LENGTH, COLUMNS)
    layer.set_weight_bias(weight, pyqref.randn(COLUMNS))
    layer.scale, layer.zero_point = 2.0**-6, 128
    quantize = nn.quantized.Quantize(2.0**-4, 117, pyqref.quint8)
    model = nn.Sequential(OrderedDict(quant=quantize, fc=layer))
    return model, pyqref.randn(ROWS, LENGTH)


def write_vectors(folder: Path) -> dict:
    """Write the vectors; return what the manifest says of the layer."""
    model, x = made()
    pyqref.export.vectors(model, x, folder, format=("readmemh", "c"), arithmetic="tflite")
    layers = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["layers"]
    return next(layer for layer in layers if layer["path"] == "fc")


def simulate(layer: dict, vectors: Path, got: Path, *options: str) -> str:
    """Compile and run the hardware; what it computes goes into files of the same names."""
    got.mkdir(exist_ok=True)
    ends = layer["clamp"]
    values = {
        "ROWS": ROWS,
        "LENGTH": LENGTH,
        "COLUMNS": COLUMNS,
        "X_ZERO_POINT": layer["inputs"][0]["zero_point"],
        "Y_ZERO_POINT": layer["output"]["zero_point"],
        "LOW": ends[0],
        "HIGH": ends[1],
    }
    program = str(got / "simulation")
    sources = [str(HERE / name) for name in ("layer_tb.v", "mac_array.v", "requantize.v")]
    parameters = [f"-Player_tb.{name}={value}" for name, value in values.items()]
    compiler = ["iverilog", "-g2005", "-Wall", *options, *parameters, "-o", program, *sources]
    subprocess.run(compiler, check=True)
    arrays = {**layer["parameters"], **layer["stages"]}
    arrays = {"input": layer["inputs"][0], "output": layer["output"], **arrays}
    files = {name: arrays[name]["files"]["readmemh"] for name in arrays}
    given = [f"+{name}={vectors / file}" for name, file in files.items()]
    given += [f"+got_{name}={got / files[name]}" for name in ("accumulator", "output")]
    run = subprocess.run(["vvp", "-n", program, *given], check=True, capture_output=True, text=True)
    return run.stdout.strip().splitlines()[-1]


def verify(vectors: Path, got: Path) -> str:
    """Return the output of ``pyqref verify``."""
    command = [sys.executable, "-m", "pyqref", "verify", str(vectors), "--got", str(got)]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def run_in_c(vectors: Path, program: Path) -> str:
    """Compile and run the layer in C."""
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"]
    source = [f"-I{vectors}", str(HERE / "layer.c"), "-o", str(program)]
    subprocess.run(["cc", *strict, *source], check=True)
    run = subprocess.run([str(program)], check=False, capture_output=True, text=True)
    return run.stdout.strip()


def say(*words: str) -> None:
    """Print a line."""
    sys.stdout.write(" ".join(words) + "\n")


def main() -> None:
    """Run everything that the installed tools allow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="default: a temporary folder")
    given = parser.parse_args().out
    out = Path(tempfile.mkdtemp(prefix="pyqref-hardware-") if given is None else given).absolute()
    out.mkdir(parents=True, exist_ok=True)
    vectors = out / "vectors"
    layer = write_vectors(vectors)
    if shutil.which("iverilog") is None:
        say("Icarus Verilog is not installed: apt-get install iverilog")
    else:
        say("Verilog:", simulate(layer, vectors, out / "got"))
        say(verify(vectors, out / "got"))
        say("Verilog, ties rounded up:", simulate(layer, vectors, out / "fault", "-DHALF_UP"))
        say(verify(vectors, out / "fault"))
    if shutil.which("cc") is None:
        say("There is no C compiler: apt-get install gcc")
    else:
        say("C:", run_in_c(vectors, out / "layer"))
    say("Files:", str(out))


if __name__ == "__main__":
    main()
