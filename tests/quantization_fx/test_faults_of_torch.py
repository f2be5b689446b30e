"""Faults of graph mode in torch 2.13, as the errata tell them: its answers, and pyqref's."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import pyqref


class Library:
    """The same names of either library."""

    def __init__(self, root: Any) -> None:
        self.root, self.nn, self.F = root, root.nn, root.nn.functional
        self.fx = importlib.import_module(f"{root.__name__}.ao.quantization.quantize_fx")
        self.q = root.ao.quantization
        self.configs = importlib.import_module(f"{root.__name__}.ao.quantization.backend_config")
        self.custom = importlib.import_module(f"{root.__name__}.ao.quantization.fx.custom_config")

    def model(self, forward: Callable[..., Any], **parts: Any) -> Any:
        """A model in evaluation mode with this ``forward``."""
        made = type("Model", (self.nn.Module,), {"forward": forward})()
        for name, part in parts.items():
            setattr(made, name, part)
        return made.eval()

    def identity(self) -> Any:
        """A linear layer that gives its input."""
        layer = self.nn.Linear(1, 1)
        layer.weight.data.fill_(1.0)
        layer.bias.data.fill_(0.0)
        return layer

    def numbers(self) -> Any:
        return self.root.tensor([[-1.0], [1.0]])

    def converted(self, model: Any, *inputs: Any, mapping: Any = None, custom: Any = None) -> Any:
        """Prepared, calibrated, converted."""
        mapping = mapping or self.q.get_default_qconfig_mapping("fbgemm")
        prepared = self.fx.prepare_fx(model, mapping, inputs, prepare_custom_config=custom)
        prepared(*inputs)
        return self.fx.convert_fx(prepared)


def tenths(tensor: Any) -> list[float]:
    """Elements to one place, the zero without a sign."""
    return [round(each, 1) + 0.0 for each in tensor.flatten().tolist()]


def is_reference(module: Any) -> bool:
    return "reference" in type(module).__module__


def alpha(t: Library) -> Any:
    model = t.model(lambda m, x: t.root.add(m.a(x), x, alpha=2), a=t.identity())
    return tenths(t.converted(model, t.numbers())(t.numbers()))


def other_by_name(t: Library) -> Any:
    model = t.model(lambda m, x: t.root.add(m.a(x), other=x), a=t.identity())
    return tenths(t.converted(model, t.numbers())(t.numbers()))


def called_twice(t: Library) -> Any:
    model = t.model(lambda m, x: t.F.relu(m.a(x)) + m.a(x), a=t.identity())
    return tenths(t.fx.fuse_fx(model)(t.numbers()))


def reshaped(t: Library) -> Any:
    model = t.model(lambda m, x: m.a(x.reshape(-1, 1)), a=t.identity())
    return is_reference(t.converted(model, t.numbers()).a)


def standalone(t: Library) -> Any:
    custom = t.custom.PrepareCustomConfig()
    inner = t.custom.PrepareCustomConfig()
    custom.set_standalone_module_name("a", None, (t.numbers(),), inner, None)
    model = t.model(lambda m, x: m.b(m.a(x)), a=t.nn.Sequential(t.identity()), b=t.identity())
    return is_reference(t.converted(model, t.numbers(), custom=custom).b)


def only_linear(value: bool) -> Callable[[Library], Any]:
    def experiment(t: Library) -> Any:
        mapping = t.q.get_default_qconfig_mapping("fbgemm") if value else t.q.QConfigMapping()
        qconfig = None if value else t.q.get_default_qconfig("fbgemm")
        mapping.set_object_type(t.nn.Linear, qconfig)
        model = t.nn.Sequential(t.identity(), t.nn.ReLU()).eval()
        made = t.converted(model, t.numbers(), mapping=mapping)
        return any(".quantized" in type(each).__module__ for each in made.modules())

    return experiment


def convolution(**arguments: Any) -> Callable[[Library], Any]:
    def experiment(t: Library) -> Any:
        weight = t.nn.Parameter(t.root.ones(1, 1, 1, 1))
        model = t.model(lambda m, x: t.F.conv2d(x, m.w, **arguments), w=weight)
        return tenths(t.converted(model, t.root.ones(1, 1, 1, 1))(t.root.ones(1, 1, 1, 1)))

    return experiment


def quantized_output(t: Library) -> Any:
    custom = t.custom.PrepareCustomConfig().set_output_quantized_indexes([0])
    model = t.model(lambda m, x: t.root.sin(x))
    return t.converted(model, t.numbers(), custom=custom)(t.numbers()).is_quantized


def floor_division(t: Library) -> Any:
    model = t.model(lambda m, x: m.a(x) // 2, a=t.identity())
    return tenths(t.converted(model, t.numbers())(t.numbers()))


def split(t: Library) -> Any:
    model = t.model(lambda m, x: t.root.cat(t.root.split(m.a(x), 1), 1), a=t.identity())
    return tenths(t.converted(model, t.numbers())(t.numbers()))


def transposed(t: Library) -> Any:
    """The outputs of a transposed convolution from 2 to 4 channels, under engine x86."""
    layer = t.nn.ConvTranspose2d(2, 4, 1, bias=False)
    weight = t.root.tensor([[1.0, 0.5, 0.25, 0.125], [0.0, 0.0, 0.0, 0.0]])
    layer.weight.data.copy_(weight.reshape(2, 4, 1, 1))
    x = t.root.ones(1, 2, 1, 1)
    mapping = t.q.get_default_qconfig_mapping("x86")
    made = t.converted(t.model(lambda m, x: m.a(x), a=layer), x, mapping=mapping)
    return tenths(made(x))


def constraint_on_a_weight(t: Library) -> Any:
    """Whether a layer is observed whose weight's range is wider than the back end allows."""
    b = t.configs
    allowed = b.DTypeWithConstraints(t.root.qint8, -127, 127)
    types = b.DTypeConfig(t.root.quint8, t.root.quint8, allowed, t.root.float)
    pattern = b.BackendPatternConfig(t.nn.Linear).add_dtype_config(types)
    pattern.set_root_module(t.nn.Linear)
    pattern.set_reference_quantized_module(t.root.ao.nn.quantized.reference.Linear)
    backend = b.BackendConfig("mine").set_backend_pattern_config(pattern)
    mapping = t.q.QConfigMapping().set_global(t.q.default_qconfig)
    model = t.nn.Sequential(t.identity()).eval()
    made = t.fx.prepare_fx(model, mapping, (t.numbers(),), backend_config=backend)
    return any("activation_post_process" in node.name for node in made.graph.nodes)


