"""The path of a module, read off the calls under way."""

from __future__ import annotations

from pyqref import nn
from pyqref.nn import describe_module, module_path


class Tell(nn.Module):
    def forward(self, x):
        return [*x, module_path(self)]


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.ModuleList([Tell()])[0], nn.Sequential(Tell()))
        self.head = Tell()

    def forward(self, x):
        return self.head(self.features(x))


def test_path_of_nested_modules() -> None:
    """The path is the one that leads from the outermost called module."""
    assert ["features.0", "features.1.0", "head"] == Model()([])


def test_path_with_hooks() -> None:
    """Hooks on the way do not change the path."""
    model = Model()
    model.features.register_forward_hook(lambda m, args, out: None)
    model.register_forward_pre_hook(lambda m, args: None)
    assert ["features.0", "features.1.0", "head"] == model([])


def test_path_of_shared_module() -> None:
    """A module in two places has the path of the call."""
    model = Model()
    shared = Tell()
    model.features = nn.Sequential(nn.Sequential(shared), nn.Sequential(shared))
    assert ["features.0.0", "features.1.0", "head"] == model([])


def test_path_of_the_root() -> None:
    """The outermost module, and one that nobody calls, have no path."""
    assert [""] == Tell()([])
    assert "" == module_path(Model())
    assert "Identity" == describe_module(nn.Identity())


def test_path_of_unregistered_module() -> None:
    """A module that its caller does not own starts a path of its own."""

    class Hidden(nn.Module):
        def forward(self, x):
            return Model()(x)

    assert ["features.0", "features.1.0", "head"] == Hidden()([])


def test_describe() -> None:
    """The path and the type, for error messages."""

    class Describe(nn.Module):
        def forward(self, x):
            return describe_module(self)

    assert "0 (Describe)" == nn.Sequential(Describe())(None)
