"""state_dict and load_state_dict."""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn


class Layer(nn.Module):
    _version = 3

    def __init__(self, size: int = 2) -> None:
        super().__init__()
        self.weight = nn.Parameter(pyqref.zeros(size))
        self.register_buffer("mean", pyqref.zeros(size))
        self.register_buffer("scratch", pyqref.zeros(1), persistent=False)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = Layer(2)
        self.b = nn.Sequential(Layer(3))


def filled(value: float) -> OrderedDict:
    state = Model().state_dict()
    for tensor in state.values():
        tensor.fill_(value)
    return state


def values(model: nn.Module) -> list:
    return [tensor.tolist() for tensor in model.state_dict().values()]


def test_keys_and_metadata() -> None:
    """Parameters before buffers, persistent ones only; a version for each module."""
    state = Model().state_dict()
    assert ["a.weight", "a.mean", "b.0.weight", "b.0.mean"] == list(state)
    assert {"version": 3} == state._metadata["b.0"]
    assert ["", "a", "b", "b.0"] == list(state._metadata)


def test_prefix_and_keep_vars() -> None:
    """A prefix stands before every key; keep_vars gives the parameters themselves."""
    model = Model()
    state = model.state_dict(prefix="net.", keep_vars=True)
    assert model.a.weight is state["net.a.weight"]
    assert not model.state_dict()["a.weight"].requires_grad
    destination = OrderedDict(other=1)
    assert destination is model.state_dict(destination=destination)
    assert "other" in destination


def test_positional_arguments_are_deprecated() -> None:
    """Old scripts give destination and prefix by position."""
    with pytest.warns(FutureWarning, match="positional"):
        state = Layer().state_dict(OrderedDict(), "p.")
    assert ["p.weight", "p.mean"] == list(state)


def test_state_shares_memory() -> None:
    """The tensors of the state are views of the module's."""
    model = Model()
    model.state_dict()["a.weight"].fill_(5)
    assert [5.0, 5.0] == model.a.weight.tolist()


def test_load() -> None:
    """Values are copied into the same parameters."""
    model = Model()
    weight = model.a.weight
    keys = model.load_state_dict(filled(4))
    assert "<All keys matched successfully>" == str(keys)
    assert weight is model.a.weight
    assert [4.0, 4.0] == weight.tolist()
    assert [4.0, 4.0, 4.0] == model.b[0].mean.tolist()


def test_load_errors_are_all_listed() -> None:
    """Missing, unexpected and wrong sizes in one message, in torch's words."""
    state = filled(4)
    del state["a.mean"]
    state["c.weight"] = pyqref.zeros(1)
    state["b.0.weight"] = pyqref.zeros(7)
    state["b.0.mean"] = 3
    expected = (
        "Error(s) in loading state_dict for Model:\n"
        '\tMissing key(s) in state_dict: "a.mean". \n'
        '\tUnexpected key(s) in state_dict: "c.weight". \n'
        "\tsize mismatch for b.0.weight: copying a param with shape pyqref.Size([7]) from "
        "checkpoint, the shape in current model is pyqref.Size([3]).\n"
        '\tWhile copying the parameter named "b.0.mean", expected pyqref.Tensor or Tensor-like '
        "object from checkpoint but received <class 'int'>"
    )
    with pytest.raises(RuntimeError) as error:
        Model().load_state_dict(state)
    assert expected == str(error.value)


@pytest.mark.parametrize("strict", [True, False])
def test_failed_load_leaves_the_model(strict: bool) -> None:
    """Nothing is changed if anything does not fit, not even what came before it."""
    model = Model()
    state = filled(4)
    state["b.0.weight"] = pyqref.zeros(7)
    before = values(model)
    with pytest.raises(RuntimeError, match=r"size mismatch for b\.0\.weight"):
        model.load_state_dict(state, strict=strict)
    assert before == values(model)


def test_failed_load_undoes_overridden_loading() -> None:
    """A module that loads in its own way is put back as well."""

    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = 1.0
            self.register_buffer("data", pyqref.zeros(1))

        def _load_from_state_dict(self, state_dict, prefix, *args) -> None:
            self.scale = float(state_dict.pop(prefix + "scale"))
            self.data = pyqref.ones(3)
            super()._load_from_state_dict(state_dict, prefix, *args)

    model = nn.Sequential(Own(), Layer())
    state = OrderedDict(
        [
            ("0.scale", 2.0),
            ("0.data", pyqref.full((3,), 9.0)),
            ("1.weight", pyqref.zeros(5)),
            ("1.mean", pyqref.zeros(2)),
        ]
    )
    with pytest.raises(RuntimeError, match=r"size mismatch for 1\.weight"):
        model.load_state_dict(state)
    assert 1.0 == model[0].scale
    assert [0.0] == model[0].data.tolist()
    state["1.weight"] = pyqref.zeros(2)
    model.load_state_dict(state)
    assert 2.0 == model[0].scale
    assert [9.0, 9.0, 9.0] == model[0].data.tolist()


