"""Graph mode: dynamic and weight-only quantization."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from parity.eager_models import FLOAT_SUMS
from parity.fx_graphs import global_mapping, model, rows, sequences, workflow
from parity.harness import parity_case


@parity_case(bounds={"*output*": FLOAT_SUMS})
def dynamic_linear(torch: Any) -> dict[str, Any]:
    """Layers and functions, with and without ReLU, in 8 bits."""
    nn, F, q = torch.nn, torch.nn.functional, torch.ao.quantization

    def forward(m: Any, x: Any) -> Any:
        y = m.second(F.relu(m.first(x)))
        return F.linear(F.relu(F.linear(y, m.w, m.b)), m.w) + m.third(x)

    def net() -> Any:
        return model(
            torch,
            forward,
            {"w": (6, 6), "b": (6,)},
            first=nn.Linear(6, 6),
            second=nn.Linear(6, 6),
            third=nn.Sequential(nn.Linear(6, 6), nn.ReLU()),
        )

    found = {}
    for name in ("default_dynamic_qconfig", "per_channel_dynamic_qconfig"):
        mapping = global_mapping(torch, getattr(q, name))
        found[name] = workflow(torch, net(), (rows(torch),), mapping=mapping)
    return found


@parity_case(bounds={"*output*": FLOAT_SUMS})
def dynamic_float16(torch: Any) -> dict[str, Any]:
    """Layers and functions in half precision."""
    nn, F, q = torch.nn, torch.nn.functional, torch.ao.quantization

    def forward(m: Any, x: Any) -> Any:
        return F.linear(F.relu(m.first(x)), m.w, m.b)

    net = model(torch, forward, {"w": (6, 6), "b": (6,)}, first=nn.Linear(6, 6))
    mapping = global_mapping(torch, q.float16_dynamic_qconfig)
    return workflow(torch, net, (rows(torch),), mapping=mapping)


@parity_case(bounds={"*output*": FLOAT_SUMS})
def dynamic_recurrent(torch: Any) -> dict[str, Any]:
    """LSTM, GRU and cells, in 8 bits and in half precision."""
    nn, q = torch.nn, torch.ao.quantization

    def forward(m: Any, x: Any) -> Any:
        y = m.gru(m.lstm(x)[0])[0]
        return m.gru_cell(y[0]) + m.rnn_cell(y[1]) + m.lstm_cell(y[2])[0]

    net = model(
        torch,
        forward,
        lstm=nn.LSTM(6, 5),
        gru=nn.GRU(5, 6),
        gru_cell=nn.GRUCell(6, 4),
        rnn_cell=nn.RNNCell(6, 4),
        lstm_cell=nn.LSTMCell(6, 4),
    )
    found = {}
    for name in ("default_dynamic_qconfig", "float16_dynamic_qconfig"):
        mapping = global_mapping(torch, getattr(q, name))
        found[name] = workflow(torch, copy.deepcopy(net), (sequences(torch),), mapping=mapping)
    return found


@parity_case(bounds={"*output*": FLOAT_SUMS})
def embeddings(torch: Any) -> dict[str, Any]:
    """Only the tables are quantized."""
    nn, q = torch.nn, torch.ao.quantization
    mapping = (
        q.QConfigMapping()
        .set_object_type(nn.Embedding, q.float_qparams_weight_only_qconfig)
        .set_object_type(nn.EmbeddingBag, q.float_qparams_weight_only_qconfig_4bit)
    )
    net = model(
        torch,
        lambda m, x: (m.table(x), m.bag(x)),
        table=nn.Embedding(5, 8),
        bag=nn.EmbeddingBag(5, 8, mode="sum"),
    )
    x = torch.from_numpy(np.random.default_rng(4).integers(0, 5, (3, 4)))
    return workflow(torch, net, (x,), mapping=mapping)
