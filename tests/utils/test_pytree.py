"""Nested containers are taken apart and put together again, leaf by leaf in torch's order."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import Any, NamedTuple

import pytest

import pyqref
from pyqref.utils import _pytree as pytree


class Pair(NamedTuple):
    """A named tuple, as models return."""

    a: Any
    b: Any


TREES = [
    1,
    (),
    [1, (2, [3]), {"x": 4, "a": {}}],
    Pair(1, [2]),
    OrderedDict(b=1, a=2),
    defaultdict(list, x=[1]),
    deque([1, 2], maxlen=3),
    {"t": pyqref.ones(2), "n": None},
]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_apart_and_together(tree):
    """``tree_unflatten(*tree_flatten(tree))`` is the tree again."""
    leaves, spec = pytree.tree_flatten(tree)
    again = pytree.tree_unflatten(leaves, spec)
    assert type(tree) is type(again)
    assert repr(tree) == repr(again)
    assert len(leaves) == spec.num_leaves
    assert spec == pytree.tree_structure(again)
    torch_tree = pytest.importorskip("torch").utils._pytree
    expected, its_spec = torch_tree.tree_flatten(tree)
    assert repr(expected) == repr(leaves)
    assert its_spec.num_children == spec.num_children


def test_maps_and_questions():
    """Leaf by leaf; ``is_leaf`` stops at a container; structures and counts must agree."""
    tree = {"x": [1, 2], "y": (3,)}
    assert {"x": [2, 4], "y": (6,)} == pytree.tree_map(lambda a, b: a + b, tree, tree)
    assert {"x": 2, "y": 1} == pytree.tree_map(len, tree, is_leaf=lambda t: t is not tree)
    assert [1, "2"] == pytree.tree_map_only(str, str, [1, "2"])
    assert pytree.tree_any(lambda n: n > 2, tree)
    assert not pytree.tree_all(lambda n: n > 2, tree)
    with pytest.raises(ValueError, match=r"rests\[0\] must have the structure of tree"):
        pytree.tree_map(max, tree, [1])
    with pytest.raises(ValueError, match="leaves must be as many as the structure has, 3, got 1"):
        pytree.tree_unflatten([1], pytree.tree_structure(tree))


def test_a_class_of_ones_own():
    """It is registered once, and then a node."""

    class Box:
        def __init__(self, inside):
            self.inside = inside

    register = pytree.register_pytree_node
    register(Box, lambda box: ([box.inside], None), lambda children, _: Box(*children))
    assert 3 == pytree.tree_map(lambda n: n + 1, Box(2)).inside
    with pytest.raises(ValueError, match="is registered as a container already"):
        register(Box, lambda box: ([], None), lambda children, _: Box(None))


def test_keys_of_a_dictionary() -> None:
    """``flatten_with_keys_fn``: each value with its place."""
    from pyqref.utils import _pytree

    found, keys = _pytree._dict_flatten_with_keys({"a": 1, "b": 2})
    assert [("['a']", 1), ("['b']", 2)] == [(str(place), value) for place, value in found]
    assert ["a", "b"] == keys
