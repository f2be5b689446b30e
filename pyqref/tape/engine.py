"""The walk back along the tape.

From the nodes of the results, every node is visited once, after all the nodes
that use its outputs; gradients that arrive at the same output are added. As long as
there is only one way to go, nothing needs to be put in order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .operation import AccumulateGrad, Array, Edge, Operation

__all__ = ["run_backward"]


def run_backward(
    roots: Sequence[tuple[Edge, Array]],
    *,
    retain_graph: bool = False,
    capture: Sequence[Edge] | None = None,
) -> list[Array | None]:
    """Propagate gradients from ``roots`` through the graph.

    Parameters
    ----------
    roots
        Pairs of an edge (result) and the gradient that starts there.
    retain_graph
        Keep what the operations saved, so that the graph can be walked again.
    capture
        Edges whose gradients are returned; leaves are then left alone.

    Returns
    -------
    list of array or None
        One entry for each edge of ``capture``; None where no gradient arrived.

    Raises
    ------
    RuntimeError
        The graph was already walked and freed, or a saved tensor was modified.

    Examples
    --------
    >>> import numpy as np
    >>> import pyqref
    >>> from pyqref.tape import Edge
    >>> x = pyqref.ones(2, requires_grad=True)
    >>> y = 3 * x
    >>> run_backward([(Edge(y.grad_fn, 0), np.float32([1.0, 10.0]))])
    []
    >>> x.grad.tolist()
    [3.0, 30.0]
    """
    if capture is None and len(roots) == 1:
        roots = _follow_chain(*roots[0], retain_graph)
        if not roots:
            return []
    order = _in_order([edge.node for edge, _ in roots])
    if all(node.is_quiet for node in order):
        return _walk(order, roots, retain_graph, capture)
    with np.errstate(all="ignore"):
        return _walk(order, roots, retain_graph, capture)


def _follow_chain(edge: Edge, grad: Array, retain_graph: bool) -> list[tuple[Edge, Array]]:
    """Walk as far as each node has one result and one input; return where to go on, if anywhere."""
    is_new = False
    node = edge.node
    while node.is_quiet and not node.hooks:
        if isinstance(node, AccumulateGrad):
            node.accumulate(grad, is_new)
            return []
        if len(node.output_shapes) != 1 or len(node.edges) != 1:
            break
        if node.released or not node.saves_own:
            _check_walkable(node)
        gradient = node.backward(grad)[0]
        next_edge = node.edges[0]
        if not retain_graph:
            node.release()
        if next_edge is None or gradient is None:
            return []
        if type(gradient) is not np.ndarray:
            gradient = np.asarray(gradient)
        edge, grad, is_new = next_edge, gradient, node.makes_gradients
        node = edge.node
    return [(edge, grad)]


def _walk(
    order: Sequence[Operation],
    roots: Sequence[tuple[Edge, Array]],
    retain_graph: bool,
    capture: Sequence[Edge] | None,
) -> list[Array | None]:
    pending: dict[Operation, dict[int, Array]] = {}
    for edge, grad in roots:
        _add(pending, edge, grad)
    captured: dict[Edge, Array] = {}
    new: set[Operation] = set()  # nodes whose gradient was made for them alone
    for node in order:
        arrived = pending.pop(node, None)
        if arrived is None:
            continue
        if node.hooks:
            _run_hooks(node, arrived)
        if capture is not None:
            for edge in capture:
                if edge.node is node and edge.output_index in arrived:
                    captured[edge] = arrived[edge.output_index]
        if isinstance(node, AccumulateGrad):
            if capture is None:
                node.accumulate(arrived[0], node in new and not node.hooks)
            continue
        for next_edge, gradient in zip(node.edges, _gradients(node, arrived), strict=False):
            if next_edge is not None and gradient is not None:
                _add(pending, next_edge, gradient)
                (new.add if node.makes_gradients else new.discard)(next_edge.node)
        if not retain_graph:
            node.release()
    return [captured.get(edge) for edge in capture or ()]


def _add(pending: dict[Operation, dict[int, Array]], edge: Edge, grad: Array) -> None:
    node, index = edge
    arrived = pending.get(node)
    if arrived is None:
        pending[node] = {index: np.asarray(grad)}
    elif index not in arrived:
        arrived[index] = np.asarray(grad)
    else:
        with np.errstate(all="ignore"):
            arrived[index] = np.asarray(arrived[index] + grad)


def _run_hooks(node: Operation, arrived: dict[int, Array]) -> None:
    for index, hooks in (node.hooks or {}).items():
        for hook in hooks:
            if index in arrived:
                replaced = hook(arrived[index])
                if replaced is not None:
                    arrived[index] = replaced


def _check_walkable(node: Operation) -> None:
    """Raise if what backward needs was freed or changed."""
    if node.released:
        raise RuntimeError(
            f"trying to go backward through {node.name()} a second time: the graph was freed; "
            "call backward(retain_graph=True) the first time"
        )
    node.check_unmodified()


def _gradients(node: Operation, arrived: dict[int, Array]) -> tuple[Array | None, ...]:
    _check_walkable(node)
    shapes = node.output_shapes
    if len(shapes) == 1:
        return node.backward(arrived[0])
    grads = [
        arrived[index] if index in arrived else np.zeros(shape, dtype)
        for index, (shape, dtype) in enumerate(shapes)
    ]
    return node.backward(*grads)


def _in_order(roots: Sequence[Operation]) -> list[Operation]:
    """Every node that can be reached, users before the nodes that they use."""
    order: list[Operation] = []
    visited: set[Operation] = set()
    for root in roots:
        if root in visited:
            continue
        visited.add(root)
        stack = [(root, iter(root.edges))]
        while stack:
            node, edges = stack[-1]
            for edge in edges:
                if edge is not None and edge.node not in visited:
                    visited.add(edge.node)
                    stack.append((edge.node, iter(edge.node.edges)))
                    break
            else:
                order.append(node)
                stack.pop()
    order.reverse()
    return order