def test_exception_while_loading_names_the_module() -> None:
    """A value that a module cannot take is reported with its path, and undone."""

    class Own(Layer):
        def _load_from_state_dict(self, state_dict, prefix, *args) -> None:
            super()._load_from_state_dict(state_dict, prefix, *args)
            _, _ = state_dict[prefix + "pair"]

    model = nn.Sequential(nn.Sequential(Own()))
    state = {"0.0.weight": pyqref.ones(2), "0.0.mean": pyqref.ones(2), "0.0.pair": 3}
    message = r"0\.0 \(Own\) cannot take its state: TypeError: cannot unpack"
    with pytest.raises(RuntimeError, match=message):
        model.load_state_dict(state)
    assert [0.0, 0.0] == model[0][0].weight.tolist()


def test_not_strict() -> None:
    """Without strict, keys that do not match are returned."""
    state = filled(4)
    del state["a.mean"]
    state["c"] = pyqref.zeros(1)
    model = Model()
    keys = model.load_state_dict(state, strict=False)
    assert (["a.mean"], ["c"]) == (keys.missing_keys, keys.unexpected_keys)
    assert [4.0, 4.0] == model.a.weight.tolist()


def test_assign() -> None:
    """With assign the given tensors take the place of the module's."""
    model, state = Model(), filled(4)
    model.load_state_dict(state, assign=True)
    assert state["a.mean"] is model.a.mean
    assert isinstance(model.a.weight, nn.Parameter)
    state["a.weight"].fill_(8)
    assert [8.0, 8.0] == model.a.weight.tolist()


def test_dtype_is_converted() -> None:
    """A double in the state becomes the float of the model."""
    model, state = Model(), filled(4)
    state["a.weight"] = pyqref.full((2,), 0.5, dtype=pyqref.float64)
    model.load_state_dict(state)
    assert pyqref.float32 is model.a.weight.dtype
    assert [0.5, 0.5] == model.a.weight.tolist()


def test_quantized_into_float() -> None:
    """A quantized tensor is not dequantized silently, as in torch."""
    state = filled(4)
    state["a.weight"] = pyqref.quantize_per_tensor(pyqref.ones(2), 0.5, 0, pyqref.quint8)
    with pytest.raises(RuntimeError, match=r'"a\.weight": copying from a quantized tensor'):
        Model().load_state_dict(state)


def test_a_failed_load_keeps_the_counter_of_changes() -> None:
    """A tensor that shares a parameter's memory still sees it change after a failed load."""
    model = Layer()
    seen = []

    def look(state: Any, prefix: str, *rest: Any) -> None:
        seen.append(model.mean.detach())
        raise RuntimeError("no")

    model.register_load_state_dict_pre_hook(lambda module, *rest: look(*rest))
    with pytest.raises(RuntimeError, match="no"):
        model.load_state_dict(model.state_dict())
    assert seen[0]._version is model.mean._version


def test_quantized_buffer_takes_the_quantizer() -> None:
    """A quantized buffer takes integers, scale and zero point; a failed load gives them back."""
    model = nn.Sequential(nn.Module(), Layer())
    old = pyqref.quantize_per_tensor(pyqref.ones(2), 0.5, 1, pyqref.quint8)
    new = pyqref.quantize_per_tensor(pyqref.ones(2), 0.25, 2, pyqref.quint8)
    model[0].register_buffer("q", old)
    state = model.state_dict()
    state["0.q"], state["1.mean"] = new, pyqref.zeros(3)
    with pytest.raises(RuntimeError, match="size mismatch"):
        model.load_state_dict(state)
    assert (0.5, [3, 3]) == (old.q_scale(), old.int_repr().tolist())
    state["1.mean"] = pyqref.zeros(2)
    model.load_state_dict(state)
    assert (0.25, 2, [6, 6]) == (old.q_scale(), old.q_zero_point(), old.int_repr().tolist())


def test_state_that_is_no_dict() -> None:
    """A list is no state."""
    with pytest.raises(TypeError, match="dict-like"):
        Model().load_state_dict([1])
    with pytest.raises(TypeError, match="strings, got 3"):
        Model().load_state_dict({3: pyqref.zeros(1)})


