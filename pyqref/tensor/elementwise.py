"""The methods of a tensor that work element by element: a table of contents."""

from __future__ import annotations

from . import arithmetic, choosing, combined, comparison, logic, pointwise, transcendental

__all__ = ["ElementwiseMethods"]


class ElementwiseMethods:
    """Each method is a function of a neighbouring file, whose first argument is the tensor."""

    # arithmetic.py
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
    maximum = arithmetic.maximum
    minimum = arithmetic.minimum

    # choosing.py
    clamp = choosing.clamp
    clamp_ = choosing.clamp_
    clip = choosing.clip
    clip_ = choosing.clip_
    clamp_min = choosing.clamp_min
    clamp_min_ = choosing.clamp_min_
    clamp_max = choosing.clamp_max
    clamp_max_ = choosing.clamp_max_
    where = choosing.where_method
    # combined.py
    fmax = combined.fmax
    fmin = combined.fmin
    hypot = combined.hypot
    logaddexp = combined.logaddexp
    xlogy = combined.xlogy
    atan2_ = combined.atan2_
    hypot_ = combined.hypot_
    xlogy_ = combined.xlogy_
    atan2 = combined.atan2
    lerp = combined.lerp
    lerp_ = combined.lerp_
    addcmul = combined.addcmul
    addcmul_ = combined.addcmul_
    addcdiv = combined.addcdiv
    addcdiv_ = combined.addcdiv_

    # comparison.py
    eq_ = comparison.eq_
    ne_ = comparison.ne_
    lt_ = comparison.lt_
    le_ = comparison.le_
    gt_ = comparison.gt_
    ge_ = comparison.ge_
    greater_ = comparison.greater_
    greater_equal_ = comparison.greater_equal_
    less_ = comparison.less_
    less_equal_ = comparison.less_equal_
    not_equal_ = comparison.not_equal_
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

    # logic.py
    logical_xor_ = logic.logical_xor_
    bitwise_and = logic.bitwise_and
    bitwise_and_ = logic.bitwise_and_
    bitwise_or = logic.bitwise_or
    bitwise_or_ = logic.bitwise_or_
    bitwise_xor = logic.bitwise_xor
    bitwise_xor_ = logic.bitwise_xor_
    bitwise_left_shift = logic.bitwise_left_shift
    bitwise_left_shift_ = logic.bitwise_left_shift_
    bitwise_right_shift = logic.bitwise_right_shift
    bitwise_right_shift_ = logic.bitwise_right_shift_
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
    deg2rad = pointwise.deg2rad
    rad2deg = pointwise.rad2deg
    positive = pointwise.positive
    absolute_ = pointwise.absolute_
    frac_ = pointwise.frac_
    nan_to_num_ = pointwise.nan_to_num_
    deg2rad_ = pointwise.deg2rad_
    rad2deg_ = pointwise.rad2deg_
    sgn_ = pointwise.sgn_
    abs = pointwise.abs
    abs_ = pointwise.abs_
    absolute = pointwise.absolute
    ceil = pointwise.ceil
    ceil_ = pointwise.ceil_
    floor = pointwise.floor
    floor_ = pointwise.floor_
    frac = pointwise.frac
    isfinite = pointwise.isfinite
    isinf = pointwise.isinf
    isnan = pointwise.isnan
    nan_to_num = pointwise.nan_to_num
    reciprocal = pointwise.reciprocal
    reciprocal_ = pointwise.reciprocal_
    relu = pointwise.relu
    relu_ = pointwise.relu_
    round = pointwise.round
    round_ = pointwise.round_
    sgn = pointwise.sgn
    sign = pointwise.sign
    sign_ = pointwise.sign_
    square = pointwise.square
    square_ = pointwise.square_
    trunc = pointwise.trunc
    trunc_ = pointwise.trunc_

    # transcendental.py
    exp2 = transcendental.exp2
    logit = transcendental.logit
    erfc = transcendental.erfc
    acos_ = transcendental.acos_
    arccos_ = transcendental.arccos_
    asin_ = transcendental.asin_
    arcsin_ = transcendental.arcsin_
    atan_ = transcendental.atan_
    arctan_ = transcendental.arctan_
    cosh_ = transcendental.cosh_
    sinh_ = transcendental.sinh_
    tan_ = transcendental.tan_
    erfc_ = transcendental.erfc_
    exp2_ = transcendental.exp2_
    logit_ = transcendental.logit_
    acos = transcendental.acos
    arccos = transcendental.arccos
    arcsin = transcendental.arcsin
    arctan = transcendental.arctan
    asin = transcendental.asin
    atan = transcendental.atan
    cos = transcendental.cos
    cos_ = transcendental.cos_
    cosh = transcendental.cosh
    erf = transcendental.erf
    erf_ = transcendental.erf_
    exp = transcendental.exp
    exp_ = transcendental.exp_
    expm1 = transcendental.expm1
    expm1_ = transcendental.expm1_
    log = transcendental.log
    log_ = transcendental.log_
    log1p = transcendental.log1p
    log1p_ = transcendental.log1p_
    log2 = transcendental.log2
    log2_ = transcendental.log2_
    log10 = transcendental.log10
    log10_ = transcendental.log10_
    rsqrt = transcendental.rsqrt
    rsqrt_ = transcendental.rsqrt_
    sigmoid = transcendental.sigmoid
    sigmoid_ = transcendental.sigmoid_
    sin = transcendental.sin
    sin_ = transcendental.sin_
    sinh = transcendental.sinh
    sqrt = transcendental.sqrt
    sqrt_ = transcendental.sqrt_
    tan = transcendental.tan
    tanh = transcendental.tanh
    tanh_ = transcendental.tanh_
