"""AdaRound: each weight is rounded up or down as it suits the outputs of its layer."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pyqref import nn, optim
from pyqref._typing import Array, Model, Module, Tensor
from pyqref.numerics.learned_rounding import (
    annealed_exponent,
    reconstruction_error,
    rectified_sigmoid,
    rounding_gradient,
    rounding_start,
    soft_rounding,
)
from pyqref.tensor import from_numpy
from pyqref.tensor.quantized import make_quantized

from .adjacent import grouped, ungrouped
from .quantized_layers import channel_axis, float_layer, has_relu, layers_in_order
from .running import batches, called, input_of, listening

__all__ = ["adaround"]


def adaround(
    float_model: Module,
    quantized_model: Model,
    data: Iterable[Any],
    *,
    layers: Sequence[str] | None = None,
    steps: int = 300,
    batch_size: int = 32,
    lr: float = 0.1,
    price: float = 100.0,
    warm_up: float = 0.2,
    exponents: tuple[float, float] = (20.0, 2.0),
    seed: int = 0,
    inplace: bool = False,
) -> Model:
    r"""Learn for each weight of a converted model whether to round it up or down.

    The nearest integer is best for a weight by itself, but not for the sum that it is a part of:
    there, errors may cancel. For each layer a number for each weight is learned
    (``eq-rectified-sigmoid``, ``eq-soft-rounding``) so that the layer's outputs come near those of
    the float model, and a price on weights between two integers (``eq-rounding-regularizer``)
    drives all of them to one or the other. Scales, zero points and biases stay.

    Parameters
    ----------
    float_model
        The model before ``prepare``, fused as the quantized one, in evaluation mode.
    quantized_model
        What ``convert`` or ``convert_fx`` made of it.
    data
        Batches. They are run once for each layer, whose inputs and outputs are kept meanwhile, so
        some hundred inputs are enough.
    layers
        Paths of layers to round anew; all linear and convolution layers if None.
    steps
        T, steps of Adam for each layer, at least 1.
    batch_size
        Inputs in a step, at least 1.
    lr
        The size of a step, above 0.
    price
        :math:`\lambda`, not negative: the price of all weights of a layer halfway between integers
        beside the error of nearest rounding, which counts as 1. With a low price many weights still
        stand between two integers when learning ends, and are then rounded all at once.
    warm_up, exponents
        See ``eq-annealed-exponent``.
    seed
        Chooses the inputs of each step.
    inplace
        Change the quantized model itself.

    Returns
    -------
    Module
        The quantized model with other integers in its weights. Each is the integer below or above
        the float weight, inside the range of integers that the layer used before.

    Raises
    ------
    ValueError
        ``data`` is empty, a number is out of its range, no layer can be rounded, or the integers
        of a layer are not those of the float model's weight.

    Warns
    -----
    NotRepairedWarning
        A path has no such layer in both models, or a layer with a quantized weight is of a kind
        that is not rounded anew, such as a dynamic one or one that is fused with an addition.

    Notes
    -----
    The layers are taken one after the other. Inputs are those of the quantized model, whose former
    layers are rounded already; what is expected are the outputs of the float model. Where a ReLU is
    part of the quantized layer, the error is taken behind it.

    An output channel whose ``eq-reconstruction-error`` on ``data`` did not become smaller keeps its
    nearest rounding, so no channel of the first layer, nor of any other on the inputs that it
    gets, is worse than before.

    Source: Nagel et al. 2020. Loss and price are relative here, which makes the result independent
    of the units of the data.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> _ = pyqref.manual_seed(0)
    >>> model = quantization.QuantWrapper(nn.Linear(32, 4))
    >>> weight = quantization.MinMaxObserver.with_args(
    ...     dtype=pyqref.qint8, qscheme=pyqref.per_tensor_symmetric, quant_min=-4, quant_max=3)
    >>> model.eval().qconfig = quantization.QConfig(quantization.MinMaxObserver, weight)
    >>> prepared = quantization.prepare(model)
    >>> x = pyqref.rand(64, 32)
    >>> _ = prepared(x)
    >>> quantized = quantization.convert(prepared)
    >>> better = adaround(model, quantized, [x], steps=1000)
    >>> def error(one):
    ...     return float((one(x) - model(x)).pow(2).mean())
    >>> error(better) < 0.6 * error(quantized)
    True
    """
    _require(steps=steps, batch_size=batch_size, lr=lr, price=price, warm_up=warm_up)
    if not exponents[0] >= exponents[1] > 1:
        raise ValueError(f"adaround: exponents must fall, and be above 1, got {exponents}")
    if not inplace:
        quantized_model = copy.deepcopy(quantized_model)
    known = list(batches(data, "adaround"))
    order = layers_in_order(
        "adaround", "its weight is not rounded anew", float_model, quantized_model, known[0], layers
    )
    plan = _Plan(steps, batch_size, lr, price, warm_up, exponents)
    rng = np.random.Generator(np.random.PCG64(seed))
    for path in order:
        quantized: Any = quantized_model.get_submodule(path)
        layer = float_layer(float_model.get_submodule(path))
        task = _task(path, layer, quantized)
        x, y = _inputs_and_outputs(float_model, quantized_model, path, known)
        integers = _learned(task, x, y, plan, rng)
        weight = quantized.weight()
        changed = make_quantized(integers.astype(weight._array.dtype), weight._quantizer)
        quantized.set_weight_bias(changed, quantized.bias())
    return quantized_model


class _Plan(NamedTuple):
    """How rounding is learned."""

    steps: int
    batch_size: int
    lr: float
    price: float
    warm_up: float
    exponents: tuple[float, float]


class _Task(NamedTuple):
    """A layer whose weight is rounded: the layer itself, to compute with, and its grid."""

    layer: Any
    nearest: Array
    below: Array
    share: Array
    scale: Array
    zero_point: Array
    lowest: int
    highest: int
    axis: int
    relu: bool

    def soft(self, share: Array) -> Tensor:
        """The weight for a share of a step each."""
        grid = self.scale, self.zero_point, self.lowest, self.highest
        return from_numpy(soft_rounding(self.below, share, *grid))

    def real(self, integers: Array) -> Tensor:
        """The weight of integers."""
        return self.soft((integers - self.below).astype(np.float64))

    def output(self, x: Tensor) -> Tensor:
        """Result of the layer for an input, behind its ReLU."""
        y = self.layer(x)
        return y.relu() if self.relu else y


def _require(**given: float) -> None:
    for name, value in given.items():
        least = 1 if name in ("steps", "batch_size") else 0
        if not value >= least or (name == "lr" and value == 0):
            bound = "above 0" if name == "lr" else f"{least} or more"
            raise ValueError(f"adaround: {name} must be {bound}, got {value}")
    if not given["warm_up"] < 1:
        raise ValueError(f"adaround: warm_up must be below 1, got {given['warm_up']}")


def _task(path: str, layer: Any, quantized: Any) -> _Task:
    weight, bias = quantized.weight(), quantized.bias()
    nearest = weight.int_repr().numpy().astype(np.int64)
    scale, zero_point = _grid(weight)
    lowest, highest = int(nearest.min()), int(nearest.max())
    position = layer.weight.detach().numpy().astype(np.float64) / scale + zero_point
    below = np.floor(position)
    off = np.abs(np.clip(position, lowest, highest) - nearest)
    if position.shape != nearest.shape or off.max() > 1:
        raise ValueError(
            f"adaround: the integers of {path!r} are not those of the float model's weight; pass "
            "the model that prepare was given, with the same layers fused"
        )
    own = copy.deepcopy(layer).eval()
    own.bias = None if bias is None else nn.Parameter(bias.detach(), requires_grad=False)
    axis, relu = channel_axis(quantized), has_relu(quantized)
    share = position - below
    return _Task(own, nearest, below, share, scale, zero_point, lowest, highest, axis, relu)


def _grid(weight: Any) -> tuple[Array, Array]:
    """Scale and zero point in a shape that is broadcast to the weight."""
    if not weight.qscheme().is_per_channel:
        return np.asarray(weight.q_scale()), np.asarray(weight.q_zero_point())
    along = [1] * weight.ndim
    along[weight.q_per_channel_axis()] = -1
    scales, zero_points = weight.q_per_channel_scales(), weight.q_per_channel_zero_points()
    return scales.numpy().reshape(along), zero_points.numpy().reshape(along)


def _inputs_and_outputs(
    float_model: Module, quantized_model: Module, path: str, known: list[Any]
) -> tuple[Array, Array]:
    """Inputs of a quantized layer as real numbers, and the float layer's outputs, all batches."""
    inputs, outputs = [], []
    layer = float_layer(float_model.get_submodule(path))
    for batch in known:
        x = input_of(quantized_model, path, batch)
        inputs.append((x.dequantize() if x.is_quantized else x).detach().numpy())
        heard: list[Any] = []
        with listening(layer, lambda _, y, heard=heard: heard.append(y)):
            called(float_model, batch)
        outputs.append(heard[-1].detach().numpy())
    return np.concatenate(inputs), np.concatenate(outputs)


