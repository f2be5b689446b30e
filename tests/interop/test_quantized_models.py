"""Prepared and quantized models of torch: layer by layer the same bits, and back again."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from interop.test_from_torch import close

import pyqref
from pyqref.interop import UnsupportedError, from_torch, to_torch_state_dict
from pyqref.quantization.quantize_fx import convert_fx

torch = pytest.importorskip("torch", minversion="2.13")
torch.set_num_threads(1)
import torch.ao.quantization._learnable_fake_quantize  # noqa: E402
import torch.ao.quantization.quantize_fx as fx  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch.ao import quantization as q  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = np.random.default_rng(9)
#: Small numbers: a processor of x86 without VNNI saturates in torch's int8 products, not here.
IMAGES = (RNG.standard_normal((2, 3, 8, 8)) * 0.2).astype(np.float32)
ROWS = (RNG.standard_normal((3, 4)) * 0.2).astype(np.float32)
STEPS = (RNG.standard_normal((5, 2, 4)) * 0.2).astype(np.float32)
TOKENS = np.array([[1, 2], [3, 4]])


class Eager(nn.Module):
    """Stubs, a fused convolution, a functional, layers of several kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.dequant = q.QuantStub(), q.DeQuantStub()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()
        self.act, self.norm = nn.Hardswish(), nn.LayerNorm(4)
        self.linear = nn.Linear(4, 2)
        self.skip = torch.ao.nn.quantized.FloatFunctional()

    def forward(self, x):
        x = self.act(self.relu(self.bn(self.conv(self.quant(x)))))
        x = self.skip.add(x, x)
        return self.dequant(self.linear(self.norm(x.mean((2, 3)))))


