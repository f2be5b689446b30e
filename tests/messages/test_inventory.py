"""Every recipe of a message is followed by a test, and every name in a message exists."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache

import pytest
from messages.inventory import Message, fragments, messages, trees

import pyqref

#: Recipes that no test can follow, each with the reason.
NOT_FOLLOWED = {
    "build again with `python setup.py build_ext --inplace`, else install pyqref again": (
        "it compiles the package"
    ),
    "install from source with a C compiler": "it compiles the package",
    "use a newer release of pyqref": "there is none of a later format",
    "run: pip install 'pyqref[demo]'": "test_packages_to_install looks at the extra",
    "run: pip install 'pyqref[onnx]'": "test_packages_to_install looks at the extra",
    "run: pip install 'pyqref[testing]'": "test_packages_to_install looks at the extra",
    "export its parts one by one": "it takes a model of 2 GiB",
    "and give a tensor, got": "it says what layers must do",
    "check a solution": "it is the summary of a command",
    "increase model efficiency if you use static quantization.": "it is the text of a report",
    "make sure the qconfig has a per_channel weight observer.": "it is the text of a report",
    "run a script or notebook that is written for torch, unchanged": (
        "it is the summary of a command"
    ),
    "train and quantize two small networks on real images, and write a report": (
        "it is the summary of a command"
    ),
}


def test_every_recipe_is_followed() -> None:
    """A message that says what to do has a test that provokes it and does that."""
    known = fragments() | frozenset(NOT_FOLLOWED)
    missing = [
        f"{message.place}: {recipe}" for message in messages() for recipe in message.without(known)
    ]
    assert [] == missing, "\n".join(["no test follows:", *missing])


def test_what_is_followed_is_said() -> None:
    """No test and no exception outlives the message that it was written for."""
    texts = [message.text for message in messages()]
    given = sorted(fragments() | frozenset(NOT_FOLLOWED))
    stale = [each for each in given if not any(each in text for text in texts)]
    assert [] == stale, "\n".join(["no message says:", *stale])


def test_recipes_are_found() -> None:
    """The rule finds the clauses that begin with an imperative, and only them."""

    def found(text: str) -> list[str]:
        return [text[start:] for start in Message("", text).recipes()]

    assert ["call model.eval() first"] == found("fuse: cannot fuse; call model.eval() first")
    assert ["set it to None"] == found("a bag cannot; set it to None")
    assert ["use a, or leave it", "leave it"] == found("Not here. use a, or leave it")
    assert [] == found("index must be an int, got 3")
    assert [] == found("to() takes a device")
    text = "it failed; call prepare first"
    assert [] == Message("", text).without(frozenset({"call prepare"}))
    assert ["call prepare first"] == Message("", text).without(frozenset({"prepare first"}))


#: Where a name that begins with one of these is looked up.
_ROOTS = {
    "pyqref": "pyqref",
    "nn": "pyqref.nn",
    "F": "pyqref.nn.functional",
    "functional": "pyqref.nn.functional",
    "optim": "pyqref.optim",
    "fx": "pyqref.fx",
    "ops": "pyqref.ops",
    "quantization": "pyqref.quantization",
    "quantized": "pyqref.ops.quantized",
    "quantize_fx": "pyqref.quantization.quantize_fx",
    "copy": "copy",
    "numpy": "numpy",
    "np": "numpy",
    "torch": "torch",
    "safetensors": "safetensors",
}
_DOTTED = re.compile(rf"(?<![\w.:}}/'-])((?:{'|'.join(_ROOTS)})(?:\.[A-Za-z]\w*)+)(?!\w*[{{.]*{{)")


def exists(name: str) -> bool:
    """Return True if a dotted name leads to something."""
    root, *steps = name.split(".")
    found = importlib.import_module(_ROOTS[root])
    if root == "quantized" and steps[0] == "functional":
        found = pyqref.nn.quantized
    for step in steps:
        if not hasattr(found, step):
            try:
                importlib.import_module(f"{found.__name__}.{step}")
            except (ImportError, AttributeError):
                return False
        found = getattr(found, step)
    return True


#: Keys of files, and the name of a type as repr gives it.
_NO_PATHS = {
    *("pyqref.structure", "pyqref.module"),
    *("pyqref.return_types.aminmax", "pyqref.return_types.histogram"),
}
#: Names of the user's own in examples.
_EXAMPLES = {"MyObserver", "new_path"}


@cache
def dotted_names() -> dict[str, str]:
    """The dotted names in messages, and a place of each; but for names that lie in files."""
    found = {each: one.place for one in messages() for each in _DOTTED.findall(one.text)}
    return {name: place for name, place in found.items() if name not in _NO_PATHS}


def test_dotted_names_exist() -> None:
    """pyqref.x.y, nn.X, quantization.Y: what a message names can be reached."""
    ours = {name: place for name, place in dotted_names().items() if not name.startswith("torch.")}
    assert len(ours) > 30
    assert {} == {name: place for name, place in ours.items() if not exists(name)}


def test_names_of_torch_exist() -> None:
    """So can what a message names of torch, where it is installed."""
    pytest.importorskip("torch", minversion="2.13")
    theirs = {name: place for name, place in dotted_names().items() if name.startswith("torch.")}
    assert {} == {name: place for name, place in theirs.items() if not exists(name)}


@cache
def defined() -> frozenset[str]:
    """Names of functions, classes, arguments, variables, attributes and keys of the package."""
    found: set[str] = set(dir(pyqref))
    for tree in trees().values():
        for node in ast.walk(tree):
            for field in ("name", "arg", "id", "attr", "value"):
                value = getattr(node, field, None)
                if isinstance(value, str) and value.isidentifier():
                    found.add(value)
    return frozenset(found)


def test_plain_names_exist() -> None:
    """A name with a low line or two capitals in a recipe is one of the package."""
    name = re.compile(r"(?<![\w.'-])[a-z]+_[a-z_0-9]+\b|\b[A-Z][a-z]+(?:[A-Z]\w+)+")
    unknown = {
        found: message.place
        for message in messages()
        for recipe in message.without(frozenset())
        for found in name.findall(recipe)
        if found not in defined() | _EXAMPLES
    }
    assert {} == unknown
