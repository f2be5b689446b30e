"""Calls of every public function and tensor method, on tensors that a walk quantizes."""

from __future__ import annotations

import types
from typing import Any, NamedTuple

import numpy as np

import pyqref
import pyqref.nn.functional as F
from pyqref import QuantizedTensor, Tensor


class Call(NamedTuple):
    """Arguments; each tensor among them, in lists too, is quantized in turn."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def c(*args: Any, **kwargs: Any) -> Call:
    return Call(args, kwargs)


def f(*shape: int, first: int = 1) -> Any:
    """Multiples of 1/4 in [-1.5, 2], no two neighbours alike."""
    numbers = ((np.arange(first, first + int(np.prod(shape))) * 7) % 15 - 6) / 4
    return pyqref.from_numpy(numbers.astype(np.float32).reshape(shape))


def ints(*values: Any) -> Any:
    return pyqref.tensor(values)


X, Y, Z = f(2, 3), f(2, 3, first=4), f(2, 3, first=8)
V, W, S, R, B = f(3), f(3, first=4), f(3, 3), f(3, 2), f(2, 3, 3)
ONE, L1, L2, L3 = f(1), f(2, 4, 6), f(2, 4, 6, 6), f(2, 4, 4, 4, 4)
SPATIAL = ((1, L1), (2, L2), (3, L3))
MOMENTS, Q = (f(4), f(4) + 2, f(4), f(4)), f(2, 1, 4)
U = pyqref.tensor([[0.25, 0.5, 0.75], [0.5, 1.0, 0.25]])  # in 0..1, as probabilities are
UP = pyqref.tensor([-1.0, 0.25, 1.5])  # sorted
AT, J, M = ints(1, 0), ints([0, 1, 0], [1, 1, 0]), X > 0
SIGN, ON = pyqref.tensor([1.0, -1.0]), ints(1)


def _words(names: str) -> list[str]:
    return names.split()


def _many(names: str, *calls: Call) -> dict[str, tuple[Call, ...]]:
    return dict.fromkeys(_words(names), calls)


_ARITHMETIC = _many(
    "add sub subtract rsub mul multiply true_divide floor_divide remainder fmod",
    c(X, Y),
    c(X, 2.0),
    c(X, 2),
    c(X, f()),
    c(V, X),
) | {
    name: (
        *(c(X, Y), c(X, 2.0)),
        *(c(X, other, rounding_mode=mode) for other in (Y, 2) for mode in ("trunc", "floor")),
    )
    for name in ("div", "divide")
}
_ONE = _many(
    "abs absolute acos all any amax amin aminmax arccos arcsin arctan argmax argmin argsort "
    "argwhere asin atan bitwise_not ceil clone cos cosh count_nonzero deg2rad diag diagonal erf "
    "erfc exp exp2 expm1 floor frac histc isfinite isinf isnan isneginf isposinf isreal log log10 "
    "log1p log2 logical_not logit max mean median min mode msort nan_to_num nanmean nansum neg "
    "negative nonzero norm positive prod rad2deg ravel reciprocal relu relu_ round rsqrt sgn "
    "sigmoid sign signbit sin sinh sort sqrt square squeeze std std_mean sum t tan tanh tril triu "
    "trunc unbind unique unique_consecutive var var_mean flatten fliplr flipud rot90 celu celu_ "
    "diff elu elu_ gelu hardsigmoid hardswish hardtanh hardtanh_ leaky_relu leaky_relu_ "
    "logsigmoid mish relu6 selu selu_ silu softplus softshrink hardshrink softsign tanhshrink "
    "bernoulli bincount numel get_device is_complex is_floating_point is_signed typename "
    "is_tensor contiguous cpu detach dim is_contiguous is_inference is_pinned nelement ndimension "
    "pin_memory storage storage_offset untyped_storage element_size tolist qscheme dequantize "
    "int_repr bool byte char double float half int long short numpy data_ptr stride size type "
    "to_numpy register_hook retain_grad",
    c(X),
)
_TWO = _many(
    "atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor dist eq "
    "equal fmax fmin ge greater greater_equal gt hypot isclose allclose isin le less less_equal "
    "logaddexp logical_and logical_or logical_xor lt maximum minimum ne not_equal xlogy "
    "is_same_size l1_loss mse_loss smooth_l1_loss huber_loss kl_div soft_margin_loss "
    "hinge_embedding_loss binary_cross_entropy_with_logits cdist result_type cosine_similarity "
    "pairwise_distance expand_as reshape_as view_as type_as",
    c(X, Y),
)
_OTHERS: dict[str, tuple[Call, ...]] = {
    **_many("inner matmul", c(X, X), c(X, V)),
    **_many("matmul mm", c(X, S)),
    **_many("dot vdot outer cross", c(V, W)),
    **_many("eq ge gt le lt ne", c(X, Y), c(X, 0.5)),
    "pow": (c(X, 2), c(X, 2.0), c(X, Y), c(2.0, X)),
    **_many("bmm", c(B, B)),
    **_many("mv", c(S, V)),
    "addbmm": (c(S, B, B), c(S, B, B, beta=0)),
    **_many("addmm", c(S, S, S), c(S, S, S, beta=2.0, alpha=0.5)),
    "addmv": (c(V, S, W),),
    "baddbmm": (c(B, B, B),),
    **_many("addcdiv addcmul", c(X, Y, Z)),
    "lerp": (c(X, Y, 0.5), c(X, Y, U)),
    "einsum": (c("ij,jk->ik", X, S),),
    "tensordot": (c(X, S, 1),),
    "trace": (c(S),),
    **_many("max min all any median", c(X), c(X, 1)),
    **_many("max min", c(X), c(X, 1)),
    **_many("mean sum", c(X), c(X, 1, True)),
    **_many("cummax cummin cumprod cumsum logsumexp softmax log_softmax softmin", c(X, 1), c(X, 0)),
    **_many("argmin argmax amin amax", c(X), c(X, 1), c(X, 0)),
    **_many("clamp clip clamp_", c(X, -0.5, 0.5), c(X, None, 1.0), c(X, Y, Z), c(X, f(), None)),
    **_many("clamp_max clamp_min", c(X, 0.5), c(X, Y)),
    "where": (c(M, X, Y), c(M, X, 0.5), c(M)),
    "Tensor.where": (c(X, M, Y), c(X, M, 0.5)),
    "as_strided": (c(X, (2, 2), (1, 1)),),
    **_many("as_tensor tensor", c(X)),
    **_many("from_numpy from_dlpack", c(X)),
    **_many("atleast_1d atleast_2d atleast_3d meshgrid cartesian_prod", c(V, W)),
    "broadcast_tensors": (c(X, V),),
    **_many("broadcast_to expand", c(V, (2, 3))),
    "bucketize": (c(X, UP),),
    "searchsorted": (c(UP, X),),
    **_many("cat concat concatenate stack hstack vstack dstack column_stack", c([X, Y]), c([X])),
    **_many("chunk split", c(X, 2)),
    **_many("tensor_split", c(X, 2), c(X, ints(1))),
    "split_with_sizes": (c(X, (1, 1)),),
    **_many("empty_like", c(X)),
    **_many("ones_like zeros_like rand_like randn_like", c(X), c(X, dtype=pyqref.float32)),
    **_many("new_empty", c(X, 2)),
    **_many("new_ones new_zeros", c(X, 2), c(X, 2, dtype=pyqref.float32)),
    **_many("full_like", c(X, 0.5), c(X, 2), c(X, f())),
    "new_full": (c(X, (2,), 0.5), c(X, (2,), f())),
    "new_tensor": (c(X, Y), c(X, [1.0])),
    **_many("randint_like", c(X, 5)),
    "full": (c((2,), f()),),
    "scalar_tensor": (c(f()),),
    **_many("arange linspace", c(f(), 3.0, 3), c(0.0, f(), 3)),
    "normal": (c(X, U), c(X), c(0.0, U)),
    "multinomial": (c(U, 2),),
    "fake_quantize_per_channel_affine": (c(X, ints(1, 2) / 4, ints(1, 2), 0, 0, 255),),
    "fake_quantize_per_tensor_affine": (c(X, 0.25, 3, 0, 255), c(X, f(), ints(3)[0], 0, 255)),
    "fused_moving_avg_obs_fake_quant": (
        c(X, ON, ON, f(1), f(1), ONE + 1, pyqref.tensor([0], dtype=pyqref.int32), 0.1, 0, 255),
    ),
    "quantize_per_channel": (c(X, ints(1, 2) / 4, ints(1, 2), 0, pyqref.quint8),),
    "quantize_per_tensor": (
        c(X, 0.5, 1, pyqref.quint8),
        c(X, ONE[0] + 1, ints(3)[0], pyqref.quint8),
        c([X, Y], ONE + f(2), ints(3, 1), pyqref.quint8),
    ),
    "quantize_per_tensor_dynamic": (c(X, pyqref.quint8, False),),
    **_many("q_per_channel_axis q_per_channel_scales q_per_channel_zero_points", c(X)),
    **_many("q_scale q_zero_point", c(X)),
    **_many("make_per_tensor", c(X, 0.5, 1, pyqref.quint8)),
    "make_per_channel": (c(X, [0.5, 0.5], [1, 1], 0, pyqref.quint8),),
    "flip": (c(X, 1), c(X, 0)),
    **_many("gather", c(X, 1, J)),
    **_many("index_add index_copy", c(X, 0, AT, Y)),
    "index_fill": (c(X, 0, AT, 0.5), c(X, 0, AT, f())),
    "index_put": (c(X, (AT,), V), c(X, (AT,), V, accumulate=True)),
    "index_select": (c(X, 0, AT),),
    "masked_fill": (c(X, M, 0.5), c(X, M, f())),
    "masked_scatter": (c(X, M, Y),),
    "masked_select": (c(X, M),),
    "scatter": (c(X, 0, J, Y), c(X, 0, J, value=0.5)),
    "scatter_add": (c(X, 0, J, Y),),
    "scatter_reduce": (c(X, 0, J, Y, "sum"), c(X, 0, J, Y, "amax", include_self=False)),
    "index_reduce": (c(X, 0, AT, Y, "mean"),),
    "take": (c(X, J),),
    "take_along_dim": (c(X, J, 1), c(X, J)),
    "repeat_interleave": (c(X, 2), c(X, AT + 1, 0)),
    "is_nonzero": (c(ONE),),
    "item": (c(ONE),),
    "kthvalue": (c(X, 2),),
    "topk": (c(X, 2),),
    **_many("moveaxis movedim swapaxes swapdims transpose", c(X, 0, 1)),
    "narrow": (c(X, 1, 0, 2),),
    "permute": (c(X, 1, 0),),
    "quantile": (c(X, 0.5), c(X, pyqref.tensor([0.25, 0.5]))),
    **_many("reshape view", c(X, 3, 2), c(X, 1, 2, 3)),
    "resize_": (c(X, (2, 2)),),
    "resize_as_": (c(X, R), c(X, R)),
    "set_": (c(X, R), c(X, X)),
    "copy_": (c(X, Y), c(X, V)),
    "fill_": (c(X, 0.5), c(X, f())),
    **_many("repeat", c(X, 2, 1), c(X, 1, 2)),
    "roll": (c(X, 1, 0), c(X, 1)),
    "tile": (c(X, 2, 1),),
    "select": (c(X, 0, 1),),
    **_many("alpha_dropout feature_alpha_dropout", c(X, 0.5), c(X, 0.5, True), c(X, 1.0, True)),
    "unflatten": (c(X, 1, (3, 1)),),
    "unsqueeze": (c(X, 0),),
    "to": (c(X, pyqref.float64), c(X, "cpu"), c(X, Y), c(X, pyqref.int64)),
    "backward": (c(X.sum(), None),),
    "requires_grad_": (c(X),),
    **_many("normal_ uniform_ random_ exponential_ zero_ detach_ share_memory_", c(X)),
    # nn.functional
    **_many("linear", c(X, S, V), c(X, S)),
    "bilinear": (c(X, Y, f(2, 3, 3), f(2)),),
    **{f"conv{n}d": (c(x, f(2, 4, *(2,) * n), f(2)),) for n, x in SPATIAL},
    **{f"conv_transpose{n}d": (c(x, f(4, 2, *(2,) * n), f(2)),) for n, x in SPATIAL},
    **{
        f"{kind}_pool{n}d{more}": (c(x, 2),)
        for kind in ("avg", "max", "adaptive_avg", "adaptive_max")
        for more in ("", *(("_with_indices",) if "max" in kind else ()))
        for n, x in SPATIAL
    },
    **{f"lp_pool{n}d": (c(x, 2.0, 2),) for n, x in SPATIAL},
    "dropout": (c(X, 0.5), c(X, 0.5, False)),
    **{f"dropout{n}d": (c(x, 0.5), c(x, 0.5, False)) for n, x in SPATIAL},
    **_many("batch_norm instance_norm", c(L1, *MOMENTS), c(L1, *MOMENTS, True)),
    "group_norm": (c(L1, 2, f(4), f(4)),),
    "layer_norm": (c(X, (3,), V, W),),
    "rms_norm": (c(X, (3,), V),),
    "local_response_norm": (c(L2, 2),),
    "normalize": (c(X), c(X, 2.0, 1, 1e-12, Y)),
    **_many("channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle", c(L2, 2)),
    "interpolate": tuple(
        c(x, None, 2.0, mode)
        for x, modes in ((L1, "linear"), (L2, "nearest nearest-exact bilinear bicubic area"))
        for mode in _words(modes)
    ),
    **_many("upsample upsample_bilinear upsample_nearest", c(L2, 3)),
    "unfold": (c(L2, 2),),
    "Tensor.unfold": (c(X, 1, 2, 1),),
    "fold": (c(f(2, 4, 9), (4, 4), 2),),
    "pad": tuple(c(L2, (1, 1, 1, 1), m) for m in ("constant", "reflect", "replicate", "circular")),
    "glu": (c(f(2, 4)),),
    "gumbel_softmax": (c(X),),
    "prelu": (c(X, ONE), c(X, V)),
    **_many("threshold threshold_", c(X, 0.5, 1.0)),
    "erfinv": (c(U),),
    "grid_sample": (c(L2, f(2, 3, 3, 2) / 2), c(L2, f(2, 3, 3, 2), "bicubic", "reflection")),
    "affine_grid": (c(f(2, 2, 3), (2, 1, 4, 4)),),
    "histogram": (c(X, 4), c(X, UP, weight=Y)),
    "embedding": (c(J, S), c(J, S, None, 1.0)),
    "embedding_bag": (c(J, S), c(J[0], S, AT * 0, mode="sum", per_sample_weights=V)),
    "one_hot": (c(J, 3),),
    "binary_cross_entropy": (c(U, U, U),),
    "cross_entropy": (c(X, AT, U[0]), c(X, U)),
    "nll_loss": (c(X, AT, U[0]),),
    "cosine_embedding_loss": (c(X, Y, SIGN),),
    "margin_ranking_loss": (c(V, W, V),),
    "triplet_margin_loss": (c(X, Y, Z),),
    "scaled_dot_product_attention": (c(B, B, B, B), c(B, B, B)),
    "multi_head_attention_forward": (
        c(Q, Q, Q, 4, 2, f(12, 4), f(12), None, None, False, 0.0, f(4, 4), f(4)),
    ),
}
CALLS: dict[str, tuple[Call, ...]] = {**_ONE, **_TWO, **_ARITHMETIC, **_OTHERS}
_WEIGHTED = _many("l1_loss mse_loss huber_loss binary_cross_entropy_with_logits", c(X, Y, weight=U))
CALLS |= {name: (*CALLS[name], *calls) for name, calls in _WEIGHTED.items()}

NO_TENSOR = frozenset(
    _words(
        "can_cast empty empty_strided eye frombuffer get_default_dtype get_num_threads "
        "get_rng_state "
        "initial_seed is_grad_enabled is_inference_mode_enabled load logspace make_quantized "
        "manual_seed ones promote_types rand randint randn randperm save seed set_default_dtype "
        "set_num_threads set_printoptions set_rng_state tril_indices triu_indices zeros"
    )
)
"""Public functions that take no tensor (or, as ``save``, any object)."""

SPECIAL = frozenset(
    _words(
        "__array__ __array_wrap__ __deepcopy__ __dlpack__ __dlpack_device__ __format__ __hash__ "
        "__new__ __reduce_ex__ __repr__ __bool__ __iter__ __len__ __getattr__"
    )
)
"""Methods with two underscores that belong to the protocols of Python and NumPy."""


def _operators() -> dict[str, tuple[Call, ...]]:
    found: dict[str, tuple[Call, ...]] = {}
    for name in dir(QuantizedTensor):
        inner = name.strip("_")
        if (
            not name.endswith("__")
            or name in SPECIAL
            or vars(object).get(name) is getattr(Tensor, name)
        ):
            continue
        if not isinstance(getattr(QuantizedTensor, name), types.FunctionType):
            continue
        if inner in ("abs", "invert", "neg", "pos"):
            found[name] = (c(X),)
        elif inner in ("float", "index", "int"):
            found[name] = (c(ONE),)
        elif "matmul" in inner:
            found[name] = (c(S, X.t() @ Y),)
        elif inner == "getitem":
            found[name] = tuple(c(X, key) for key in (0, (0, 1), AT, M, slice(1), (None, AT)))
        elif inner == "setitem":
            found[name] = tuple(c(X, k, v) for k in (0, AT, M[:, 0]) for v in (0.5, V, f()))
        else:
            found[name] = (c(X, Y), c(X, 2.0), c(X, 2))
    return found


def functions() -> dict[str, Any]:
    """Every public function that takes tensors, by a name that tells its module."""
    found: dict[str, Any] = {}
    for module, names in ((pyqref, pyqref.__all__), (F, F.__all__)):
        for name in names:
            function = getattr(module, name)
            if name in NO_TENSOR or not isinstance(function, types.FunctionType):
                continue
            if not function.__module__.startswith(("pyqref.tensor", "pyqref.nn")):
                continue  # a switch, or a workflow
            if function not in found.values():
                found[f"{module.__name__}.{name}"] = function
    return found


def methods() -> dict[str, Any]:
    """Every method of tensors, functions too: one may be overridden, or taken up by mistake."""
    return {
        f"Tensor.{name}": name
        for name in dir(QuantizedTensor)
        if isinstance(getattr(QuantizedTensor, name), types.FunctionType)
        and not (name.startswith("_") and name not in OPERATORS)
        # One is refused whatever it is given, one answers for names that are missing, one takes
        # the class of the tensors, and ``why`` answers in a recording (tests/explaining).
        and name not in ("cuda", "__getattr__", "as_subclass", "why")
    }


OPERATORS = _operators()


def calls_of(name: str) -> tuple[Call, ...]:
    """The calls of a function or method; of a method in place those of its other form."""
    if name in CALLS:
        return CALLS[name]
    is_method, name = name.startswith("Tensor."), name.rsplit(".", 1)[-1]
    if name in OPERATORS:
        return OPERATORS[name]
    calls = CALLS[name] if name in CALLS else CALLS[name.removesuffix("_")]
    return tuple(each for each in calls if not is_method or isinstance(each.args[0], Tensor))
