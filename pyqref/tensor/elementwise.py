"""The methods of a tensor that work element by element: a table of contents."""

from __future__ import annotations

from . import arithmetic, comparison, logic, pointwise

__all__ = ["ElementwiseMethods"]


class ElementwiseMethods:
    """Each method is a function of a neighbouring file, whose first argument is the tensor."""

    # arithmetic.py
    fmax = arithmetic.fmax
    fmin = arithmetic.fmin
    hypot = arithmetic.hypot
    logaddexp = arithmetic.logaddexp
    xlogy = arithmetic.xlogy
    atan2_ = arithmetic.atan2_
    add = arithmetic.add
    add_ = arithmetic.add_
    sub = arithmetic.sub
    sub_ = arithmetic.sub_
    subtract = arithmetic.subtract
    subtract_ = arithmetic.subtract_
    mul = arithmetic.mul
    mul_ = arithmetic.mul_
    multiply = arithmetic.multiply
    multiply_ = arithmetic.multiply_
    div = arithmetic.div
    div_ = arithmetic.div_
    divide = arithmetic.divide
    divide_ = arithmetic.divide_
    true_divide = arithmetic.true_divide
    true_divide_ = arithmetic.true_divide_
    floor_divide = arithmetic.floor_divide
    floor_divide_ = arithmetic.floor_divide_
    pow = arithmetic.pow
    pow_ = arithmetic.pow_
    neg = arithmetic.neg
    neg_ = arithmetic.neg_
    negative = arithmetic.negative
    negative_ = arithmetic.negative_
    remainder = arithmetic.remainder
    remainder_ = arithmetic.remainder_
    fmod = arithmetic.fmod
    fmod_ = arithmetic.fmod_
    atan2 = arithmetic.atan2
    maximum = arithmetic.maximum
    minimum = arithmetic.minimum
    clamp = arithmetic.clamp
    clamp_ = arithmetic.clamp_
    clip = arithmetic.clip
    clip_ = arithmetic.clip_
    clamp_min = arithmetic.clamp_min
    clamp_min_ = arithmetic.clamp_min_
    clamp_max = arithmetic.clamp_max
    clamp_max_ = arithmetic.clamp_max_
    lerp = arithmetic.lerp
    lerp_ = arithmetic.lerp_
    addcmul = arithmetic.addcmul
    addcmul_ = arithmetic.addcmul_
    addcdiv = arithmetic.addcdiv
    addcdiv_ = arithmetic.addcdiv_
    where = arithmetic.where_method

    # logic.py
    logical_xor_ = logic.logical_xor_
    bitwise_and = logic.bitwise_and
    bitwise_and_ = logic.bitwise_and_
    bitwise_or = logic.bitwise_or
    bitwise_or_ = logic.bitwise_or_
    bitwise_xor = logic.bitwise_xor
    bitwise_xor_ = logic.bitwise_xor_
    bitwise_not = logic.bitwise_not
    bitwise_not_ = logic.bitwise_not_
    logical_and = logic.logical_and
    logical_and_ = logic.logical_and_
    logical_or = logic.logical_or
    logical_or_ = logic.logical_or_
    logical_xor = logic.logical_xor
    logical_not = logic.logical_not
    logical_not_ = logic.logical_not_

    # pointwise.py
    exp2 = pointwise.exp2
    logit = pointwise.logit
    deg2rad = pointwise.deg2rad
    rad2deg = pointwise.rad2deg
    erfc = pointwise.erfc
    positive = pointwise.positive
    absolute_ = pointwise.absolute_
    acos_ = pointwise.acos_
    arccos_ = pointwise.arccos_
    asin_ = pointwise.asin_
    arcsin_ = pointwise.arcsin_
    atan_ = pointwise.atan_
    arctan_ = pointwise.arctan_
    cosh_ = pointwise.cosh_
    sinh_ = pointwise.sinh_
    tan_ = pointwise.tan_
    frac_ = pointwise.frac_
    nan_to_num_ = pointwise.nan_to_num_
    sgn_ = pointwise.sgn_
    abs = pointwise.abs
    abs_ = pointwise.abs_
    absolute = pointwise.absolute
    acos = pointwise.acos
    arccos = pointwise.arccos
    arcsin = pointwise.arcsin
    arctan = pointwise.arctan
    asin = pointwise.asin
    atan = pointwise.atan
    ceil = pointwise.ceil
    ceil_ = pointwise.ceil_
    cos = pointwise.cos
    cos_ = pointwise.cos_
    cosh = pointwise.cosh
    erf = pointwise.erf
    erf_ = pointwise.erf_
    exp = pointwise.exp
    exp_ = pointwise.exp_
    expm1 = pointwise.expm1
    expm1_ = pointwise.expm1_
    floor = pointwise.floor
    floor_ = pointwise.floor_
    frac = pointwise.frac
    isfinite = pointwise.isfinite
    isinf = pointwise.isinf
    isnan = pointwise.isnan
    log = pointwise.log
    log_ = pointwise.log_
    log1p = pointwise.log1p
    log1p_ = pointwise.log1p_
    log2 = pointwise.log2
    log2_ = pointwise.log2_
    log10 = pointwise.log10
    log10_ = pointwise.log10_
    nan_to_num = pointwise.nan_to_num
    reciprocal = pointwise.reciprocal
    reciprocal_ = pointwise.reciprocal_
    relu = pointwise.relu
    relu_ = pointwise.relu_
    round = pointwise.round
    round_ = pointwise.round_
    rsqrt = pointwise.rsqrt
    rsqrt_ = pointwise.rsqrt_
    sgn = pointwise.sgn
    sigmoid = pointwise.sigmoid
    sigmoid_ = pointwise.sigmoid_
    sign = pointwise.sign
    sign_ = pointwise.sign_
    sin = pointwise.sin
    sin_ = pointwise.sin_
    sinh = pointwise.sinh
    sqrt = pointwise.sqrt
    sqrt_ = pointwise.sqrt_
    square = pointwise.square
    square_ = pointwise.square_
    tan = pointwise.tan
    tanh = pointwise.tanh
    tanh_ = pointwise.tanh_
    trunc = pointwise.trunc
    trunc_ = pointwise.trunc_

    # comparison.py
    eq_ = comparison.eq_
    ne_ = comparison.ne_
    lt_ = comparison.lt_
    le_ = comparison.le_
    gt_ = comparison.gt_
    ge_ = comparison.ge_
    allclose = comparison.allclose
    eq = comparison.eq
    equal = comparison.equal
    ge = comparison.ge
    greater = comparison.greater
    greater_equal = comparison.greater_equal
    gt = comparison.gt
    isclose = comparison.isclose
    le = comparison.le
    less = comparison.less
    less_equal = comparison.less_equal
    lt = comparison.lt
    ne = comparison.ne
    not_equal = comparison.not_equal