#: What torch 2.13 gives, or the error that it raises; what pyqref gives.
EXPERIMENTS: list[tuple[Callable[[Library], Any], Any, Any]] = [
    (alpha, [-2.0, 2.0], [-3.0, 3.0]),
    (other_by_name, AssertionError, [-2.0, 2.0]),
    (called_twice, [0.0, 2.0], [-1.0, 2.0]),
    (reshaped, True, False),
    (standalone, True, False),
    (only_linear(True), True, False),
    (only_linear(False), LookupError, True),
    (convolution(), RuntimeError, [1.0]),
    (convolution(padding=0), RuntimeError, [1.0]),
    (quantized_output, False, True),
    (floor_division, NotImplementedError, [-1.0, 0.0]),
    (split, AttributeError, [-1.0, 1.0]),
    (transposed, None, [1.0, 0.5, 0.3, 0.1]),
    (constraint_on_a_weight, True, False),
]
NAMES = [f"{index}-{each[0].__name__}" for index, each in enumerate(EXPERIMENTS)]


@pytest.fixture
def engine() -> Iterator[str]:
    """What the answers above were measured with."""
    before = pyqref.backends.quantized.engine
    pyqref.backends.quantized.engine = "x86"
    yield "x86"
    pyqref.backends.quantized.engine = before


@pytest.mark.parametrize(("experiment", "theirs", "ours"), EXPERIMENTS, ids=NAMES)
def test_pyqref(experiment: Any, theirs: Any, ours: Any, engine: str) -> None:
    """The faults are not copied."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ours == experiment(Library(pyqref))


@pytest.mark.parametrize(("experiment", "theirs", "ours"), EXPERIMENTS, ids=NAMES)
def test_torch(experiment: Any, theirs: Any, ours: Any) -> None:
    """They are there: what the errata say of torch 2.13."""
    torch = pytest.importorskip("torch", minversion="2.13", reason="the extra 'parity' has torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if torch.backends.quantized.engine != "x86":
            pytest.skip("this processor has another default engine")
        library = Library(torch)
        if isinstance(theirs, type):
            with pytest.raises(theirs):
                experiment(library)
        elif theirs is None:
            assert ours != experiment(library)
        else:
            assert theirs == experiment(library)
