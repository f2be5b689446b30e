"""Quantized embeddings as modules, and those of quantization-aware training."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn, quantization
from pyqref.quantization import (
    get_embedding_qat_module_mappings,
    get_embedding_static_quant_module_mappings,
)

nnq, nnqat = nn.quantized, nn.qat
DTYPES = [pyqref.quint8, pyqref.quint4x2]
QCONFIGS = {
    pyqref.quint8: quantization.float_qparams_weight_only_qconfig,
    pyqref.quint4x2: quantization.float_qparams_weight_only_qconfig_4bit,
}
INDICES = pyqref.tensor([[9, 6], [5, 5]])


def table() -> Any:
    values = np.random.default_rng(0).standard_normal((10, 12)).astype(np.float32)
    return pyqref.from_numpy(values)


def filled(cls: Any, **options: Any) -> Any:
    layer = cls(10, 12, **options)
    layer.weight.data = table()
    return layer


def steps(dtype: Any) -> float:
    """Half a step of the widest row, and half-precision offsets of numbers below 4."""
    width = (table().max(1).values - table().min(1).values).max().item()
    return float(width / dtype.quant_max / 2 + 2 * 4 * 2.0**-11)


@pytest.mark.parametrize("dtype", DTYPES)
def test_documented_examples(dtype: Any) -> None:
    """A new table is zero; shapes are those of the documentation."""
    m = nnq.Embedding(num_embeddings=10, embedding_dim=12, dtype=dtype)
    assert (9, 12) == tuple(m(pyqref.tensor([9, 6, 5, 7, 8, 8, 9, 2, 8])).size())
    m = nnq.EmbeddingBag(10, 12, include_last_offset=True, mode="sum", dtype=dtype)
    indices = pyqref.tensor([9, 6, 5, 7, 8, 8, 9, 2, 8, 6, 6, 9, 1, 6, 8, 8, 3, 2, 3, 6])
    y = m(indices, pyqref.tensor([0, 8, 20]))
    assert ((2, 12), 0.0) == (tuple(y.size()), y.abs().max().item())


@pytest.mark.parametrize("dtype", DTYPES)
def test_from_float(dtype: Any) -> None:
    """Rows are quantized over their own range; the text is torch's."""
    layer = filled(nn.Embedding)
    layer.qconfig = QCONFIGS[dtype]
    made = nnq.Embedding.from_float(layer)
    assert (made(INDICES) - layer(INDICES)).abs().max().item() <= steps(dtype)
    assert (
        f"QuantizedEmbedding(num_embeddings=10, embedding_dim=12, dtype={dtype}, "
        "qscheme=pyqref.per_channel_affine_float_qparams)" == repr(made)
    )
    assert dtype is made.weight().dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_copies(dtype: Any) -> None:
    """Deepcopy, and the state dict through save and load; torch's keys."""
    layer = filled(nn.Embedding)
    layer.qconfig = QCONFIGS[dtype]
    made = nnq.Embedding.from_float(layer)
    expected = made(INDICES).tolist()
    assert expected == copy.deepcopy(made)(INDICES).tolist()
    keys = ["_packed_params.dtype", "_packed_params._packed_weight"]
    assert keys == list(made.state_dict())
    file = io.BytesIO()
    pyqref.save(made.state_dict(), file)
    file.seek(0)
    other = nnq.Embedding(10, 12, dtype=dtype)
    other.load_state_dict(pyqref.load(file))
    assert expected == other(INDICES).tolist()
    with pytest.raises(RuntimeError, match="size mismatch"):
        nnq.Embedding(10, 6, dtype=dtype).load_state_dict(made.state_dict())


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_bags(dtype: Any, mode: str) -> None:
    """Documented: what the mode says. Torch: the sum."""
    layer = filled(nn.EmbeddingBag, mode=mode)
    layer.qconfig = QCONFIGS[dtype]
    made = nnq.EmbeddingBag.from_float(layer)
    flat, offsets = INDICES.flatten(), pyqref.tensor([0, 3])
    for arguments in ((INDICES,), (flat, offsets)):
        gap = (made(*arguments) - layer(*arguments)).abs().max().item()
        assert gap <= steps(dtype) * (3 if mode == "sum" else 1)
    pyqref.backends.quantized.conventions = "torch"
    layer.mode = "sum"
    assert (made(INDICES) - layer(INDICES)).abs().max().item() <= 2 * steps(dtype)


def test_mean_of_an_empty_bag() -> None:
    made = nnq.EmbeddingBag(10, 12, mode="mean")
    assert [[0.0] * 12] * 2 == made(pyqref.tensor([1]), pyqref.tensor([0, 1])).tolist()


