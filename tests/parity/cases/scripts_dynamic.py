"""Dynamic quantization as users write it: language models, a transformer, embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.eager_models import fill, random_values, stored
from parity.harness import Bound, parity_case

GATES = Bound("sigmoid and tanh to a few ulps, over 6 steps", absolute=5e-6)
FLOAT_SUMS = Bound("float32 sums of up to 16 terms, in another order", absolute=1e-5)


def tokens(torch: Any, vocabulary: int, shape: tuple[int, ...], seed: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, vocabulary, shape))


def normal(torch: Any, *shape: int, seed: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def kinds(model: Any) -> str:
    return str([f"{path}: {type(each).__name__}" for path, each in model.named_modules()])


def language_model(torch: Any, cell: str) -> Any:
    """The word model of the dynamic quantization tutorial, small."""
    nn = torch.nn

    class WordModel(nn.Module):
        def __init__(self, words: int, size: int, hidden: int, layers: int) -> None:
            super().__init__()
            self.drop = nn.Dropout(0.5)
            self.encoder = nn.Embedding(words, size)
            self.rnn = getattr(nn, cell)(size, hidden, layers, dropout=0.5)
            self.decoder = nn.Linear(hidden, words)

        def forward(self, input: Any, hidden: Any) -> Any:
            output, hidden = self.rnn(self.drop(self.encoder(input)), hidden)
            return self.decoder(self.drop(output)), hidden

    return WordModel(11, 6, 8, 2)


def run_language_model(torch: Any, cell: str, dtype: Any) -> dict[str, Any]:
    torch.backends.quantized.engine = "fbgemm"
    model = fill(torch, language_model(torch, cell), random_values).eval()
    quantized = torch.quantization.quantize_dynamic(
        model, {getattr(torch.nn, cell), torch.nn.Linear}, dtype=dtype
    )
    state = torch.zeros(2, 3, 8)
    hidden = (state, state) if cell == "LSTM" else state
    with torch.no_grad():
        output, hidden = quantized(tokens(torch, 11, (6, 3)), hidden)
        loss = torch.nn.functional.cross_entropy(
            output.reshape(-1, 11), tokens(torch, 11, (18,), seed=1)
        )
    weights = {name: each for name, each in quantized.rnn.get_weight().items() if each.is_quantized}
    return {
        "kinds": kinds(quantized),
        "weights": weights,
        "output": output,
        "hidden": list(hidden) if cell == "LSTM" else [hidden],
        "loss": loss,
    }


RECURRENT = {"output": GATES, "hidden/*": GATES, "loss": GATES}


@parity_case(RECURRENT)
def lstm_language_model(torch: Any) -> dict[str, Any]:
    return run_language_model(torch, "LSTM", torch.qint8)


@parity_case(RECURRENT)
def gru_language_model(torch: Any) -> dict[str, Any]:
    return run_language_model(torch, "GRU", torch.qint8)


@parity_case(
    {
        "output": Bound("float16 weights, float32 gates over 6 steps", absolute=5e-6),
        "hidden/*": Bound("the same", absolute=5e-6),
        "loss": Bound("the same", absolute=5e-6),
    }
)
def lstm_language_model_float16(torch: Any) -> dict[str, Any]:
    return run_language_model(torch, "LSTM", torch.float16)


@parity_case({"output": Bound("attention and norms in float32", absolute=5e-5)})
def transformer_encoder(torch: Any) -> dict[str, Any]:
    """Sequence first: with ``batch_first=True`` torch 2.13 fails after ``quantize_dynamic``."""
    torch.backends.quantized.engine = "fbgemm"
    nn = torch.nn

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(20, 8)
            layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(8, 5)

        def forward(self, x: Any) -> Any:
            return self.head(self.encoder(self.embed(x)))

    model = fill(torch, Encoder(), random_values).eval()
    quantized = torch.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    with torch.no_grad():
        output = quantized(tokens(torch, 20, (2, 5)))
    return {"kinds": kinds(quantized), "stored": stored(quantized), "output": output}


@parity_case({"output": FLOAT_SUMS})
def names_types_and_exceptions(torch: Any) -> dict[str, Any]:
    """A dictionary of names and types; a part with ``qconfig = None``."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.quantization, torch.nn
    model = nn.Sequential(
        nn.Linear(5, 6),
        nn.Sequential(nn.Linear(6, 7), nn.ReLU(), nn.Linear(7, 6)),
        nn.Linear(6, 4),
        nn.Linear(4, 4),
    )
    fill(torch, model, random_values).eval()
    model[3].qconfig = None
    quantized = q.quantize_dynamic(
        model,
        {
            "0": q.per_channel_dynamic_qconfig,
            "1": q.default_dynamic_qconfig,
            "1.2": q.float16_dynamic_qconfig,
            nn.Linear: q.default_dynamic_qconfig,
        },
    )
    return {"kinds": kinds(quantized), "output": quantized(normal(torch, 3, 5))}


@parity_case()
def own_dynamic_qconfig(torch: Any) -> dict[str, Any]:
    """QConfigDynamic of the documentation, on both engines."""
    q, nn = torch.quantization, torch.nn
    results = {}
    for engine in ("fbgemm", "qnnpack"):
        torch.backends.quantized.engine = engine
        observer = q.MinMaxObserver.with_args(
            dtype=torch.qint8, qscheme=torch.per_tensor_symmetric, quant_min=-64, quant_max=63
        )
        qconfig = q.QConfig(activation=q.default_dynamic_quant_observer, weight=observer)
        model = fill(torch, nn.Sequential(nn.Linear(9, 5), nn.ReLU()), random_values)
        quantized = q.quantize_dynamic(model, {nn.Linear: qconfig})
        results[engine] = {
            "weight": quantized[0].weight(),
            "output": quantized(normal(torch, 4, 9, seed=3)),
        }
    return results


@parity_case()
def embeddings(torch: Any) -> dict[str, Any]:
    """Rows of 8 and of 4 bits; the linear layer stays float."""
    torch.backends.quantized.engine = "fbgemm"
    nn = torch.nn

    class Bag(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(7, 6)
            self.bag = nn.EmbeddingBag(9, 6, mode="sum")

        def forward(self, x: Any, offsets: Any) -> Any:
            return self.table(x[:3]), self.bag(x, offsets)

    results = {}
    for name in ("quint8", "quint4x2"):
        model = fill(torch, Bag(), random_values).eval()
        quantized = torch.quantization.quantize_dynamic(model, dtype=getattr(torch, name))
        x, offsets = tokens(torch, 7, (8,)), torch.tensor([0, 3, 5])
        results[name] = {"kinds": kinds(quantized), "output": quantized(x, offsets)}
    return results