def _learned(task: _Task, x: Array, y: Array, plan: _Plan, rng: np.random.Generator) -> Array:
    """The integers of a weight, each output channel's the better ones of learned and nearest."""
    wanted = np.maximum(y, 0) if task.relu else y
    before = _errors(task, task.real(task.nearest), x, y)
    if not before.any():
        return task.nearest
    unit = before.sum() / len(y)
    v = nn.Parameter(from_numpy(rounding_start(task.share)))
    optimizer = optim.Adam([v], lr=plan.lr)
    weight = task.layer.weight = nn.Parameter(task.soft(task.share))
    for step in range(plan.steps):
        chosen = rng.integers(0, len(x), min(plan.batch_size, len(x)))
        weight.data, weight.grad = task.soft(rectified_sigmoid(v.detach().numpy())), None
        off = task.output(from_numpy(x[chosen])) - from_numpy(wanted[chosen])
        (off.pow(2).sum() / (len(chosen) * unit)).backward()
        price = plan.price / v.numel() if step >= plan.warm_up * plan.steps else 0.0
        v.grad = from_numpy(
            rounding_gradient(
                v.detach().numpy(),
                weight.grad.numpy(),
                task.below,
                task.scale,
                task.lowest,
                task.highest,
                annealed_exponent(step, plan.steps, plan.warm_up, plan.exponents),
                price,
            )
        )
        optimizer.step()
    up = rectified_sigmoid(v.detach().numpy()) >= 0.5
    learned = np.clip(task.below + up, task.lowest, task.highest).astype(np.int64)
    after = _errors(task, task.real(learned), x, y)
    return _better(task, learned, after < before)


def _errors(task: _Task, weight: Tensor, x: Array, y: Array) -> Array:
    """The error of each output channel on all data."""
    task.layer.weight = nn.Parameter(weight, requires_grad=False)
    found = task.layer(from_numpy(x)).detach().numpy()
    return reconstruction_error(y, found, task.axis, relu=task.relu)


def _better(task: _Task, learned: Array, is_better: Array) -> Array:
    """Learned integers of the output channels where they are better, nearest ones elsewhere."""
    one, two = grouped(task.layer, learned), grouped(task.layer, task.nearest)
    chosen = np.where(is_better.reshape(*one.shape[:2], 1, 1), one, two)
    return ungrouped(task.layer, chosen)
