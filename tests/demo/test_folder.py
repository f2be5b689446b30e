"""The report's folder appears whole or not at all, and nothing else is ever replaced."""

from __future__ import annotations

import pytest

from pyqref.demo.folder import MANIFEST, DestinationError, check_destination, report_folder


def write_report(out, text="new"):
    """A report of one file."""
    with report_folder(out) as folder:
        (folder / "index.html").write_text(text)


def write_half(out, error):
    """Begin a report and fail."""
    with report_folder(out) as folder:
        (folder / "index.html").write_text("half")
        raise error


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_report_is_written_with_its_manifest(tmp_path):
    write_report(tmp_path / "report")
    assert ["index.html", MANIFEST] == names(tmp_path / "report")
    assert ["report"] == names(tmp_path)


def test_missing_parents_are_made(tmp_path):
    write_report(tmp_path / "a" / "b" / "report")
    assert (tmp_path / "a" / "b" / "report" / "index.html").is_file()


def test_an_older_report_is_replaced_whole(tmp_path):
    out = tmp_path / "report"
    with report_folder(out) as folder:
        (folder / "old.png").write_text("")
    write_report(out)
    assert ["index.html", MANIFEST] == names(out)
    assert ["report"] == names(tmp_path)


def test_an_empty_folder_is_used(tmp_path):
    (tmp_path / "report").mkdir()
    write_report(tmp_path / "report")
    assert ["index.html", MANIFEST] == names(tmp_path / "report")


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interruption_leaves_nothing(tmp_path, error):
    with pytest.raises(error):
        write_half(tmp_path / "report", error)
    assert [] == names(tmp_path)


def test_an_interruption_leaves_the_older_report(tmp_path):
    out = tmp_path / "report"
    write_report(out, "old")
    with pytest.raises(KeyboardInterrupt):
        write_half(out, KeyboardInterrupt)
    assert "old" == (out / "index.html").read_text()
    assert ["report"] == names(tmp_path)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(DestinationError, match=r"thesis\.tex.*--out"):
        check_destination(tmp_path)
    assert ["thesis.tex"] == names(tmp_path)


def test_a_report_to_which_a_file_was_added_is_refused(tmp_path):
    out = tmp_path / "report"
    write_report(out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(DestinationError, match=r"notes\.txt"):
        write_report(out)
    assert "mine" == (out / "notes.txt").read_text()


def test_a_file_is_refused(tmp_path):
    (tmp_path / "report").write_text("")
    with pytest.raises(DestinationError, match="is not a folder"):
        check_destination(tmp_path / "report")


def test_a_place_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DestinationError, match="file is not a folder that can be written to"):
        check_destination(tmp_path / "file" / "report")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "other", "files": ["index.html"]}'])
def test_a_foreign_manifest_is_no_signature(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(DestinationError):
        check_destination(tmp_path)
