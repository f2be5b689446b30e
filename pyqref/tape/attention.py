"""Scaled dot-product attention as one operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels

from .matmul import product
from .operation import Array, Operation, unbroadcast

__all__ = ["Attention"]


class Attention(Operation):
    """``Attention(query, key, value, bias, is_causal, scale)``: see ``eq-attention``.

    The weights are worked out once more for the gradients: with s for the scale, w for the
    weights and g for the gradient of the result, that of the scores is
    ``w (g v^T - sum(w (g v^T)))``.
    """

    def forward(
        self,
        query: Array,
        key: Array,
        value: Array,
        bias: Array | None,
        is_causal: bool,
        scale: float,
    ) -> Array:
        self.is_causal, self.scale = is_causal, query.dtype.type(scale)
        if any(self.needs):
            self.save(query, key, value, bias)
        if query.ndim == 4:
            self.label = "ScaledDotProductFlashAttentionForCpuBackward0"
        return _kernels.attend(query, key, value, bias, is_causal, scale)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        query, key, value, bias = self.saved
        scores = product(query * self.scale, key.swapaxes(-1, -2))
        if bias is not None:
            scores += bias
        if self.is_causal:
            scores[..., np.triu(np.ones(scores.shape[-2:], np.bool_), 1)] = -np.inf
        weights: Any = _kernels.softmax(scores, -1)
        if bias is not None:
            weights[np.isneginf(scores).all(axis=-1)] = 0
        grad: Any = product(grads[0], value.swapaxes(-1, -2))
        grad = _kernels.softmax_gradient(grad, weights, -1)
        return (
            product(grad, key) * self.scale if self.needs[0] else None,
            product(grad.swapaxes(-1, -2), query) * self.scale if self.needs[1] else None,
            product(weights.swapaxes(-1, -2), grads[0]) if self.needs[2] else None,
            unbroadcast(grad, bias.shape) if self.needs[3] else None,
        )
