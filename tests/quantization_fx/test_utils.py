"""Helpers for passes over a quantized graph, as torch has them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import pyqref


def found(library: Any) -> dict[str, Any]:
    """Return the answers of the helpers about one model."""
    nn, F = library.nn, library.nn.functional
    utils = import_module(f"{library.__name__}.ao.quantization.fx.utils")

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(library.full((2, 2), 3.0))
            self.relu = nn.ReLU()

        def forward(self, x: Any) -> Any:
            return self.relu(F.linear(x, self.w * 2))

    model = library.fx.symbolic_trace(Model())
    linear = model.graph.find_nodes(op="call_function", target=F.linear)[0]
    producers = utils.collect_producer_nodes(linear.args[1])
    config = import_module(f"{library.__name__}.ao.quantization.fx.custom_config")
    custom = config.PrepareCustomConfig().set_non_traceable_module_names(["block"])
    custom = custom.set_standalone_module_name("alone", None, (), None, None)
    modules = dict(model.named_modules())
    made = utils.create_getattr_from_value(model, model.graph, "a.b_", 2.0)
    return {
        "producers": [node.name for node in producers],
        "free": utils.collect_producer_nodes(linear),
        "weight": utils.graph_module_from_producer_nodes(model, producers)().tolist(),
        "skipped": utils.get_skipped_module_name_and_classes(custom, False),
        "skipped inside": utils.get_skipped_module_name_and_classes(custom, True),
        "next": utils.maybe_get_next_module(linear, modules, nn.ReLU).name,
        "none": utils.maybe_get_next_module(linear, modules, nn.Tanh, F.relu),
        "indexes": (
            utils.all_node_args_except_first(linear),
            utils.return_arg_list([0, 5])(linear),
        ),
        "name": (made.target, utils.get_new_attr_name_with_prefix("a.b_")(model)),
        "value": float(getattr(model, made.target)),
        "packs": utils.get_qconv_prepack_op(F.conv1d).__name__,
        "device": str(utils.assert_and_get_unique_device(model)),
    }


def test_values() -> None:
    """The weight of a function is computed without the input of the model."""
    here = found(pyqref)
    assert ["mul", "w"] == here["producers"]
    assert here["free"] is None
    assert [[6.0, 6.0], [6.0, 6.0]] == here["weight"]
    assert (["block", "alone"], []) == here["skipped"]
    assert ("a_b_0", "a_b_1") == here["name"]


def test_as_torch() -> None:
    """Each helper says the same of the same model."""
    torch = pytest.importorskip("torch")
    assert found(torch) == found(pyqref)
