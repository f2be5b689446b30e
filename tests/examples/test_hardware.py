"""The layer in Verilog and in C, and the fault that is planted in the Verilog."""

from __future__ import annotations

import shutil

import pytest
from examples.torch_twin import EXAMPLES

from pyqref.cli import main

FOLDER = EXAMPLES / "hardware"


@pytest.fixture(scope="module")
def run():
    """The example as a module."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("hardware_example", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def vectors(run, tmp_path_factory):
    """The golden vectors, and what the manifest says of the layer."""
    folder = tmp_path_factory.mktemp("hardware") / "vectors"
    return folder, run.write_vectors(folder)


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog (iverilog)")
def test_verilog_equals_the_vectors_and_a_planted_fault_is_named(run, vectors, capsys):
    """Every output and accumulator; ties that go up are told apart from ties away from zero."""
    folder, layer = vectors
    got = folder.parent / "got"
    assert "PASS: 512 of 512 outputs are equal" == run.simulate(layer, folder, got)
    assert 0 == main(["verify", str(folder), "--got", str(got)])
    told = capsys.readouterr().out
    assert "The one array inside a layer is the same.\nThe one layer gives the same.\n" == told
    assert "FAIL: 499 of 512 outputs are equal" == run.simulate(layer, folder, got, "-DHALF_UP")
    assert 1 == main(["verify", str(folder), "--got", str(got)])
    told = capsys.readouterr().out
    assert "They part at fc" in told
    assert "  tflite-ruy: TFLite's optimized kernels" in told
    assert "fc: 13 of the 13 outputs that differ lie on a tie of the last rounding." in told


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler (cc)")
def test_c_equals_the_vectors(run, vectors):
    """Without a warning, in C99."""
    folder, _ = vectors
    assert "PASS: 512 of 512 outputs are equal" == run.run_in_c(folder, folder.parent / "layer")
