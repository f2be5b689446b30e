"""Models of torch become models here: the same names, weights, modes and outputs."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from nn.layer_table import ROWS, Row, run

import pyqref
from pyqref.interop import Traced, UnsupportedError, from_torch

torch = pytest.importorskip("torch", minversion="2.13")
torch.set_num_threads(1)
from interop import models  # noqa: E402

#: The bound of ``tests/nn/test_layers_torch.py``: 256 rounded terms, summed in different
#: orders, of at most twice the size of the result.
BOUND = 256 * 2 * float(np.finfo(np.float32).eps)

RNG = np.random.default_rng(7)
IMAGES = RNG.standard_normal((2, 3, 11, 11)).astype(np.float32)
TOKENS = RNG.integers(0, 11, (3, 6))


def close(expected, actual) -> None:
    """Nested tensors of torch and of ours agree within :data:`BOUND`."""
    if isinstance(expected, dict):
        assert list(expected) == list(actual)
        expected, actual = list(expected.values()), list(actual.values())
    if isinstance(expected, tuple | list):
        for theirs, ours in zip(expected, actual, strict=True):
            close(theirs, ours)
        return
    expected, actual = expected.detach().numpy(), actual.detach().numpy()
    assert expected.shape == actual.shape
    assert expected.dtype == actual.dtype
    largest = max(1.0, float(np.abs(expected).max()))
    assert float(np.abs(expected - actual).max()) <= BOUND * largest


def make(cls):
    """A model with reproducible weights, in evaluation mode."""
    torch.manual_seed(1)
    return cls().eval()


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_every_layer(row: Row) -> None:
    """Each layer is taken over with its arguments: printing, state, outputs, gradients."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(3)
        theirs = row.make(torch.nn).eval()
        ours = from_torch(theirs)
        expected = run(torch, row, theirs)
    assert repr(theirs) == repr(ours)
    assert list(theirs.state_dict()) == list(ours.state_dict())
    actual = run(pyqref, row, ours)
    assert list(expected) == list(actual)
    for name, value in expected.items():
        largest = max(1.0, float(np.abs(value).max(initial=0)))
        assert float(np.abs(value - actual[name]).max(initial=0)) <= BOUND * largest, name


@pytest.mark.parametrize(("cls", "array"), [(models.Classifier, IMAGES), (models.Reader, TOKENS)])
def test_models_of_own_classes(cls, array) -> None:
    """Traced models have the names, the printed form and the outputs of torch's."""
    theirs = make(cls)
    ours = from_torch(theirs)
    assert list(theirs.state_dict()) == list(ours.state_dict())
    names = [name for name, _ in theirs.named_modules()]
    assert names == [name for name, _ in ours.named_modules()]
    with torch.no_grad():
        expected = theirs(torch.from_numpy(array))
    close(expected, ours(pyqref.from_numpy(array)))


def test_prints_the_name_of_the_class() -> None:
    """A traced module prints as its class in torch; its steps can be read."""
    ours = from_torch(models.Residual(2))
    assert isinstance(ours, Traced)
    assert repr(ours).startswith("Residual(\n  (block): Sequential(")
    assert "block = self.block(input)\nadd = self.skip.add(block, input)\nreturn add" == str(
        ours.program()
    )


def test_static_quantization_gives_the_same_integers() -> None:
    """A model quantized after it was taken over has torch's scales and integers."""

    def quantize(namespace, model, batch):
        quantization = namespace.ao.quantization
        model.qconfig = quantization.get_default_qconfig("x86")
        model.stages[1][1].qconfig = None
        for stage in (model.stages[0], model.stages[1][0]):
            quantization.fuse_modules(stage.block, ["0", "1"], inplace=True)
        prepared = quantization.prepare(model)
        prepared(batch)
        return quantization.convert(prepared)

    theirs = make(models.Classifier)
    theirs.stages[1][1] = torch.nn.Identity()
    ours = from_torch(theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = quantize(torch, theirs, torch.from_numpy(IMAGES))
    actual = quantize(pyqref, ours, pyqref.from_numpy(IMAGES))
    for path in ("stem", "stages.0.block.0", "heads.first", "heads.second"):
        mine, his = actual.get_submodule(path), expected.get_submodule(path)
        assert np.array_equal(his.weight().int_repr().numpy(), mine.weight().int_repr().numpy())
        assert his.zero_point == mine.zero_point
        assert his.scale == pytest.approx(mine.scale, rel=BOUND)
    skip = actual.get_submodule("stages.0.skip")
    assert isinstance(skip, pyqref.nn.quantized.QFunctional)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    "keywords",
    [{}, {"scale": 3.0}, {"negate": True}, {"mask": True}, {"mask": True, "negate": True}],
    ids=str,
)
def test_optional_arguments_and_modes(keywords, training: bool) -> None:
    """Each choice of optional arguments, in each mode, computes what torch does."""
    theirs = models.Optional().train(training)
    ours = from_torch(theirs)
    x, mask = np.float32([1, -2, 3]), np.array([True, False, True])
    given = {k: mask if k == "mask" else v for k, v in keywords.items()}

    def convert(convert_array):
        return {k: convert_array(v) if k == "mask" else v for k, v in given.items()}

    expected = theirs(torch.from_numpy(x), **convert(torch.from_numpy))
    close(expected, ours(pyqref.from_numpy(x), **convert(pyqref.from_numpy)))
    ours.train(not training)
    close(theirs.train(not training)(torch.from_numpy(x)), ours(pyqref.from_numpy(x)))


