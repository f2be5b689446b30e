"""LSTM and multi-head attention in parts: observed, calibrated, on integers."""

from __future__ import annotations

from typing import Any

from parity.cases.quantized_modules import module, numbers, tensor, together
from parity.harness import Bound, parity_case

# Sums of at most 8 products in another order and gates within a few ulps, over 5 steps.
_FLOAT = Bound("float sums of up to 8 products, sigmoid and tanh, over 5 steps", absolute=2.0**-19)


def sixteenths(torch: Any, seed: int, *shape: int, spread: float = 1.0) -> Any:
    """Values whose float sums are exact, in whatever order they are added."""
    return (tensor(torch, seed, *shape, spread=spread) * 16).round() / 16


def fill(torch: Any, layer: Any) -> Any:
    for seed, parameter in enumerate(layer.parameters()):
        parameter.data = sixteenths(torch, 90 + seed, *parameter.shape, spread=0.4)
    return layer


def qconfig(torch: Any) -> Any:
    """Fixed grids: float rounding of the calibration must not decide about integers."""
    quantization = module(torch, "ao.quantization")
    return quantization.QConfig(
        activation=quantization.FixedQParamsObserver.with_args(
            scale=2.0**-5, zero_point=61, dtype=torch.quint8, quant_min=0, quant_max=255
        ),
        weight=quantization.default_weight_observer,
    )


LSTMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "deep": {"num_layers": 2, "bidirectional": True},
    "batch_first": {"batch_first": True, "bias": False},
}


@parity_case(bounds={"float/*": _FLOAT})
def lstm(torch: Any) -> dict[str, Any]:
    """Float as nn.LSTM, then integers; states given and not."""
    quantizable = module(torch, "ao.nn.quantizable")
    quantized = module(torch, "ao.nn.quantized")
    torch.backends.quantized.engine = "fbgemm"
    integers: dict[str, Any] = {}
    floats: dict[str, Any] = {}
    x = sixteenths(torch, 1, 5, 3, 4)
    qx = torch.quantize_per_tensor(x, 2.0**-5, 61, torch.quint8)
    for name, options in LSTMS.items():
        for split_gates in (False, True):
            layer = fill(torch, torch.nn.LSTM(4, 3, **options)).eval()
            layer.qconfig = qconfig(torch)
            observed = quantizable.LSTM.from_float(layer, split_gates=split_gates)
            output, states = observed(x)
            key = f"{name}-{split_gates}"
            floats[key] = numbers({"output": output, "h": states[0], "c": states[1]})
            converted = quantized.LSTM.from_observed(observed)
            output, states = converted(qx)
            integers[key] = output
            integers[key + "-h"], integers[key + "-c"] = states
            h, c = (each.dequantize() * 0.5 for each in states)
            given = tuple(
                torch.quantize_per_tensor(each, 2.0**-6, 100, torch.quint8) for each in (h, c)
            )
            integers[key + "-given"] = converted(qx, given)[0]
    return {"float": floats, **together(integers)}


@parity_case()
def lstm_texts_and_states(torch: Any) -> dict[str, Any]:
    quantizable = module(torch, "ao.nn.quantizable")
    quantized = module(torch, "ao.nn.quantized")
    results: dict[str, Any] = {}
    layer = quantizable.LSTM(4, 3, 2, dropout=0.5)
    results["float"] = [repr(layer), " ".join(layer.state_dict())]
    results["cell"] = repr(quantizable.LSTMCell(4, 3, split_gates=True))
    source = fill(torch, torch.nn.LSTM(4, 3)).eval()
    source.qconfig = qconfig(torch)
    observed = quantizable.LSTM.from_float(source)
    results["observed"] = " ".join(observed.state_dict())
    converted = quantized.LSTM.from_observed(observed)
    results["converted"] = [repr(converted), " ".join(converted.state_dict())]
    return results


