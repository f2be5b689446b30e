"""The pages of classes and functions hold the texts of all parameters."""

import importlib
import inspect
import re
from typing import Any

from docs.extensions import extension

import pyqref

full_parameters = extension("full_parameters")
api_pages = extension("api_pages")

REFERENCE = re.compile(r"As (of|in|for) :")


def entries(subject: Any, title: str = "Parameters") -> dict[str, str]:
    """Each name of a section of a page, with its text."""
    lines = full_parameters.full_text(subject, (inspect.getdoc(subject) or "").splitlines())
    return {
        name: " ".join(line.strip() for line in item.text).strip()
        for found, start, end in full_parameters.sections(lines)
        if found == title
        for item in full_parameters.items(lines[start:end])
        for name in item.names
    }


def test_a_reference_becomes_the_texts_that_it_refers_to() -> None:
    """The quantized layer has the texts of the float one, and its own addition beside them."""
    quantized, float_layer = entries(pyqref.nn.quantized.Conv2d), entries(pyqref.nn.Conv2d)
    assert quantized["stride"] == float_layer["stride"]
    assert quantized["padding"].startswith(float_layer["padding"] + " ``padding`` is kept as")
    assert "one device" in quantized["device"]


def test_references_to_references_are_followed() -> None:
    """An observer refers to another one, which refers to the base class of both."""
    base = entries(pyqref.quantization.UniformQuantizationObserverBase)
    assert entries(pyqref.quantization.HistogramObserver)["eps"] == base["eps"]


def test_a_class_without_parameters_has_those_of_the_class_that_it_names() -> None:
    """``BatchNorm1d`` says: see ``BatchNorm2d``."""
    assert entries(pyqref.nn.BatchNorm1d) == entries(pyqref.nn.BatchNorm2d)


def test_no_reference_is_left() -> None:
    """Every reference in a section of a public docstring leads to a text."""
    seen: set[int] = set()
    left = []
    for package in api_pages.packages():
        module = importlib.import_module(package)
        classes, functions = api_pages.public_names(module, seen)
        for name in classes + functions:
            for title in full_parameters.SECTIONS:
                texts = entries(getattr(module, name), title)
                found = [key for key, text in texts.items() if REFERENCE.match(text)]
                left += [(package, name, title, key) for key in found]
    assert left == []


def test_bases_are_those_that_a_reader_can_look_up() -> None:
    """A private base is passed over for the first of its own bases that has a page."""
    bases = list(pyqref.nn.quantized.Conv2d.__bases__)
    api_pages.documented_bases(None, "", None, None, bases)
    assert bases == [pyqref.nn.Module]


def test_a_page_shows_members_of_private_bases() -> None:
    """``weight`` of a quantized convolution is written in a base that has no page."""
    page = api_pages.class_page("pyqref.nn.quantized", "Conv2d")
    hidden = page.partition(":inherited-members: ")[2].partition("\n")[0].split(", ")
    homes = [each.__name__ for each in pyqref.nn.quantized.Conv2d.__mro__ if "weight" in vars(each)]
    assert homes
    assert not set(homes) & set(hidden)
    assert "Module" in hidden
