"""Layers of torch 1.0 whose int8 weights are plain tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref

CELLS = {
    "quantized_lstm_cell": 4,
    "quantized_gru_cell": 3,
    "quantized_rnn_relu_cell": 1,
    "quantized_rnn_tanh_cell": 1,
}
RNG = np.random.default_rng(3)
X, H, C = (RNG.standard_normal((4, n)).astype(np.float32) for n in (5, 3, 3))


def _weight(rng: Any, *shape: int) -> Any:
    """One whose products no kernel of torch saturates: all integers but two are small."""
    weight = rng.uniform(-1, 1, shape).astype(np.float32)
    weight[0, :2] = 4, -4
    return weight


def _cell(torch: Any, name: str) -> list[Any]:
    """The states after one step, by the functions that a script would call."""
    rng = np.random.default_rng(4)
    rows = 3 * CELLS[name]
    weights = [torch.from_numpy(_weight(rng, rows, n)) for n in (5, 3)]
    biases = [torch.from_numpy(rng.standard_normal(rows).astype("f")) for _ in range(2)]
    parts = [torch.fbgemm_linear_quantize_weight(each) for each in weights]
    integers, sums, scales, zero_points = zip(*parts, strict=True)
    packed = [torch.fbgemm_pack_quantized_matrix(each) for each in integers]
    x, h, c = (torch.from_numpy(each) for each in (X, H, C))
    state: Any = [h, c] if "lstm" in name else h
    out = getattr(torch, name)(x, state, *integers, *biases, *packed, *sums, *scales, *zero_points)
    return [each.numpy() for each in (out if isinstance(out, tuple) else (out,))]


@pytest.mark.parametrize("name", CELLS)
def test_cell(name: str) -> None:
    """It is the dynamic cell of the same weights where the input has 8 bits, not 7."""
    pyqref.backends.quantized.engine, old = "qnnpack", pyqref.backends.quantized.engine
    try:
        rng = np.random.default_rng(4)
        rows = 3 * CELLS[name]
        weights = [pyqref.from_numpy(_weight(rng, rows, n)) for n in (5, 3)]
        biases = [pyqref.from_numpy(rng.standard_normal(rows).astype("f")) for _ in range(2)]
        quantized = [pyqref.quantize_per_tensor_dynamic(w, pyqref.qint8, False) for w in weights]
        packed = [
            pyqref.ops.quantized.linear_prepack(w, b)
            for w, b in zip(quantized, biases, strict=True)
        ]
        x, h, c = (pyqref.from_numpy(each) for each in (X, H, C))
        state: Any = [h, c] if "lstm" in name else h
        out = getattr(pyqref.ops.quantized, f"{name}_dynamic")(x, state, *packed, None, None)
        for expected, actual in zip(
            out if isinstance(out, tuple) else (out,), _cell(pyqref, name), strict=True
        ):
            assert expected.tolist() == actual.tolist()
    finally:
        pyqref.backends.quantized.engine = old


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.filterwarnings("ignore")
def test_cell_as_torch(name: str) -> None:
    """The gates are torch's to the bit; its tanh and sigmoid differ by some units in the last."""
    torch = pytest.importorskip("torch")
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        pytest.skip("this torch has no fbgemm")
    for expected, actual in zip(_cell(torch, name), _cell(pyqref, name), strict=True):
        np.testing.assert_allclose(expected, actual, rtol=0, atol=4 * 2.0**-24)


def test_linear_as_torch() -> None:
    """To the bit, by both names, and so are the parts of the weight."""
    torch = pytest.importorskip("torch")
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        pytest.skip("this torch has no fbgemm")
    weight, bias = _weight(RNG, 12, 5), np.ones(12, "f")
    results = []
    for t in (torch, pyqref):
        q, sums, scale, zero_point = t.fbgemm_linear_quantize_weight(t.from_numpy(weight))
        packed = t.fbgemm_pack_quantized_matrix(q)
        for function in (t.fbgemm_linear_int8_weight, t.fbgemm_linear_int8_weight_fp32_activation):
            y = function(t.from_numpy(X), q, packed, sums, scale, zero_point, t.from_numpy(bias))
            results.append((q.tolist(), sums.tolist(), scale, zero_point, y.tolist()))
    assert [results[0]] * 4 == results


def test_refusals() -> None:
    """Each names the argument, what is accepted, and what came."""
    q = pyqref.ones(8, 2, dtype=pyqref.int8)
    bias, x = pyqref.zeros(8), pyqref.ones(1, 2)
    rest = (q, q, bias, bias, 1.0, 1.0, 0, 0)
    with pytest.raises(TypeError, match=r"w_ih must be int8, got pyqref\.float32; fbgemm_linear_q"):
        pyqref.quantized_lstm_cell(x, (x, x), q.float(), q, bias, bias, *rest)
    with pytest.raises(TypeError, match="hx must be a hidden and a cell state"):
        pyqref.quantized_lstm_cell(x, x, q, q, bias, bias, *rest)
    with pytest.raises(RuntimeError, match="3 times as many rows"):
        pyqref.quantized_gru_cell(x, x, q, q, bias, bias, *rest)
    with pytest.raises(RuntimeError, match=r"hx must have shape \(1, 2\)"):
        pyqref.quantized_lstm_cell(x, (bias, x), q, q, bias, bias, *rest)
    with pytest.raises(ValueError, match=r"K and N must be \(2, 8\)"):
        pyqref.fbgemm_pack_quantized_matrix(q, 8, 2)
