"""The page is well formed, stands alone, and says what the numbers say."""

from __future__ import annotations

import dataclasses
import io
import json
from html.parser import HTMLParser

import numpy as np
import pytest
from rich.console import Console

from pyqref.demo import conclusions, report
from pyqref.demo.figures import FIGURES, dark, draw
from pyqref.demo.table import table

VOID = {"meta", "img", "source", "br", "hr", "input", "link"}


class Page(HTMLParser):
    """Collects the tags and what they refer to; notes tags that do not match."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.errors, self.references = [], [], []
        self.tags, self.ids, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "srcset", "href"):
                self.references.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}>")

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def page(findings):
    return Page(report.html(findings))


def test_page_is_well_formed(page):
    assert [] == page.errors
    assert [] == page.open
    assert len(page.ids) == len(set(page.ids))


def test_page_refers_only_to_files_beside_it(page):
    files = {figure.file for figure in FIGURES}
    assert files | {dark(file) for file in files} | {"results.json"} == set(page.references)


def test_page_loads_nothing(findings):
    text = report.html(findings)
    assert not any(word in text for word in ("http:", "https:", "//", "url(", "@import", "<script"))


def test_page_is_for_phones_and_for_dark_rooms(findings):
    text = report.html(findings)
    assert 'name="viewport" content="width=device-width' in text
    assert "prefers-color-scheme: dark" in text


def test_every_figure_has_a_caption_with_a_conclusion(findings, page):
    assert len(FIGURES) == page.tags.count("figure") == page.tags.count("figcaption")
    text = report.html(findings)
    for figure in FIGURES:
        assert report.tied(figure.concludes(findings)) in text


def test_every_row_is_in_the_table(findings, page):
    for row in findings.rows:
        assert f"{row.weight_bytes:,}" in page.text


def test_text_of_the_machine_is_escaped(findings, page):
    assert "<fast>" not in report.html(findings)
    assert "a <fast> & small one" in page.text


def test_figures_are_drawn_for_both_kinds_of_page(findings, tmp_path):
    draw(FIGURES[-1], findings, tmp_path)
    for file in (FIGURES[-1].file, dark(FIGURES[-1].file)):
        assert (tmp_path / file).read_bytes().startswith(b"\x89PNG")


def test_results_are_strict_json(findings, tmp_path):
    """An infinite ratio becomes null."""
    report.write_numbers(findings, tmp_path)
    numbers = json.loads((tmp_path / "results.json").read_text())
    assert len(findings.rows) == len(numbers["rows"])
    assert numbers["rows"][-1]["sqnr"] is None


def test_about_bits_follows_the_numbers(findings):
    text = conclusions.about_bits(findings)
    assert "per tensor stays within one point of float32 down to 8 bits" in text
    assert "per channel stays within one point of float32 down to 4 bits" in text
    assert "At 2 bits 15 % per tensor, 30 % per channel" in text


def test_about_bits_tells_what_training_regains(findings):
    bits = {**findings.bits, "trained": {2: 72.4}}
    text = conclusions.about_bits(dataclasses.replace(findings, bits=bits))
    assert "takes 2 bits from 30 % to 72 %." in text


def test_about_channels_follows_the_numbers(findings):
    text = conclusions.about_channels(findings)
    assert "2 of 2 channels have a smaller error" in text
    assert "from 1.50 % to 0.55 %" in text


def test_about_layers_names_the_largest_loss(findings):
    text = conclusions.about_layers(findings)
    assert "12.0 dB, is at <code>conv</code>" in text


def test_about_ranges_says_how_much_was_clipped(findings):
    """A range of 3 beside one of 4 is 75 % as wide."""
    text = conclusions.about_ranges(findings)
    assert "75 % as wide" in text
    assert "shrinks by 25 %" in text


def test_about_ranges_when_nothing_is_clipped(findings):
    values = np.array([0.0, 1.0])
    same = {"MinMax": (0.0, 1.0), "Histogram": (0.0, 1.0)}
    unclipped = dataclasses.replace(findings, ranges={"a": (values, same)})
    assert "nothing worth clipping" in conclusions.about_ranges(unclipped)


def test_about_readings_counts_what_rounding_changes(findings):
    """The text says that rounding changes the reading of the first image, and two are wrong."""
    text = conclusions.about_readings(findings)
    assert "misreads 2 of 3 test images, 1 of them as float32 does" in text
    assert "changes one answer, number 1 of" in text


def test_about_readings_counts_several_changes(findings):
    first, second, third = findings.readings
    twice = dataclasses.replace(findings, readings=[first, second, first, third])
    assert "changes 2 answers, all of them among the 3 closest" in conclusions.about_readings(twice)


def test_about_readings_when_nothing_changes(findings):
    same = dataclasses.replace(findings, readings=findings.readings[1:])
    assert "changes no answer" in conclusions.about_readings(same)


def test_about_logits_sees_a_shift(findings):
    shifted = dataclasses.replace(
        findings, logit_errors={"a": np.full(9, 0.5), "b": np.full(9, 0.9)}
    )
    assert "+0.500, is not zero" in conclusions.about_logits(shifted)


def test_about_table_compares_training_with_calibration(findings):
    assert "98.8 %, 0.30 points above the 98.5 %" in conclusions.about_table(findings)


@pytest.mark.parametrize("width", [80, 99, 100, 160])
def test_table_fits_the_terminal(findings, width):
    """No number is cut, no line is longer than the terminal."""
    console = Console(width=width, file=io.StringIO())
    console.print(table(findings, width))
    printed = console.file.getvalue()
    assert max(map(len, printed.splitlines())) <= width
    assert "…" not in printed
    assert len(findings.rows) == printed.count("99.00") + printed.count("96.00")
