"""The walk back along the tape.

From the nodes of the results, every node is visited once, after all the nodes
that use its outputs; gradients that arrive at the same output are added. A node is newer than those
it uses, so of the nodes that gradients have arrived at, the newest is the next. As long as
there is only one way to go, nothing needs to be put in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy import ndarray

from .._insides.numpy_errors import quiet
from .operation import AccumulateGrad, Array, Edge, Operation

__all__ = ["run_backward"]


def run_backward(
    roots: Sequence[tuple[Edge, Array]],
    *,
    retain_graph: bool | None = False,
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
        edge, grad = roots[0]
        roots = _follow_chain(edge, grad, retain_graph)
        if not roots:
            return []
    with quiet():
        return _walk(roots, retain_graph, capture)


def _follow_chain(edge: Edge, grad: Array, retain_graph: bool | None) -> list[tuple[Edge, Array]]:
    """Walk as far as each node has one result and one input; return where to go on, if anywhere."""
    is_new = False
    node = edge.node
    while not node.hooks:
        edges = node.edges
        if isinstance(node, AccumulateGrad):
            node.accumulate(grad, is_new)
            return []
        if len(edges) != 1 or node.output_shapes or not node.is_quiet:
            break
        if node.released or not node.saves_own:
            node.check_walkable()
        gradient, next_edge = node.backward(grad)[0], edges[0]
        if not retain_graph:
            node.release()
        if next_edge is None or gradient is None:
            return []
        edge, is_new = next_edge, node.makes_gradients
        grad = gradient if type(gradient) is ndarray else np.asarray(gradient)
        node = edge.node
    return [(edge, grad)]


def _walk(
    roots: Sequence[tuple[Edge, Array]], retain_graph: bool | None, capture: Sequence[Edge] | None
) -> list[Array | None]:
    arrived: dict[Operation, dict[int, Array]] = {}  # for nodes that wait, gradients of results
    waiting: list[tuple[int, Operation]] = []  # a heap of these nodes, the newest first
    new: set[Operation] = set()  # those whose gradient was made for them alone
    captured: dict[Edge, Array] = {}
    edges: Sequence[Edge | None] = [edge for edge, _ in roots]
    gradients: Sequence[Array | None] = [grad for _, grad in roots]
    are_new = False
    while True:
        for edge, gradient in zip(edges, gradients, strict=False):
            if edge is None or gradient is None:
                continue
            node, index = edge
            grads = arrived.get(node)
            if grads is None:
                arrived[node] = {index: _as_array(gradient)}
                heappush(waiting, (node.number, node))
                if are_new:
                    new.add(node)
            elif index not in grads:
                grads[index] = _as_array(gradient)
            else:
                grads[index] = _as_array(grads[index] + gradient)
                new.add(node)
        if not waiting:
            return [captured.get(edge) for edge in capture or ()]
        node = heappop(waiting)[1]
        grads = arrived.pop(node)
        if node.hooks:
            _run_hooks(node, grads)
        for edge in capture or ():
            if edge.node is node and edge.output_index in grads:
                captured[edge] = grads[edge.output_index]
        edges, are_new = node.edges, node.makes_gradients
        if not isinstance(node, AccumulateGrad):
            node.check_walkable()
            gradients = node.backward(*node.gradients_of_results(grads))
            if not retain_graph:
                node.release()
        elif capture is None:
            node.accumulate(grads[0], node in new and not node.hooks)


def _as_array(gradient: Any) -> Array:
    return gradient if type(gradient) is ndarray else np.asarray(gradient)


def _run_hooks(node: Operation, arrived: dict[int, Array]) -> None:
    for index, hooks in (node.hooks or {}).items():
        for hook in hooks:
            if index in arrived:
                replaced = hook(arrived[index])
                if replaced is not None:
                    arrived[index] = replaced