def test_the_given_state_is_not_changed() -> None:
    """Hooks and overrides work on a copy of the dictionary."""
    model, state = Layer(), Layer().state_dict()
    model._register_load_state_dict_pre_hook(lambda state, prefix, *rest: state.pop("mean"))
    model.load_state_dict(state, strict=False)
    assert ["weight", "mean"] == list(state)


def test_extra_state() -> None:
    """Extra state is saved under its key and given back."""

    class Extra(Layer):
        note = "new"

        def get_extra_state(self):
            return {"note": self.note}

        def set_extra_state(self, state) -> None:
            self.note = state["note"]

    old, new = Extra(), Extra()
    old.note = "old"
    state = old.state_dict()
    assert {"note": "old"} == state["_extra_state"]
    new.load_state_dict(state)
    assert "old" == new.note
    with pytest.raises(RuntimeError, match=r'Unexpected key.*"_extra_state"'):
        Layer().load_state_dict(state)
    del state["_extra_state"]
    with pytest.raises(RuntimeError, match=r'Missing key.*"_extra_state"'):
        new.load_state_dict(state)


def test_state_hooks() -> None:
    """Hooks run before and after saving and loading."""
    calls = []
    model = Layer()
    model.register_state_dict_pre_hook(lambda m, prefix, keep: calls.append("before saving"))
    model.register_state_dict_post_hook(lambda m, sd, p, meta: calls.append(meta["version"]))
    model.register_load_state_dict_pre_hook(lambda m, *args: calls.append(m is model))
    model.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    state = model.state_dict()
    del state["mean"]
    model.load_state_dict(state)
    assert ["before saving", 3, True] == calls


def test_state_hooks_that_return() -> None:
    """Public hooks may return nothing; the private one may replace the dictionary."""
    model = Layer()
    model._register_state_dict_hook(lambda m, sd, prefix, meta: {"replaced": 1})
    assert {"replaced": 1} == model.state_dict()
    model = Layer()
    model.register_state_dict_post_hook(lambda *args: 3)
    with pytest.raises(RuntimeError, match="must return None"):
        model.state_dict()
    model = Layer()
    model.register_load_state_dict_post_hook(lambda *args: 3)
    with pytest.raises(RuntimeError, match="must return None"):
        model.load_state_dict(Layer().state_dict())


def test_metadata_reaches_the_modules() -> None:
    """``_load_from_state_dict`` sees the version that was saved for its module."""
    seen = []

    class Watching(Layer):
        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args) -> None:
            seen.append(local_metadata.get("version"))
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    Watching().load_state_dict(Layer().state_dict())
    Watching().load_state_dict(dict(Layer().state_dict()))
    assert [3, None] == seen


def test_scalar_from_one_element() -> None:
    """A vector of one element loads into a tensor without dimensions."""
    model = nn.Module()
    model.register_buffer("step", pyqref.tensor(0.0))
    model.load_state_dict({"step": pyqref.tensor([3.0])})
    assert 3.0 == model.step.item()


def test_views_of_parameters_see_the_load() -> None:
    """Loading copies in place: an array that shares the memory changes."""
    model = Layer()
    view = model.weight.detach().numpy()
    model.load_state_dict({"weight": pyqref.ones(2), "mean": pyqref.zeros(2)})
    assert np.array_equal([1.0, 1.0], view)


def test_refused_load_does_not_disturb_other_threads() -> None:
    """While one thread loads what does not fit, others go on with the model."""
    model = Model()
    before, stop, wrong = values(model), threading.Event(), []

    def use() -> None:
        while not stop.is_set():
            try:
                assert before == values(copy.deepcopy(model).eval())
            except BaseException as error:
                wrong.append(error)
                return

    readers = [threading.Thread(target=use) for _ in range(2)]
    for each in readers:
        each.start()
    for _ in range(300):
        with pytest.raises(RuntimeError, match="Missing key"):
            model.load_state_dict({})
    stop.set()
    for each in readers:
        each.join()
    assert [] == wrong


def test_refused_load_changes_no_version() -> None:
    """A tensor that was not written does not count as changed: its gradient is still available."""
    layer = nn.Linear(2, 2)
    y = (layer(pyqref.ones(1, 2)) ** 2).sum()
    with pytest.raises(RuntimeError, match="Missing key"):
        layer.load_state_dict({})
    y.backward()
    assert layer.weight.grad is not None