class Graph(nn.Module):
    """Network with functions, weights of functions, and a dictionary as its output."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()
        self.linear, self.drop = nn.Linear(4, 2), nn.Dropout()
        self.weight = nn.Parameter(torch.randn(2, 2))
        self.filters = nn.Parameter(torch.randn(4, 4, 1, 1))
        self.shift = nn.Parameter(torch.randn(4))

    def forward(self, x):
        x = self.relu(self.bn(self.conv(x)))
        x = F.conv2d(x, self.filters, self.shift, (1, 1), (0, 0), (1, 1), 1)
        x = torch.cat([x + x, x], 1)[:, :4]
        return {"logits": F.linear(self.linear(self.drop(x.mean((2, 3)))), self.weight)}


def eager(stage: str, qat: bool = False, learnable: bool = False) -> Any:
    model = Eager().train(qat)
    names = ["conv", "bn", "relu"]
    model = (q.fuse_modules_qat if qat else q.fuse_modules)(model, names)
    model.qconfig = (q.get_default_qat_qconfig if qat else q.get_default_qconfig)("x86")
    if learnable:
        kind = q._learnable_fake_quantize._LearnableFakeQuantize
        observer = q.MovingAverageMinMaxObserver
        weights = {"dtype": torch.qint8, "qscheme": torch.per_tensor_symmetric}
        model.qconfig = q.QConfig(
            activation=kind.with_args(observer=observer, quant_min=0, quant_max=255),
            weight=kind.with_args(observer=observer, quant_min=-128, quant_max=127, **weights),
        )
    model = (q.prepare_qat if qat else q.prepare)(model)
    model(torch.from_numpy(IMAGES))
    return model.eval() if stage == "prepared" else q.convert(model.eval())


def graph(stage: str, qat: bool = False) -> Any:
    get = q.get_default_qat_qconfig_mapping if qat else q.get_default_qconfig_mapping
    prepare = fx.prepare_qat_fx if qat else fx.prepare_fx
    model = prepare(Graph().train(qat), get("x86"), (torch.from_numpy(IMAGES),))
    model(torch.from_numpy(IMAGES))
    model.eval()
    if stage == "reference":
        return fx.convert_to_reference_fx(model)
    return model if stage == "prepared" else fx.convert_fx(model)


def dynamic(cls: Any, dtype: Any) -> Any:
    return q.quantize_dynamic(nn.Sequential(cls(4, 3)).eval(), {cls}, dtype=dtype)


def table(cls: Any, suffix: str) -> Any:
    options = {"mode": "sum"} if cls is nn.EmbeddingBag else {}
    model = nn.Sequential(cls(6, 8, **options))
    model.qconfig = getattr(q, f"float_qparams_weight_only_qconfig{suffix}")
    return q.convert(q.prepare(model.eval()))


def recurrent(stage: str) -> Any:
    class Only(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant, self.lstm = q.QuantStub(), nn.LSTM(4, 3, 2, bidirectional=True)
            self.dequant = q.DeQuantStub()

        def forward(self, x):
            return self.dequant(self.lstm(self.quant(x))[0])

    model = Only().eval()
    model.qconfig = q.default_qconfig
    model = q.prepare(model)
    model(torch.from_numpy(STEPS))
    return model if stage == "prepared" else q.convert(model)


#: What makes the model, the input, and whether outputs are equal to the bit.
CASES: dict[str, tuple[Callable[[], Any], Any, bool]] = {
    "float": (lambda: Eager().eval(), IMAGES, False),
    "eager prepared": (lambda: eager("prepared"), IMAGES, False),
    "eager converted": (lambda: eager("converted"), IMAGES, True),
    "eager qat": (lambda: eager("prepared", qat=True), IMAGES, False),
    "eager qat converted": (lambda: eager("converted", qat=True), IMAGES, True),
    "eager learnable": (lambda: eager("prepared", qat=True, learnable=True), IMAGES, False),
    "graph prepared": (lambda: graph("prepared"), IMAGES, False),
    "graph converted": (lambda: graph("converted"), IMAGES, True),
    "graph reference": (lambda: graph("reference"), IMAGES, False),
    "graph qat": (lambda: graph("prepared", qat=True), IMAGES, False),
    "graph qat converted": (lambda: graph("converted", qat=True), IMAGES, True),
    "lstm prepared": (lambda: recurrent("prepared"), STEPS, False),
    "lstm converted": (lambda: recurrent("converted"), STEPS, True),
    **{
        f"dynamic {cls.__name__} {dtype}": (
            lambda cls=cls, dtype=dtype: dynamic(cls, dtype),
            STEPS if cls in (nn.LSTM, nn.GRU) else ROWS,
            cls is nn.Linear and dtype is torch.qint8,
        )
        for cls in (nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell)
        for dtype in (torch.qint8, torch.float16)
    },
    "embedding": (lambda: table(nn.Embedding, ""), TOKENS, True),
    "bag": (lambda: table(nn.EmbeddingBag, ""), TOKENS, True),
    "bag of 4 bits": (lambda: table(nn.EmbeddingBag, "_4bit"), TOKENS, True),
}


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict | tuple | list):
        parts = value.values() if isinstance(value, dict) else value
        return [each for part in parts for each in flat(part)]
    return [value.detach().numpy()]


def integers(value: Any) -> Any:
    """The numbers of a quantized tensor, as they are stored, or of another."""
    if isinstance(value, tuple):
        return [integers(each) for each in value]
    if hasattr(value, "int_repr") and value.is_quantized:
        return value.int_repr().tolist()
    return value.tolist() if hasattr(value, "tolist") else str(value).rpartition(".")[2]


@pytest.mark.parametrize("name", CASES)
def test_there_and_back(name: str) -> None:
    """Outputs agree here, and a model of torch that loads the state gives its own outputs again."""
    make, array, exact = CASES[name]
    torch.manual_seed(4)
    theirs = make()
    ours = from_torch(theirs)
    assert {*theirs.state_dict()} == {*ours.state_dict()}
    before = copy.deepcopy(theirs)
    expected = theirs(torch.from_numpy(array.copy()))
    actual = ours(pyqref.from_numpy(array.copy()))
    if exact:
        for e, a in zip(flat(expected), flat(actual), strict=True):
            assert np.array_equal(e, a)
    else:
        close(flat_torch(expected), flat_ours(actual))
    torch.manual_seed(5)
    other = make()
    other.load_state_dict(to_torch_state_dict(from_torch(before)))
    again = other(torch.from_numpy(array.copy()))
    for e, a in zip(flat(expected), flat(again), strict=True):
        assert np.array_equal(e, a)


def flat_torch(value: Any) -> list[Any]:
    return [torch.from_numpy(np.asarray(each)) for each in flat(value)]


def flat_ours(value: Any) -> list[Any]:
    return [pyqref.from_numpy(np.asarray(each)) for each in flat(value)]


@pytest.mark.parametrize("qat", [False, True])
@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_a_prepared_model_converts_here_as_in_torch(mode: str, qat: bool) -> None:
    """Observers keep what they saw: the same integers, scales and zero points come out."""
    torch.manual_seed(6)
    theirs = (eager if mode == "eager" else graph)("prepared", qat)
    ours = from_torch(theirs)
    if mode == "eager":
        expected, actual = q.convert(theirs), pyqref.ao.quantization.convert(ours)
    else:
        expected, actual = fx.convert_fx(theirs), convert_fx(ours)
    wanted, given = expected.state_dict(), actual.state_dict()
    assert wanted.keys() == given.keys()
    for key, value in wanted.items():
        if not key.startswith("_packed_weight"):
            assert integers(value) == integers(given[key]), key
    outputs = flat(expected(torch.from_numpy(IMAGES))), flat(actual(pyqref.from_numpy(IMAGES)))
    for e, a in zip(*outputs, strict=True):
        assert np.array_equal(e, a)


def test_a_graph_keeps_its_nodes() -> None:
    """The names, in their order."""
    torch.manual_seed(4)
    theirs = graph("converted")
    names = [node.name for node in from_torch(theirs).graph.nodes]
    assert [node.name for node in theirs.graph.nodes] == names


def test_exported_graphs() -> None:
    """``torch.export``: operators of aten, inputs that are checked, structured outputs."""
    torch.manual_seed(4)
    exported = torch.export.export(Graph().eval(), (torch.from_numpy(IMAGES),)).module()
    ours = from_torch(exported)
    assert {*exported.state_dict()} == {*ours.state_dict()}
    expected, actual = exported(torch.from_numpy(IMAGES)), ours(pyqref.from_numpy(IMAGES))
    assert list(expected) == list(actual)
    close(expected, actual)


def test_only_models_of_this_package() -> None:
    """Anything else is named."""
    with pytest.raises(TypeError, match=r"model must be a pyqref\.nn\.Module, got torch"):
        to_torch_state_dict(nn.Linear(1, 1))


def test_what_torch_has_not_is_named() -> None:
    """A value without counterpart, by its key."""
    ours = pyqref.nn.Linear(1, 1)
    ours.register_state_dict_post_hook(lambda *given: given[1].update(odd=object()))
    with pytest.raises(TypeError, match="odd: torch has nothing like object"):
        to_torch_state_dict(ours)


def test_all_problems_of_a_graph_are_listed() -> None:
    """Each call that is not here, with its line; what follows on it is not another problem."""

    class Two(nn.Module):
        def forward(self, x):
            return torch.fft.fft(x).abs() + torch.linalg.qr(x)[0]

    with pytest.raises(UnsupportedError) as caught:
        from_torch(torch.fx.symbolic_trace(Two()))
    assert 2 == len(caught.value.problems)
    exported = torch.export.export(Two(), (torch.ones(4, 4),)).module()
    with pytest.raises(UnsupportedError, match=r"aten\.fft_fft.*test_quantized_models\.py"):
        from_torch(exported)
