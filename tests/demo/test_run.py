"""The whole demo, at its smallest."""

from __future__ import annotations

import dataclasses
import json

import pytest

from pyqref.demo.findings import Findings
from pyqref.demo.plan import Plan
from pyqref.demo.run import run


def without_latency(findings: Findings):
    """The numbers that must not change from run to run."""
    numbers = findings.numbers()
    for row in numbers["rows"]:
        del row["latency"]
    del numbers["environment"]
    return numbers


def test_every_variant_is_measured(tiny_run):
    findings, _, _ = tiny_run
    methods = [row.method for row in findings.rows]
    assert ["float", "fused", *["static"] * 8, "qat"] == methods[:11]
    assert ["float", *["dynamic"] * 3] == methods[11:]
    for row in findings.rows:
        assert {1, 64} == set(row.latency)
        assert row.weight_bytes > 0
        assert (row.quantized_accuracy is None) == (row.method in ("float", "fused"))
        assert (row.fake_accuracy is None) == (row.method != "qat")


def test_int8_takes_less_than_a_third_of_the_bytes(tiny_run):
    findings, _, _ = tiny_run
    whole = findings.row("CNN", "float").weight_bytes
    for row in findings.rows:
        if row.method in ("static", "qat"):
            assert row.weight_bytes < whole / 3


def test_quantized_logits_are_close_to_float(tiny_run):
    """8 bits leave at least 20 dB, an error of a tenth, once the ranges are known.

    The moving averages of quantization-aware training are not, after two steps.
    """
    findings, _, _ = tiny_run
    for row in findings.rows:
        if row.method in ("static", "dynamic"):
            assert row.sqnr > 20, row.name


def test_all_files_are_there(tiny_run):
    _, plan, _ = tiny_run
    manifest = json.loads((plan.out / "manifest.json").read_text())
    assert {"index.html", "results.json"} < set(manifest["files"])
    assert all((plan.out / file).stat().st_size > 0 for file in manifest["files"])
    assert [plan.out] == list(plan.out.parent.iterdir())


def test_table_and_stages_are_printed_plainly(tiny_run):
    """No escape sequences where there is no terminal; one line a stage; the report's place."""
    _, _, printed = tiny_run
    assert "\x1b" not in printed
    for words in ("Train the CNN", "Quantize statically", "LSTM dynamic", "SQNR", "index.html"):
        assert words in printed


def test_same_seed_same_numbers_with_other_threads(tiny_run, tmp_path, capsys):
    findings, plan, _ = tiny_run
    again = run(dataclasses.replace(plan, out=tmp_path / "report", threads=2))
    assert without_latency(findings) == without_latency(again)


def test_an_occupied_folder_is_found_out_before_any_work(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(ValueError, match="mine"):
        run(Plan(out=tmp_path))


def test_interruption_while_drawing_leaves_nothing(tiny_run, tmp_path, monkeypatch):
    findings, plan, _ = tiny_run

    class Known:
        def __init__(self, plan, console):
            pass

        def run(self):
            return findings

    def interrupted(figure, findings, folder):
        (folder / figure.file).write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr("pyqref.demo.run.Study", Known)
    monkeypatch.setattr("pyqref.demo.run.draw", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(dataclasses.replace(plan, out=tmp_path / "report"))
    assert [] == list(tmp_path.iterdir())
