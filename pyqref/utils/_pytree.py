"""Nested containers as trees: taken apart into a list of leaves, and put together again.

A tuple, named tuple, list, dict, ``OrderedDict``, ``defaultdict`` or ``deque`` is a node; all
else is a leaf. A class of your own becomes a node by :func:`register_pytree_node`.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = [
    "PyTree",
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

#: Anything: a leaf, or a container of trees.
PyTree = Any


class _Node(NamedTuple):
    """Functions that take one type of container apart (children, context) and rebuild it."""

    flatten: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten: Callable[[list[Any], Any], Any]


def _of_dict(mapping: Any) -> tuple[list[Any], Any]:
    return list(mapping.values()), list(mapping)


_NODES: dict[type, _Node] = {
    tuple: _Node(lambda t: (t, None), lambda children, _: tuple(children)),
    list: _Node(lambda t: (t, None), lambda children, _: list(children)),
    dict: _Node(_of_dict, lambda children, keys: dict(zip(keys, children, strict=True))),
    OrderedDict: _Node(
        _of_dict, lambda children, keys: OrderedDict(zip(keys, children, strict=True))
    ),
    defaultdict: _Node(
        lambda d: (list(d.values()), [d.default_factory, list(d)]),
        lambda children, kept: defaultdict(kept[0], zip(kept[1], children, strict=True)),
    ),
    deque: _Node(lambda d: (d, d.maxlen), lambda children, length: deque(children, length)),
}
_NAMED = _Node(lambda t: (t, type(t)), lambda children, kind: kind(*children))


class MappingKey(NamedTuple):
    """The place of a child in a dictionary.

    Examples
    --------
    >>> str(MappingKey("hidden"))
    "['hidden']"
    """

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


def _dict_flatten_with_keys(mapping: Any) -> tuple[list[tuple[MappingKey, Any]], Any]:
    """The values of a dictionary with their places; for ``flatten_with_keys_fn`` of a class."""
    values, context = _of_dict(mapping)
    return [(MappingKey(key), each) for key, each in zip(mapping, values, strict=True)], context


def _node(tree: Any) -> tuple[type, _Node] | None:
    """The kind of node that a tree is, or None for a leaf."""
    kind = type(tree)
    if kind in _NODES:
        return kind, _NODES[kind]
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind, _NAMED
    return None


@dataclass
class TreeSpec:
    """The structure of a tree, without its leaves.

    Attributes
    ----------
    type
        The container's type; None for a leaf.
    context
        What the container has besides its children: the keys of a dict.
    children_specs
        Structures of the children.

    Examples
    --------
    >>> _, spec = tree_flatten({"a": 1, "b": (2, 3)})
    >>> spec.num_leaves, spec.is_leaf()
    (3, False)
    """

    type: Any
    context: Any
    children_specs: list[TreeSpec]

    @property
    def num_leaves(self) -> int:
        """Number of leaves of a tree of this structure."""
        return 1 if self.is_leaf() else sum(each.num_leaves for each in self.children_specs)

    @property
    def num_children(self) -> int:
        """Number of children of its root."""
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        """Return True if the tree is one leaf."""
        return self.type is None


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[list[Any], Any], Any],
    **names: object,
) -> None:
    """Let a class be a container.

    Parameters
    ----------
    cls
        The class; each only once.
    flatten_fn
        Gives its children and whatever else it takes to make one.
    unflatten_fn
        Makes one from children and the rest.
    names
        ``serialized_type_name`` and the like, by which torch writes structures to files. Nothing
        here writes them.

    Examples
    --------
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda both, _: Pair(*both))
    >>> tree_leaves([Pair(1, 2), 3])
    [1, 2, 3]
    """
    if cls in _NODES:
        raise ValueError(f"{cls} is registered as a container already; register a class once")
    _NODES[cls] = _Node(flatten_fn, unflatten_fn)


def tree_flatten(
    tree: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], TreeSpec]:
    """Take a tree apart: its leaves, depth first, and its structure.

    Parameters
    ----------
    tree
        Any object.
    is_leaf
        Whether a container is to be taken as a leaf.

    Examples
    --------
    >>> leaves, spec = tree_flatten({"a": 1, "b": [2, (3,)]})
    >>> leaves
    [1, 2, 3]
    >>> tree_unflatten([10, 20, 30], spec)
    {'a': 10, 'b': [20, (30,)]}
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: PyTree, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if node is None:
        leaves.append(tree)
        return TreeSpec(None, None, [])
    kind, how = node
    children, context = how.flatten(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Put a tree together from its leaves and its structure.

    Parameters
    ----------
    leaves
        As many as the structure has.
    treespec
        From :func:`tree_flatten`.

    Examples
    --------
    >>> tree_unflatten([1, 2], tree_structure((0, [0])))
    (1, [2])
    """
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ValueError(
            f"leaves must be as many as the structure has, {treespec.num_leaves}, got {len(given)}"
        )
    return _unflatten(iter(given), treespec)


def _unflatten(leaves: Any, spec: TreeSpec) -> PyTree:
    if spec.is_leaf():
        return next(leaves)
    how = _NODES.get(spec.type, _NAMED)
    return how.unflatten([_unflatten(leaves, child) for child in spec.children_specs], spec.context)


def tree_leaves(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a tree, depth first.

    Examples
    --------
    >>> tree_leaves([1, (2, {"a": 3})])
    [1, 2, 3]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> Iterator[Any]:
    """An iterator over the leaves of a tree.

    Examples
    --------
    >>> sum(tree_iter([1, (2, 3)]))
    6
    """
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The structure of a tree.

    Examples
    --------
    >>> tree_structure([1, 2]) == tree_structure(["a", "b"])
    True
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any],
    tree: PyTree,
    *rests: PyTree,
    is_leaf: Callable[[Any], bool] | None = None,
) -> PyTree:
    """A tree of the same structure, whose leaves are ``func`` of the leaves.

    Parameters
    ----------
    func
        Called with a leaf of each tree.
    tree, rests
        Trees of one structure.
    is_leaf
        As of :func:`tree_flatten`.

    Examples
    --------
    >>> tree_map(lambda a, b: a + b, {"x": [1, 2]}, {"x": [10, 20]})
    {'x': [11, 22]}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves]
    for number, rest in enumerate(rests):
        more, other = tree_flatten(rest, is_leaf)
        if other != spec:
            raise ValueError(
                f"rests[{number}] must have the structure of tree, {spec}; got {other}"
            )
        columns.append(more)
    return tree_unflatten([func(*each) for each in zip(*columns, strict=True)], spec)


def tree_map_only(kind: type[Any], func: Callable[[Any], Any], tree: PyTree) -> PyTree:
    """Call ``func`` for the leaves of a type, or of a tuple of types, and keep the others.

    Examples
    --------
    >>> tree_map_only(int, lambda n: n + 1, [1, "a"])
    [2, 'a']
    """
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)


def tree_all(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Return True if ``pred`` is true of every leaf.

    Examples
    --------
    >>> tree_all(bool, [1, (2, 0)])
    False
    """
    return all(map(pred, tree_iter(tree)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Return True if ``pred`` is true of a leaf.

    Examples
    --------
    >>> tree_any(bool, [0, (2, 0)])
    True
    """
    return any(map(pred, tree_iter(tree)))