@parity_case(bounds={"*float*": _FLOAT})
def lstm_cell(torch: Any) -> dict[str, Any]:
    quantizable = module(torch, "ao.nn.quantizable")
    cell = fill(torch, torch.nn.LSTMCell(4, 3))
    cell.qconfig = qconfig(torch)
    made = quantizable.LSTMCell.from_float(cell)
    x, h, c = (sixteenths(torch, 10 + seed, 2, size) for seed, size in enumerate((4, 3, 3)))
    both = (made(x, (h, c)), made(x))
    return {"float": [each for pair in both for each in pair], "repr": repr(made)}


ATTENTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "other_sizes": {"kdim": 3, "vdim": 5, "add_bias_kv": True},
    "zero": {"add_zero_attn": True, "bias": False},
}


@parity_case(bounds={"float/*": _FLOAT})
def attention(torch: Any) -> dict[str, Any]:
    """Float as nn.MultiheadAttention, with every mask, then integers."""
    quantizable = module(torch, "ao.nn.quantizable")
    quantized = module(torch, "ao.nn.quantized")
    torch.backends.quantized.engine = "fbgemm"
    floats: dict[str, Any] = {}
    integers: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    for name, options in ATTENTIONS.items():
        layer = fill(torch, torch.nn.MultiheadAttention(4, 2, **options)).eval()
        if layer.bias_k is not None:  # torch quantizes bias_v over the range of bias_k
            layer.bias_v.data = layer.bias_k.data
        layer.qconfig = qconfig(torch)
        observed = quantizable.MultiheadAttention.from_float(layer)
        sizes = (4, options.get("kdim", 4), options.get("vdim", 4))
        query, key, value = (
            sixteenths(torch, 20 + size, length, 2, size)
            for length, size in zip((3, 5, 5), sizes, strict=True)
        )
        hidden = torch.tensor([[False, False, True, False, True], [True] + [False] * 4])
        allowed = torch.tensor(
            [[(row + column) % 3 == 1 for column in range(5)] for row in range(3)]
        )
        calls: dict[str, dict[str, Any]] = {
            "plain": {},
            "heads": {"average_attn_weights": False},
            "hidden": {"key_padding_mask": hidden},
            "masked": {"attn_mask": allowed},
            "added": {"attn_mask": tensor(torch, 30, 3, 5)},
        }
        for call, arguments in calls.items():
            output, weights = observed(query, key, value, **arguments)
            floats[f"{name}-{call}"] = numbers({"output": output, "weights": weights})
        converted = quantized.MultiheadAttention.from_observed(observed)
        inputs = (
            torch.quantize_per_tensor(each, 2.0**-5, 61, torch.quint8)
            for each in (query, key, value)
        )
        integers[name], integers[name + "-weights"] = converted(*inputs)
        texts[name] = [repr(observed), repr(converted)]
        if not options.get("kdim"):
            texts[name] += [" ".join(observed.state_dict()), " ".join(converted.state_dict())]
    return {"float": floats, "texts": texts, **together(integers)}


@parity_case()
def flow(torch: Any) -> dict[str, Any]:
    """Prepare and convert take both apart, without being asked to."""
    nn, quantization = torch.nn, module(torch, "ao.quantization")

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant = quantization.QuantStub()
            self.lstm = nn.LSTM(4, 4)
            self.attention = nn.MultiheadAttention(4, 2)
            self.dequant = quantization.DeQuantStub()

        def forward(self, x: Any) -> Any:
            x, _ = self.lstm(self.quant(x))
            x, _ = self.attention(x, x, x)
            return self.dequant(x)

    torch.backends.quantized.engine = "fbgemm"
    model = fill(torch, Model()).eval()
    model.qconfig = qconfig(torch)
    prepared = quantization.prepare(model)
    x = sixteenths(torch, 40, 5, 2, 4)
    prepared(x)
    converted = quantization.convert(prepared)
    return {"y": converted(x), "prepared": repr(prepared), "converted": repr(converted)}
