"""Multi-head attention, in parts."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import AnyModule, Device, Dtype, Tensor
from pyqref.nn import functional as F
from pyqref.nn.modules import Linear, Module
from pyqref.nn.modules import MultiheadAttention as FloatMultiheadAttention
from pyqref.nn.parameter import Parameter
from pyqref.nn.quantizable.stubs import DeQuantStub, QuantStub
from pyqref.nn.quantizable.workflow import prepare_parts
from pyqref.nn.quantized.modules.functional_modules import FloatFunctional
from pyqref.tensor.dispatch import require_tensor
from pyqref.tensor.joining import cat, chunk
from pyqref.tensor.linalg import bmm

from .attention_masks import add_mask, padded_mask, with_zero_key
from .joining import cat_on_first_grid

__all__ = ["MultiheadAttention"]


class MultiheadAttention(FloatMultiheadAttention):
    r"""Multi-head attention, of parts that can be observed and quantized.

    The projections of query, key and value and that of the output are linear layers that
    are quantized; what stands between them,

    .. math:: \mathrm{softmax}(q k^T + mask)\, v,

    is computed in float, and its results, outputs and weights, are quantized again.

    Parameters
    ----------
    embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first
        As of :class:`pyqref.nn.MultiheadAttention`.
    device, dtype
        Of the parameters.

    Notes
    -----
    Shapes as of :class:`pyqref.nn.MultiheadAttention`, with a batch. torch 2.13 mixes up
    batch and time in the output with ``batch_first=True``; here it does what the float
    layer does.

    Examples
    --------
    >>> import pyqref
    >>> attention = pyqref.nn.quantizable.MultiheadAttention(8, 2)
    >>> x = pyqref.randn(5, 3, 8)
    >>> output, weights = attention(x, x, x)
    >>> tuple(output.size()), tuple(weights.size())
    ((5, 3, 8), (3, 5, 5))
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = FloatMultiheadAttention

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(
            embed_dim,
            num_heads,
            dropout,
            bias,
            add_bias_kv,
            add_zero_attn,
            kdim,
            vdim,
            batch_first,
            device,
            dtype,
        )
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.out_proj: Any = Linear(embed_dim, embed_dim, **options)
        self.linear_Q = Linear(embed_dim, embed_dim, **options)
        self.linear_K = Linear(self.kdim, embed_dim, **options)
        self.linear_V = Linear(self.vdim, embed_dim, **options)
        self.q_scaling_product = FloatFunctional()
        self.quant_attn_output = QuantStub()
        self.quant_attn_output_weights = QuantStub()
        self.dequant_q = DeQuantStub()
        self.dequant_k = DeQuantStub()
        self.dequant_v = DeQuantStub()

    def _get_name(self) -> str:
        return "QuantizableMultiheadAttention"

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """Attend; arguments and results as of :class:`pyqref.nn.MultiheadAttention`.

        ``is_causal`` alone is refused: give the causal mask as ``attn_mask``.
        """
        self._check(query, key, value, attn_mask, is_causal)
        if self.batch_first:
            query, key, value = (each.transpose(0, 1) for each in (query, key, value))
        length, batch, _ = query.shape
        q = self.q_scaling_product.mul_scalar(self.linear_Q(query), self.head_dim**-0.5)
        k, v = self.linear_K(key), self.linear_V(value)
        if self.bias_k is not None:
            k, v = (
                cat_on_first_grid([each, extra.repeat(1, batch, 1)])
                for each, extra in ((k, self.bias_k), (v, self.bias_v))
            )
        q, k, v = (self._heads(each) for each in (q, k, v))
        # From here on in float.
        q, k, v = self.dequant_q(q), self.dequant_k(k), self.dequant_v(v)
        if self.add_zero_attn:
            k, v = with_zero_key(k), with_zero_key(v)
        extra_keys = k.shape[1] - key.shape[0]
        weights = bmm(q, k.transpose(1, 2))
        weights = add_mask(weights, padded_mask(attn_mask, extra_keys))
        if key_padding_mask is not None:
            split = weights.reshape(batch, self.num_heads, length, k.shape[1])
            mask = padded_mask(key_padding_mask, extra_keys).unsqueeze(1).unsqueeze(2)
            weights = add_mask(split, mask).reshape(weights.shape)
        weights = F.dropout(F.softmax(weights, dim=-1), self.dropout, self.training)
        output = bmm(weights, v).transpose(0, 1).reshape(length, batch, self.embed_dim)
        # Quantized again.
        output = self.out_proj(self.quant_attn_output(output))
        weights = self.quant_attn_output_weights(weights)
        if self.batch_first:
            output = output.transpose(0, 1)
        if not need_weights:
            return output, None
        weights = weights.reshape(batch, self.num_heads, length, k.shape[1])
        return output, (weights.mean(dim=1) if average_attn_weights else weights)

    def _heads(self, x: Any) -> Any:
        """``(L, N, E)`` as ``(N * heads, L, E / heads)``."""
        length, batch, _ = x.shape
        return x.reshape(length, batch * self.num_heads, self.head_dim).transpose(0, 1)

    def _check(self, query: Any, key: Any, value: Any, mask: Any, is_causal: bool) -> None:
        name = self._get_name()
        for label, each, size in (
            ("query", query, self.embed_dim),
            ("key", key, self.kdim),
            ("value", value, self.vdim),
        ):
            require_tensor(name, label, each)
            if each.dim() != 3 or each.shape[2] != size:
                raise RuntimeError(
                    f"{name}: {label} must have 3 dimensions, the last of length {size}, "
                    f"got shape {tuple(each.shape)}"
                )
        if key.shape[:2] != value.shape[:2]:
            raise RuntimeError(
                f"{name}: key and value must have as many steps and sequences, "
                f"got shapes {tuple(key.shape)} and {tuple(value.shape)}"
            )
        if is_causal and mask is None:
            raise ValueError(f"{name}: is_causal is a hint only; give the mask as attn_mask")

    @classmethod
    def from_float(cls, other: AnyModule) -> Module:
        """The prepared layer with the parameters of a float one that has a ``qconfig``."""
        if type(other) is not FloatMultiheadAttention:
            raise TypeError(
                "MultiheadAttention.from_float takes an nn.MultiheadAttention, "
                f"got {type(other).__name__}"
            )
        if not hasattr(other, "qconfig"):
            raise ValueError("MultiheadAttention.from_float: the float layer must have a qconfig")
        observed: Any = cls(
            other.embed_dim,
            other.num_heads,
            other.dropout,
            other.in_proj_bias is not None,
            other.bias_k is not None,
            other.add_zero_attn,
            other.kdim,
            other.vdim,
            other.batch_first,
        )
        for name, parameter in other._parameters.items():
            observed._parameters[name] = parameter
        observed.qconfig = other.qconfig
        linears = (observed.linear_Q, observed.linear_K, observed.linear_V)
        if other._qkv_same_embed_dim:
            weights = chunk(other.in_proj_weight.detach(), 3, 0)
        else:
            weights = tuple(
                each.detach()
                for each in (other.q_proj_weight, other.k_proj_weight, other.v_proj_weight)
            )
        for linear, weight in zip(linears, weights, strict=True):
            linear.weight = Parameter(weight.clone())
        if other.in_proj_bias is not None:
            for linear, bias in zip(linears, chunk(other.in_proj_bias.detach(), 3, 0), strict=True):
                linear.bias = Parameter(bias.clone())
        observed.out_proj.weight = other.out_proj.weight
        observed.out_proj.bias = other.out_proj.bias
        return prepare_parts(observed.train(other.training))

    def dequantize(self) -> FloatMultiheadAttention:
        """The float layer with the parameters of this one, which may be quantized."""
        bias = _weight_and_bias(self.linear_Q)[1] is not None
        made = FloatMultiheadAttention(
            self.embed_dim,
            self.num_heads,
            self.dropout,
            bias,
            self.bias_k is not None,
            self.add_zero_attn,
            self.kdim,
            self.vdim,
            self.batch_first,
        )
        parts = [_weight_and_bias(each) for each in (self.linear_Q, self.linear_K, self.linear_V)]
        if self._qkv_same_embed_dim:
            made.in_proj_weight = Parameter(cat([weight for weight, _ in parts], 0))
        else:
            for name, (weight, _) in zip("qkv", parts, strict=True):
                setattr(made, f"{name}_proj_weight", Parameter(weight))
        if bias:
            made.in_proj_bias = Parameter(cat([each for _, each in parts], 0))
        weight, out_bias = _weight_and_bias(self.out_proj)
        made.out_proj.weight = Parameter(weight)
        if out_bias is not None:
            made.out_proj.bias = Parameter(out_bias)
        for name in ("bias_k", "bias_v"):
            extra = getattr(self, name)
            if extra is not None:
                setattr(made, name, Parameter(_in_float(extra)))
        return made.train(self.training)

    @classmethod
    def from_observed(cls, other: Any) -> Module:
        """Not here: :class:`pyqref.nn.quantized.MultiheadAttention` is made of observed ones."""
        raise NotImplementedError(
            "a quantizable layer is observed: use nn.quantized.MultiheadAttention.from_observed"
        )


def _in_float(tensor: Any) -> Any:
    return tensor.dequantize() if tensor.is_quantized else tensor.detach().clone()


def _weight_and_bias(linear: Any) -> tuple[Any, Any]:
    """Weight and bias of a float or quantized linear layer, in float."""
    if isinstance(linear, Linear):
        weight, bias = linear.weight, linear.bias
    else:
        weight, bias = linear._weight_bias()
    return _in_float(weight), None if bias is None else bias.detach().clone()