def test_tensors_made_in_the_forward() -> None:
    """Sizes are read when the steps run; random numbers are drawn then."""
    theirs = models.Creating()
    ours = from_torch(theirs)
    for shape in ((2, 3), (4, 5)):
        x = np.ones(shape, np.float32)
        close(theirs(torch.from_numpy(x))[0], ours(pyqref.from_numpy(x))[0])
    assert ours(pyqref.ones(1, 1))[1].tolist() != ours(pyqref.ones(1, 1))[1].tolist()


def test_parameters_keep_their_kind() -> None:
    """Persistence of buffers and the wish for gradients stay; buffers are read when run."""
    ours = from_torch(models.Optional().eval())
    assert ["gain", "frozen", "offset"] == list(ours.state_dict())
    assert {"gain": True, "frozen": False} == {
        name: each.requires_grad for name, each in ours.named_parameters()
    }
    ours.offset.fill_(1.5)
    assert [2 * 1 + 1.5 * 4 - 3] == ours(pyqref.tensor([1.0])).tolist()


def test_what_is_shared_stays_shared() -> None:
    """Tied parameters are one parameter, a module met twice is one module."""
    theirs = torch.nn.Sequential(torch.nn.Embedding(3, 2), torch.nn.Linear(2, 3, bias=False))
    theirs[1].weight = theirs[0].weight
    theirs.append(theirs[1])
    ours = from_torch(theirs)
    assert ours[0].weight is ours[1].weight
    assert ours[2] is ours[1]


def test_modes_of_parts() -> None:
    """Each module keeps its own mode."""
    theirs = make(models.Classifier)
    theirs.stages[0].train()
    expected = {name: each.training for name, each in theirs.named_modules()}
    assert expected == {name: each.training for name, each in from_torch(theirs).named_modules()}


def test_leaves_everything_as_it_was() -> None:
    """The model of torch, its memory and both random streams are untouched."""
    theirs = models.Optional()
    before = (copy.deepcopy(theirs.state_dict()), set(vars(theirs)), theirs.training)
    method = models.FloatFunctional.add
    pyqref.manual_seed(5)
    expected = pyqref.rand(3).tolist()
    pyqref.manual_seed(5)
    ours = from_torch(theirs)
    from_torch(models.Residual(2))
    assert expected == pyqref.rand(3).tolist()
    with pyqref.no_grad():
        ours.gain.zero_()
    assert before == (dict(theirs.state_dict()), set(vars(theirs)), theirs.training)
    assert method is models.FloatFunctional.add


def test_a_copy_of_a_traced_module_is_its_own() -> None:
    """``deepcopy``, by which the workflows begin, copies the weights."""
    ours = from_torch(models.Optional().eval())
    copied = copy.deepcopy(ours)
    with pyqref.no_grad():
        copied.gain.zero_()
    assert [1.0, -1.0] == [each(pyqref.tensor([1.0])).item() for each in (ours, copied)]


def test_all_problems_are_listed_at_once() -> None:
    """Every part without counterpart is named by path and type."""
    with pytest.raises(UnsupportedError) as caught:
        from_torch(models.Unknown())
    found = {(each.path, each.type): each.reason for each in caught.value.problems}
    assert {
        ("decoder", "FractionalMaxPool2d"),
        ("inner.sparse", "Sparse"),
        ("hooked", "Linear"),
        ("(the model)", "Unknown"),
    } == set(found)
    assert "backward hooks" in found["hooked", "Linear"]
    assert "calls torch.fft.fft, which pyqref does not have (" in found["(the model)", "Unknown"]
    assert all(path in str(caught.value) for path, _ in found)


def test_a_qconfig_comes_along() -> None:
    """It makes observers of this package, with the same arguments."""
    theirs = torch.nn.Sequential(torch.nn.Linear(2, 2))
    theirs.qconfig = torch.ao.quantization.get_default_qat_qconfig("x86")
    theirs[0].qconfig = None
    ours = from_torch(theirs)
    assert pyqref.quantization.get_default_qat_qconfig("x86").weight.p.keywords == {
        **ours.qconfig.weight.p.keywords
    }
    assert isinstance(ours.qconfig.activation(), pyqref.quantization.FusedMovingAvgObsFakeQuantize)
    assert ours[0].qconfig is None


def test_a_qconfig_of_something_else_is_left_behind() -> None:
    """A qconfig that makes no observer is left behind with a warning."""
    theirs = torch.nn.Sequential(torch.nn.Linear(2, 2))
    quantization = torch.ao.quantization
    theirs[0].qconfig = quantization.QConfig(activation=list, weight=list)
    with pytest.warns(UserWarning, match="left behind at 0 .*; set one of pyqref"):
        assert not hasattr(from_torch(theirs)[0], "qconfig")


@pytest.mark.parametrize("bad", [None, 3, "model", pyqref.nn.Linear(1, 1), torch.zeros(1)], ids=str)
def test_only_modules_of_torch(bad) -> None:
    """Anything else is a TypeError that names the argument."""
    with pytest.raises(TypeError, match=r"^from_torch: module must be a torch\.nn\.Module, got"):
        from_torch(bad)


def test_other_arguments_than_were_recorded() -> None:
    """Calls that the forward does not allow say so."""
    ours = from_torch(models.Optional().eval())
    with pytest.raises(TypeError, match=r"Optional\.forward\(\) missing 1 required.*'x'"):
        ours()
    with pytest.raises(TypeError, match=r"Optional\.forward\(\) got an unexpected .*'size'"):
        ours(pyqref.tensor([1.0]), size=3)
