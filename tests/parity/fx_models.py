"""A table of small models, one a pattern of graph mode, for whole workflows on any engine.

An entry is a function of the namespace that gives a model and its inputs. Where nothing
else is said the values are multiples of 1/4, so that every order of a float sum gives the
same number, and the results compare bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from parity.fx_graphs import images, model, rows, workflow

__all__ = ["ENGINES", "MODELS", "engines_of", "entry", "on_engine", "trains"]

Built = tuple[Any, tuple[Any, ...]]
MODELS: dict[str, Callable[[Any], Built]] = {}
ENGINES = ("fbgemm", "qnnpack", "x86", "onednn")
SHAPES = {1: (2, 4, 8), 2: (2, 4, 6, 6), 3: (1, 4, 4, 4, 4)}


def entry(
    name: str,
    forward: Callable[[Any, Any, Any], Any],
    inputs: Callable[[Any], tuple[Any, ...]],
    parts: Callable[[Any], dict[str, Any]] = lambda nn: {},
    parameters: dict[str, Any] | None = None,
) -> None:
    """Add a model: ``forward`` takes the namespace, the module and its input."""
    assert name not in MODELS, name

    def build(torch: Any) -> Built:
        made = parts(torch.nn)
        net = model(torch, lambda m, x: forward(torch, m, x), parameters, **made)
        return net, inputs(torch)

    MODELS[name] = build


def engines_of(name: str) -> tuple[str, ...]:
    """The engines that torch runs the model on.

    Under qnnpack it has nothing of 3 dimensions, and under onednn, whose weights have a scale
    a channel by default, no transposed convolution.
    """
    missing = {"qnnpack": "3d", "onednn": "conv_transpose"}
    return tuple(each for each in ENGINES if missing.get(each, "none") not in name)


def trains(name: str) -> bool:
    """Return True if the model is compared for training: each pattern with one form of ReLU.

    torch does not fold batch norm into transposed convolutions for training.
    """
    repeats = ("_relu_function", "_relu_torch", "_relu_method", "_relu_in_place")
    return not name.endswith(repeats) and not ("transpose" in name and "bn" in name)


def on_engine(torch: Any, name: str, engine: str, qat: bool = False) -> dict[str, Any]:
    """A model of the table under the default mapping of an engine, as a whole workflow."""
    torch.backends.quantized.engine = engine
    q = torch.ao.quantization
    get = q.get_default_qat_qconfig_mapping if qat else q.get_default_qconfig_mapping
    net, example = MODELS[name](torch)
    if qat:
        for module in net.modules():
            if hasattr(module, "running_var"):
                module.eps = 2.0**-10  # torch does not train without
    return workflow(torch, net, example, mapping=get(engine), qat=qat)


def _rows(torch: Any) -> tuple[Any, ...]:
    return (rows(torch),)


def _images(d: int) -> Callable[[Any], tuple[Any, ...]]:
    return lambda torch: (images(torch, 2, *SHAPES[d]),)


# With ReLU as a module, a function, a method, in place, and none.
RELUS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "": lambda torch, m, y: y,
    "_relu_module": lambda torch, m, y: m.relu(y),
    "_relu_function": lambda torch, m, y: torch.nn.functional.relu(y),
    "_relu_torch": lambda torch, m, y: torch.relu(y),
    "_relu_method": lambda torch, m, y: y.relu(),
    "_relu_in_place": lambda torch, m, y: torch.nn.functional.relu(y, inplace=True),
}


def _with_relu(
    name: str,
    before: Callable[[Any, Any, Any], Any],
    inputs: Callable[[Any], tuple[Any, ...]],
    parts: Callable[[Any], dict[str, Any]],
    parameters: dict[str, Any] | None = None,
) -> None:
    for kind, relu in RELUS.items():
        entry(
            f"{name}{kind}",
            lambda torch, m, x, relu=relu: relu(torch, m, before(torch, m, x)),
            inputs,
            lambda nn: {**parts(nn), "relu": nn.ReLU()},
            parameters,
        )


def _layers() -> None:
    _with_relu("linear", lambda t, m, x: m.layer(x), _rows, lambda nn: {"layer": nn.Linear(6, 5)})
    _with_relu(
        "linear_function",
        lambda t, m, x: t.nn.functional.linear(x, m.weight, m.bias),
        _rows,
        lambda nn: {},
        {"weight": (5, 6), "bias": (5,)},
    )
    entry(
        "linear_without_bias",
        lambda t, m, x: t.nn.functional.linear(m.layer(x), m.weight),
        _rows,
        lambda nn: {"layer": nn.Linear(6, 5, bias=False)},
        {"weight": (3, 5)},
    )
    for relu in (False, True):
        entry(
            "linear_bn" + "_relu" * relu,
            lambda t, m, x, relu=relu: m.relu(m.bn(m.layer(x))) if relu else m.bn(m.layer(x)),
            _rows,
            lambda nn: {"layer": nn.Linear(6, 5), "bn": nn.BatchNorm1d(5, 0.0), "relu": nn.ReLU()},
        )


def _convolutions(d: int) -> None:
    def conv(nn: Any) -> dict[str, Any]:
        return {"layer": getattr(nn, f"Conv{d}d")(4, 4, 3, padding=1, groups=2)}

    def with_bn(nn: Any) -> dict[str, Any]:
        return {**conv(nn), "bn": getattr(nn, f"BatchNorm{d}d")(4, eps=0.0)}

    def up(nn: Any) -> dict[str, Any]:
        return {"layer": getattr(nn, f"ConvTranspose{d}d")(4, 4, 2, stride=2)}

    def function(t: Any, m: Any, x: Any) -> Any:
        convolve = getattr(t.nn.functional, f"conv{d}d")
        return convolve(x, m.weight, m.bias, (1,) * d, (1,) * d, (1,) * d, 1)

    def up_function(t: Any, m: Any, x: Any) -> Any:
        convolve = getattr(t.nn.functional, f"conv_transpose{d}d")
        return convolve(x, m.weight, m.bias, (2,) * d, (0,) * d, (0,) * d, 1, (1,) * d)

    weight = {"weight": (4, 4, *(3,) * d), "bias": (4,)}
    up_weight = {"weight": (4, 4, *(2,) * d), "bias": (4,)}
    _with_relu(f"conv{d}d", lambda t, m, x: m.layer(x), _images(d), conv)
    _with_relu(f"conv{d}d_function", function, _images(d), lambda nn: {}, weight)
    _with_relu(f"conv{d}d_bn", lambda t, m, x: m.bn(m.layer(x)), _images(d), with_bn)
    _with_relu(f"conv_transpose{d}d", lambda t, m, x: m.layer(x), _images(d), up)
    entry(f"conv_transpose{d}d_function", up_function, _images(d), lambda nn: {}, up_weight)
    entry(
        f"conv_transpose{d}d_bn",
        lambda t, m, x: m.bn(m.layer(x)),
        _images(d),
        lambda nn: {**up(nn), "bn": getattr(nn, f"BatchNorm{d}d")(4, eps=0.0)},
    )


def _two(nn: Any) -> dict[str, Any]:
    return {"a": nn.Linear(8, 8), "b": nn.Linear(8, 8)}


def _whole_vectors(torch: Any) -> tuple[Any, ...]:
    """64 elements, since torch sums the tail of a loop by another rule, see the errata."""
    return (rows(torch, 1, 8, 8),)


def _iadd(x: Any, y: Any) -> Any:
    x += y
    return x


def _imul(x: Any, y: Any) -> Any:
    x *= y
    return x


def _binary() -> None:
    for name, compute in {
        "add": lambda t, x, y: x + y,
        "add_torch": lambda t, x, y: t.add(x, y),
        "add_in_place": lambda t, x, y: _iadd(x, y),
        "add_scalar": lambda t, x, y: x + 1.5,
        "add_scalar_left": lambda t, x, y: 2 + x,
        "add_scalar_in_place": lambda t, x, y: _iadd(x, 0.5),
        "mul": lambda t, x, y: x * y,
        "mul_torch": lambda t, x, y: t.mul(x, y),
        "mul_in_place": lambda t, x, y: _imul(x, y),
        "mul_scalar": lambda t, x, y: x * 1.5,
        "mul_scalar_left": lambda t, x, y: 0.5 * x,
        "mul_scalar_in_place": lambda t, x, y: _imul(x, 3),
        "cat": lambda t, x, y: t.cat([x, y], 1),
        "cat_three": lambda t, x, y: t.cat((x, y, x), dim=0),
        "cat_itself": lambda t, x, y: t.cat([x, x], -1),
        "stack": lambda t, x, y: t.stack([x, y], 1),
        "matmul": lambda t, x, y: t.matmul(x, y.transpose(0, 1)),
        "sub": lambda t, x, y: x - y,
        "div": lambda t, x, y: x / 2.0,
    }.items():
        _with_relu(
            name,
            lambda t, m, x, compute=compute: compute(t, m.a(x), m.b(x)),
            _whole_vectors,
            _two,
        )


def _between(d: int | None, name: str, compute: Any, part: Any = None) -> None:
    """An operation between two quantized layers, or between rows if ``d`` is None."""

    def parts(nn: Any) -> dict[str, Any]:
        kind = nn.Linear if d is None else getattr(nn, f"Conv{d}d")
        ends = (6, 6) if d is None else (4, 4, 1)
        made = {"first": kind(*ends), "last": kind(*ends)}
        return made if part is None else {**made, "op": part(nn)}

    entry(
        name,
        lambda t, m, x: m.last(compute(t, m, m.first(x))),
        _rows if d is None else _images(d),
        parts,
    )


def _pooling() -> None:
    for d in (1, 2, 3):
        for kind, args in {"MaxPool": (2,), "AvgPool": (2,), "AdaptiveAvgPool": (2,)}.items():
            small = {"MaxPool": "max_pool", "AvgPool": "avg_pool"}.get(kind, "adaptive_avg_pool")
            _between(
                d,
                f"{small}{d}d",
                lambda t, m, y: m.op(y),
                lambda nn, kind=kind, d=d, args=args: getattr(nn, f"{kind}{d}d")(*args),
            )
            _between(
                d,
                f"{small}{d}d_function",
                lambda t, m, y, f=f"{small}{d}d", args=args: getattr(t.nn.functional, f)(y, *args),
            )
    for d, mode in ((2, "nearest"), (2, "bilinear"), (3, "nearest")):
        _between(
            d,
            f"interpolate{d}d_{mode}",
            lambda t, m, y, mode=mode: t.nn.functional.interpolate(y, scale_factor=2, mode=mode),
        )
    _between(2, "upsample", lambda t, m, y: m.op(y), lambda nn: nn.Upsample(scale_factor=2))
    _between(2, "mean", lambda t, m, y: y.mean((2, 3), keepdim=True))
    _between(2, "mean_torch", lambda t, m, y: t.mean(y, (2, 3), keepdim=True))


def _conv_and_linear(width: int, nn: Any) -> dict[str, Any]:
    return {"first": nn.Conv2d(4, 4, 1), "last": nn.Linear(width, 2)}


def _shapes() -> None:
    head = {
        "reshape": lambda t, y: y.reshape(y.shape[0], -1),
        "reshape_torch": lambda t, y: t.reshape(y, (2, -1)),
        "view": lambda t, y: y.contiguous().view(y.size(0), -1),
        "flatten": lambda t, y: t.flatten(y, 1),
        "flatten_method": lambda t, y: y.flatten(1),
        "permute": lambda t, y: y.permute(0, 2, 3, 1).reshape(2, -1),
        "contiguous": lambda t, y: y.permute(0, 2, 3, 1).contiguous().view(2, -1),
        "transpose": lambda t, y: y.transpose(1, 3).flatten(1),
        "squeeze": lambda t, y: y.unsqueeze(1).squeeze(1).flatten(1),
        "squeeze_torch": lambda t, y: t.squeeze(t.unsqueeze(y, 0), 0).flatten(1),
        "sizes": lambda t, y: y.reshape(y.shape[0], y.size(1) * y.size(2) * y.shape[3]),
        "getitem": lambda t, y: y[:, 1:3, 0].flatten(1),
        "getitem_chunk": lambda t, y: y.chunk(2, 1)[1].flatten(1),
        "repeat": lambda t, y: y.repeat(1, 2, 1, 1).flatten(1),
        "expand": lambda t, y: y[:, :1].expand(2, 3, 6, 6).flatten(1),
        "clone": lambda t, y: y.clone().detach().flatten(1),
        "dropout": lambda t, y: t.nn.functional.dropout(y, 0.5, training=False).flatten(1),
    }
    widths = {"getitem": 12, "getitem_chunk": 72, "repeat": 288, "expand": 108}
    for name, compute in head.items():
        entry(
            f"shape_{name}",
            lambda t, m, x, compute=compute: m.last(compute(t, m.first(x))),
            _images(2),
            partial(_conv_and_linear, widths.get(name, 144)),
        )
    _between(2, "pixel_shuffle", lambda t, m, y: m.op(t.nn.functional.pixel_shuffle(y, 2)),
             lambda nn: nn.PixelUnshuffle(2))  # fmt: skip
    _between(None, "dropout_module", lambda t, m, y: m.op(y), lambda nn: nn.Dropout())
    _between(None, "identity", lambda t, m, y: m.op(y), lambda nn: nn.Identity())
    _between(None, "flatten_module", lambda t, m, y: m.op(y), lambda nn: nn.Flatten())


def _activations() -> None:
    modules: dict[str, Any] = {
        "hardswish": lambda nn: nn.Hardswish(),
        "hardsigmoid": lambda nn: nn.Hardsigmoid(),
        "sigmoid": lambda nn: nn.Sigmoid(),
        "tanh": lambda nn: nn.Tanh(),
        "softmax": lambda nn: nn.Softmax(-1),
        "elu": lambda nn: nn.ELU(),
        "leaky_relu": lambda nn: nn.LeakyReLU(0.125),
        "relu6": lambda nn: nn.ReLU6(),
        "hardtanh": lambda nn: nn.Hardtanh(-0.5, 0.5),
        "gelu": lambda nn: nn.GELU(),
        "mish": lambda nn: nn.Mish(),
        "log_softmax": lambda nn: nn.LogSoftmax(-1),
    }
    for name, part in modules.items():
        _between(None, f"{name}_module", lambda t, m, y: m.op(y), part)
    functions: dict[str, Any] = {
        "hardswish": lambda t, y: t.nn.functional.hardswish(y),
        "hardsigmoid": lambda t, y: t.nn.functional.hardsigmoid(y),
        "hardsigmoid_in_place": lambda t, y: t.nn.functional.hardsigmoid(y, inplace=True),
        "sigmoid": lambda t, y: t.sigmoid(y),
        "sigmoid_method": lambda t, y: y.sigmoid(),
        "tanh": lambda t, y: t.tanh(y),
        "tanh_method": lambda t, y: y.tanh(),
        "softmax": lambda t, y: t.nn.functional.softmax(y, dim=-1),
        "elu": lambda t, y: t.nn.functional.elu(y),
        "leaky_relu": lambda t, y: t.nn.functional.leaky_relu(y, 0.125),
        "relu6": lambda t, y: t.nn.functional.relu6(y),
        "hardtanh": lambda t, y: t.nn.functional.hardtanh(y),
        "clamp": lambda t, y: t.clamp(y, -0.5, 0.75),
        "clamp_method": lambda t, y: y.clamp(0, 1),
        "relu": lambda t, y: t.relu(y) + y,
    }
    for name, compute in functions.items():
        _between(None, f"{name}_function", lambda t, m, y, c=compute: c(t, y))


def _norms() -> None:
    F = "functional"
    _between(None, "layer_norm", lambda t, m, y: m.op(y), lambda nn: nn.LayerNorm(6))
    _between(None, "layer_norm_function", lambda t, m, y: getattr(t.nn, F).layer_norm(y, (6,)))
    _between(2, "group_norm", lambda t, m, y: m.op(y), lambda nn: nn.GroupNorm(2, 4))
    _between(2, "group_norm_function", lambda t, m, y: getattr(t.nn, F).group_norm(y, 2))
    for d in (1, 2, 3):
        _between(d, f"instance_norm{d}d", lambda t, m, y: m.op(y),
                 lambda nn, d=d: getattr(nn, f"InstanceNorm{d}d")(4, affine=True))  # fmt: skip
    for d in (2, 3):
        for relu in (False, True):
            entry(
                f"batch_norm{d}d" + "_relu" * relu,
                lambda t, m, x, relu=relu: m.relu(m.bn(x)) if relu else m.bn(x),
                _images(d),
                lambda nn, d=d: {
                    "bn": getattr(nn, f"BatchNorm{d}d")(4, eps=0.0), "relu": nn.ReLU(),
                },
            )  # fmt: skip


def _sharing_and_structures() -> None:
    entry(
        "module_twice",
        lambda t, m, x: m.layer(m.relu(m.layer(x))),
        _rows,
        lambda nn: {"layer": nn.Linear(6, 6), "relu": nn.ReLU6()},
    )
    entry(
        "residual",
        lambda t, m, x: m.relu(m.b(m.relu(m.a(x))) + m.skip(x)),
        _images(2),
        lambda nn: {
            "a": nn.Conv2d(4, 4, 3, padding=1), "b": nn.Conv2d(4, 4, 1),
            "skip": nn.Conv2d(4, 4, 1), "relu": nn.ReLU(),
        },
    )  # fmt: skip
    entry("float_functional", lambda t, m, x: m.sum.add_relu(m.a(x), m.b(x)), _whole_vectors,
          lambda nn: {**_two(nn), "sum": nn.quantized.FloatFunctional()})  # fmt: skip
    entry(
        "outputs", lambda t, m, x: {"a": m.a(x), "both": (m.b(x), x.size(0))}, _whole_vectors, _two
    )


_sharing_and_structures()
_layers()
for _dimensions in (1, 2, 3):
    _convolutions(_dimensions)
_binary()
_pooling()
_shapes()
_activations()
_norms()
