"""Calls that are refused, each with the words that say why: one row for each ``raise``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.measure import channel_error
from pyqref.quantization.fx.custom_config import PrepareCustomConfig, StandaloneModuleConfigEntry
from pyqref.quantization.quant_type import QuantType
from pyqref.quantization.utils import activation_dtype, get_quant_type, getattr_from_fqn

ONES = pyqref.ones(2, 3)
CODES = pyqref.quantize_per_tensor(ONES, 0.5, 1, pyqref.quint8)


def leaf() -> Any:
    return pyqref.ones(2, requires_grad=True)


class Incomplete(pyqref.autograd.Function):
    """A function without methods."""


class Half(pyqref.autograd.Function):
    """A function whose backward gives fewer gradients than it has arguments."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        return a + b

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


class Triple(Half):
    """A function whose backward gives more gradients than it has arguments."""

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, grad, grad


class Onward(pyqref.autograd.Function):
    """A function without a backward."""

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        return 2 * a


CALLS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    # autograd
    "grad of a constant": (
        lambda: pyqref.autograd.grad(leaf().sum(), [pyqref.ones(1)]),
        RuntimeError,
        "does not require grad",
    ),
    "backward to nothing": (
        lambda: leaf().sum().backward(inputs=[]),
        RuntimeError,
        "'inputs' argument to backward cannot be empty",
    ),
    "backward to a constant": (
        lambda: leaf().sum().backward(inputs=[pyqref.ones(1)]),
        RuntimeError,
        "does not require grad",
    ),
    "backward of a constant": (
        lambda: pyqref.autograd.backward([pyqref.ones(1)]),
        RuntimeError,
        "element 0 of tensors does not require grad",
    ),
    "backward, other numbers": (
        lambda: pyqref.autograd.backward([leaf().sum()], [ONES, ONES]),
        RuntimeError,
        "got 1 tensors and 2 gradients",
    ),
    "hook of a constant": (
        lambda: pyqref.ones(1).register_hook(print),
        RuntimeError,
        "cannot register a hook",
    ),
    "gradcheck of constants": (
        lambda: pyqref.autograd.gradcheck(lambda x: x, (ONES,)),
        ValueError,
        "at least one input tensor to require gradient",
    ),
    "function, no forward": (lambda: Incomplete.apply(leaf()), TypeError, "must define forward"),
    "function, no backward": (
        lambda: Onward.apply(leaf()).sum().backward(),
        RuntimeError,
        "must define backward",
    ),
    "function, few gradients": (
        lambda: Half.apply(leaf(), leaf()).sum().backward(),
        RuntimeError,
        r"HalfBackward returned an incorrect number of gradients \(expected 2, got 1\)",
    ),
    "function, many gradients": (
        lambda: Triple.apply(leaf(), leaf()).sum().backward(),
        RuntimeError,
        r"expected 2, got 3\)",
    ),
    "quantized parameter": (lambda: nn.Parameter(CODES), RuntimeError, "cannot require gradients"),
    # tensors
    "finfo of integers": (lambda: pyqref.finfo(pyqref.int8), TypeError, "finfo: type must be"),
    "iinfo of reals": (lambda: pyqref.iinfo(pyqref.float32), TypeError, "iinfo: type must be"),
    "like, unknown word": (
        lambda: pyqref.zeros_like(ONES, colour=1),
        TypeError,
        "unexpected keyword argument 'colour'",
    ),
    "division by zero": (
        lambda: pyqref.div(pyqref.tensor([1]), pyqref.tensor([0]), rounding_mode="floor"),
        RuntimeError,
        "ZeroDivisionError",
    ),
    "repeat of fewer axes": (lambda: ONES.repeat(2), RuntimeError, "dimensions of repeat dims"),
    "resize with a gradient": (lambda: leaf().resize_(3), RuntimeError, "cannot resize variables"),
    "max of nothing": (
        lambda: pyqref.ones(2, 0).max(1),
        IndexError,
        "Expected reduction dim 1 to have non-zero size",
    ),
    "histogram, infinite": (
        lambda: pyqref.histogram(ONES, 3, range=(0.0, float("inf"))),
        RuntimeError,
        "is not finite, or falls",
    ),
    "two unknown sizes": (lambda: ONES.view(-1, -1), RuntimeError, "only one dimension"),
    "flatten backwards": (lambda: ONES.flatten(1, 0), RuntimeError, "start_dim cannot come after"),
    "expand by an unknown size": (
        lambda: ONES.expand(-1, 2, 3),
        RuntimeError,
        "isn't allowed in a leading",
    ),
    "gather beyond": (
        lambda: ONES.gather(1, pyqref.zeros(3, 1, dtype=pyqref.int64)),
        RuntimeError,
        "Size does not match at dimension 0",
    ),
    "bmm of other batches": (
        lambda: pyqref.bmm(pyqref.ones(2, 3, 4), pyqref.ones(3, 4, 5)),
        RuntimeError,
        r"\[2, 4\]",
    ),
    "index, other shapes": (
        lambda: pyqref.ones(3, 3)[[0, 1], [0, 1, 2]],
        IndexError,
        "shape mismatch",
    ),
    "arange beyond 64 bits": (lambda: pyqref.arange(0, 2**70, 2**69), RuntimeError, "fit 64 bits"),
    "cat of two dtypes": (
        lambda: pyqref.cat([CODES, pyqref.quantize_per_tensor(ONES, 0.5, 1, pyqref.qint8)]),
        RuntimeError,
        "one dtype, got",
    ),
    "cat of scalars": (
        lambda: pyqref.ops.quantized.cat(
            [pyqref.quantize_per_tensor(ONES[0, 0], 1.0, 0, pyqref.quint8)], 0
        ),
        RuntimeError,
        "without dimensions",
    ),
    "dequantize of integers": (lambda: ONES.long().dequantize(), RuntimeError, "not quantized"),
    "pool, huge window": (
        lambda: pyqref.ops.quantized.max_pool2d(CODES[None], 2**20, 1, 0, 1, False),
        RuntimeError,
        "kernel_size must be at most",
    ),
    # quantization
    "path that is none": (lambda: getattr_from_fqn(nn.ReLU(), 1), TypeError, "such as '0.weight'"),
    "standalone entry": (
        lambda: StandaloneModuleConfigEntry.from_tuple("standalone_module_name", (1, 2)),
        ValueError,
        r"got \(1, 2\) in it",
    ),
    "observed, dynamic": (
        lambda: PrepareCustomConfig().set_float_to_observed_mapping(
            nn.ReLU, nn.ReLU, QuantType.DYNAMIC
        ),
        ValueError,
        "only for static quantization",
    ),
    "qconfig that quantizes nothing": (
        lambda: get_quant_type(
            pyqref.quantization.QConfig(
                pyqref.quantization.PlaceholderObserver, pyqref.quantization.PlaceholderObserver
            )
        ),
        ValueError,
        "neither activations .* nor weights",
    ),
    "observer without a dtype": (
        lambda: activation_dtype(pyqref.quantization.QConfig(nn.Identity, nn.Identity)),
        ValueError,
        "no dtype: Identity quantizes nothing",
    ),
    # switches, tracing, profiling
    "autocast of a number": (lambda: pyqref.autocast(1), ValueError, "must be a text"),
    "debug mode": (
        lambda: pyqref.set_deterministic_debug_mode("loud"),
        RuntimeError,
        "got 'loud'",
    ),
    "matmul precision": (
        lambda: pyqref.set_float32_matmul_precision("low"),
        ValueError,
        "'highest', 'high' or 'medium', got 'low'",
    ),
    "interop threads": (lambda: pyqref.set_num_interop_threads(0), RuntimeError, "integer >= 1"),
    "default type": (
        lambda: pyqref.set_default_tensor_type("torch.ByteTensor"),
        TypeError,
        "must be one of FloatTensor",
    ),
    "trace without an example": (
        lambda: pyqref.jit.trace(nn.ReLU()),
        RuntimeError,
        "example_inputs is missing",
    ),
    "trace of a number": (lambda: pyqref.jit.trace(1, ONES), TypeError, "func must be a module"),
    "trace_module of a number": (
        lambda: pyqref.jit.trace_module(1, {}),
        TypeError,
        "mod must be a module",
    ),
    "trace_module of a tensor": (
        lambda: pyqref.jit.trace_module(nn.ReLU(), ONES),
        TypeError,
        "from names of methods to examples, got Tensor",
    ),
    "code of a scripted function": (
        lambda: pyqref.jit.script(lambda x: x).colour,
        AttributeError,
        "no attribute 'colour'",
    ),
    "shapes without numbers": (
        lambda: pyqref.fx.passes.shape_prop.ShapeProp(pyqref.fx.symbolic_trace(nn.ReLU()), 1),
        TypeError,
        "fake_mode must be None",
    ),
    "argument beyond the last": (
        lambda: next(iter(reversed(pyqref.fx.symbolic_trace(nn.ReLU()).graph.nodes))).insert_arg(
            5, 1
        ),
        IndexError,
        r"idx must be in \[0, 1\], got 5",
    ),
    "operator of a number": (
        lambda: pyqref.library.register("refusals::one", 1),
        TypeError,
        "function must be callable",
    ),
    "compressed trace": (
        lambda: pyqref.profiler.tensorboard_trace_handler("folder", use_gzip=True),
        ValueError,
        "use_gzip must be False",
    ),
    "channels of two shapes": (
        lambda: channel_error([[1.0, 2.0]], [[1.0]]),
        ValueError,
        r"shape of weight, \(1, 2\)",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_refused_says_why(name: str) -> None:
    """The class and the words of an error."""
    call, kind, words = CALLS[name]
    with pytest.raises(kind, match=words):
        call()


FUNCTIONS = [
    *[getattr(pyqref, name) for name in pyqref.__all__],
    *[getattr(nn.functional, name) for name in nn.functional.__all__],
]


@pytest.mark.filterwarnings("ignore")
def test_what_is_no_tensor_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message begins with the name of a function, which is one word."""
    monkeypatch.chdir(tmp_path)  # save("a", "a") is no mistake
    texts = []
    for function in FUNCTIONS:
        if inspect.isfunction(function):
            try:
                function("a", *["a"] * (len(inspect.signature(function).parameters) > 1))
            except Exception as error:
                texts.append(str(error))
    named = [text for text in texts if "(): argument" in text]
    assert len(named) > 200
    assert [] == [text for text in named if " " in text.partition("(): argument")[0]]
    assert [] == [text for text in named if text.startswith("this()")]
