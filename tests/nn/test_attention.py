"""Attention: masks, weights, and its two forms against each other."""

from __future__ import annotations

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref.nn import functional as F

EPS = float(np.finfo(np.float32).eps)


def _normal(*shape: int) -> pyqref.Tensor:
    rng = np.random.default_rng(sum(shape))
    return pyqref.from_numpy(rng.standard_normal(shape).astype(np.float32))


def test_weights_sum_to_one_and_mask_hides() -> None:
    """Rows of weights sum to 1; masked keys get exactly 0."""
    layer = nn.MultiheadAttention(4, 2)
    x = _normal(3, 2, 4)
    hidden = pyqref.tensor([[False, False, True], [False, True, True]])
    _, weights = layer(x, x, x, key_padding_mask=hidden, average_attn_weights=False)
    assert (2, 2, 3, 3) == tuple(weights.shape)
    assert float((weights.sum(-1) - 1).abs().max()) <= 4 * EPS
    assert 0.0 == weights[1, :, :, 1:].abs().max().item()
    assert 0.0 == weights[0, :, :, 2].abs().max().item()


def test_boolean_and_additive_masks_agree() -> None:
    """True in a mask of the layer is minus infinity in an additive one."""
    layer = nn.MultiheadAttention(4, 2)
    x = _normal(3, 2, 4)
    forbidden = np.triu(np.ones((3, 3), dtype=bool), 1)
    added = np.where(forbidden, np.float32(-np.inf), np.float32(0))
    by_bool, _ = layer(x, x, x, attn_mask=pyqref.from_numpy(forbidden))
    by_number, _ = layer(x, x, x, attn_mask=pyqref.from_numpy(added))
    assert pyqref.equal(by_bool, by_number)


def test_causal_attention_looks_only_back() -> None:
    """Changing the last key changes only the last result of causal attention."""
    q, k, v = _normal(1, 4, 3), _normal(1, 4, 3), _normal(1, 4, 2)
    before = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    k[:, -1] = 9.0
    after = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert pyqref.equal(before[:, :-1], after[:, :-1])
    assert not pyqref.equal(before[:, -1], after[:, -1])


def test_boolean_mask_of_the_function_says_where_to_look() -> None:
    """In the functional form True allows; a query that may look nowhere gives zeros."""
    q, k, v = _normal(2, 3), _normal(2, 3), _normal(2, 2)
    allowed = pyqref.tensor([[True, False], [False, False]])
    y = F.scaled_dot_product_attention(q, k, v, allowed)
    assert pyqref.equal(y[0], v[0])
    assert [0.0, 0.0] == y[1].tolist()


def test_attention_is_its_formula() -> None:
    """``softmax(q k^T / sqrt(E)) v`` in double."""
    q, k, v = (_normal(2, 3, n).double() for n in (4, 4, 5))
    scores = q.numpy() @ k.numpy().swapaxes(1, 2) / 2.0
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    y = F.scaled_dot_product_attention(q, k, v).numpy()
    assert np.abs(weights @ v.numpy() - y).max() <= 64 * np.finfo(np.float64).eps


def test_encoder_copies_its_layer() -> None:
    """Every layer of an encoder starts with the same parameters and owns them."""
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(4, 2, 6, batch_first=True), 2, enable_nested_tensor=False
    ).eval()
    first, second = encoder.layers
    assert pyqref.equal(first.linear1.weight, second.linear1.weight)
    assert first.linear1.weight is not second.linear1.weight
    x = _normal(2, 3, 4)
    assert pyqref.equal(second(first(x)), encoder(x))


def test_bad_heads_and_shapes() -> None:
    """Heads that do not divide the features, and inputs that do not fit, are named."""
    with pytest.raises(ValueError, match="divisible by num_heads, got 5 and 2"):
        nn.MultiheadAttention(5, 2)
    with pytest.raises(RuntimeError, match="embedding dimension of 4, but got 3"):
        nn.MultiheadAttention(4, 2)(*[pyqref.zeros(2, 3)] * 3)
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not tanh"):
        nn.TransformerEncoderLayer(4, 2, activation="tanh")


@pytest.mark.parametrize("is_causal", [False, True])
def test_gradients_are_those_of_products_and_a_softmax(is_causal: bool) -> None:
    """Gradients of the fused operation (float32) agree with those of its parts (float64).

    The bound: each of four products of at most 9 terms of size 4 at most, and a softmax, have some
    40 roundings.
    """
    arrays = [_normal(2, n, 4).numpy() for n in (7, 9, 9)]
    bias = None if is_causal else _normal(7, 9).numpy()
    found = []
    for dtype in (np.float32, np.float64):
        given = [pyqref.from_numpy(each.astype(dtype)).requires_grad_() for each in arrays]
        mask = None if bias is None else pyqref.from_numpy(bias.astype(dtype)).requires_grad_()
        y = F.scaled_dot_product_attention(*given, mask, is_causal=is_causal)
        (y * y).sum().backward()
        found.append([each.grad.numpy() for each in (*given, mask) if each is not None])
    for single, double in zip(*found, strict=True):
        assert np.abs(single - double).max() <= 40 * EPS * 4


def test_layer_without_weights_gives_the_bias_where_a_query_may_look_nowhere() -> None:
    """The bias comes out, as in torch's layer; with weights these results are nan."""
    layer, x = nn.MultiheadAttention(4, 2), _normal(5, 1, 4)
    hidden = pyqref.ones(1, 5, dtype=pyqref.bool)
    y, _ = layer(x, x, x, key_padding_mask=hidden, need_weights=False)
    assert pyqref.equal(layer.out_proj.bias.expand(5, 1, 4), y)