def test_bag_options() -> None:
    """Options that cannot be quantized are refused, with the remedy."""
    with pytest.raises(ValueError, match="mode must be 'sum' or 'mean', got 'max'"):
        nnq.EmbeddingBag(10, 12, mode="max")
    layer = filled(nn.EmbeddingBag, padding_idx=3)
    layer.qconfig = QCONFIGS[pyqref.quint8]
    with pytest.raises(ValueError, match="padding_idx=3"):
        nnq.EmbeddingBag.from_float(layer)
    made = nnq.EmbeddingBag(10, 12, mode="mean")
    with pytest.raises(RuntimeError, match="per_sample_weights"):
        made(INDICES, per_sample_weights=pyqref.ones(2, 2))


def test_errors_name_the_path() -> None:
    model = nn.Sequential(nn.Identity(), nnq.Embedding(10, 12))
    with pytest.raises(RuntimeError, match=r"^1 \(QuantizedEmbedding\).*\[0, 9\], found 10"):
        model(pyqref.tensor([10]))


def test_refusals() -> None:
    layer = filled(nn.Embedding)
    with pytest.raises(ValueError, match="float_qparams_weight_only_qconfig"):
        nnq.Embedding.from_float(layer)
    layer.qconfig = quantization.default_qconfig
    with pytest.raises(ValueError, match="per_channel_affine_float_qparams"):
        nnq.Embedding.from_float(layer)
    with pytest.raises(TypeError, match="from_float takes one of"):
        nnq.Embedding.from_float(nn.Linear(2, 2))
    with pytest.raises(NotImplementedError, match="quint8 or quint4x2"):
        nnq.Embedding(10, 12, dtype=pyqref.qint8)
    with pytest.raises(ValueError, match=r"must have shape \(10, 12\)"):
        nnq.Embedding(10, 12).set_weight(nnq.Embedding(10, 11).weight())


def test_max_norm_warns() -> None:
    layer = filled(nn.Embedding, max_norm=1.0)
    layer.qconfig = QCONFIGS[pyqref.quint8]
    with pytest.warns(quantization.NoEffectWarning, match="max_norm has no effect"):
        nnq.Embedding.from_float(layer)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cls", [nn.Embedding, nn.EmbeddingBag])
def test_eager_conversion(cls: Any, dtype: Any) -> None:
    """Static and dynamic conversion give the same layer."""
    model = nn.Sequential(filled(cls))
    model.qconfig = QCONFIGS[dtype]
    static = quantization.convert(quantization.prepare(model))
    del model.qconfig
    dynamic = quantization.quantize_dynamic(model, {cls: QCONFIGS[dtype]})
    assert repr(static) == repr(dynamic)
    assert static(INDICES).tolist() == dynamic(INDICES).tolist()
    assert (static(INDICES) - model(INDICES)).abs().max().item() <= steps(dtype)


@pytest.mark.parametrize(
    "qconfig",
    [
        quantization.default_embedding_qat_qconfig,
        quantization.default_embedding_qat_qconfig_4bit,
    ],
)
@pytest.mark.parametrize("cls", [nn.Embedding, nn.EmbeddingBag])
def test_training(cls: Any, qconfig: Any) -> None:
    """Fake-quantized in training, quantized with the same grid afterwards."""
    model = nn.Sequential(filled(cls)).train()
    model.qconfig = qconfig
    prepared = quantization.prepare_qat(model, get_embedding_qat_module_mappings())
    assert type(prepared[0]) is getattr(nnqat, cls.__name__)
    y = prepared(INDICES)
    (y * y).sum().backward()
    assert 3 == int((prepared[0].weight.grad.abs().sum(1) > 0).sum())
    converted = quantization.convert(prepared.eval(), get_embedding_static_quant_module_mappings())
    dtype = converted[0].weight().dtype
    assert (converted(INDICES) - model(INDICES)).abs().max().item() <= 2 * steps(dtype)
    restored = prepared[0].to_float()
    assert (cls, table().tolist()) == (type(restored), restored.weight.tolist())


def test_training_needs_float_zero_points() -> None:
    with pytest.raises(ValueError, match="default_embedding_qat_qconfig"):
        nnqat.Embedding(10, 12, qconfig=quantization.default_qat_qconfig)
    with pytest.raises(ValueError, match="qconfig must be given"):
        nnqat.EmbeddingBag(10, 12)


@pytest.mark.parametrize("wrong", [5, pyqref.qint8])
def test_state_with_another_dtype_is_refused(wrong: Any) -> None:
    """Said as of every other entry that does not fit; the table stays."""
    layer = nnq.Embedding(10, 12)
    state = layer.state_dict()
    state["_packed_params.dtype"] = wrong
    with pytest.raises(RuntimeError, match=r"_packed_params\.dtype must be quint8 or quint4x2"):
        layer.load_state_dict(state)
    assert layer._packed_params.dtype is pyqref.quint8
