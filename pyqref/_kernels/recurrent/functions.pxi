# The exponential function and what cells make of it, a vector at a time: included by kernel.pyx.
#
# Operation by operation as in numerics/exponential.py, where the errors are bounded.


cdef inline f32v reduced(f32v x, f32v* n) noexcept nogil:
    """``e^r - 1``, where ``x = n ln 2 + r``."""
    cdef f32v whole = round_f32(mul_f32(x, set_f32(<float> 1.4426950408889634)))
    cdef f32v high = mul_f32(whole, set_f32(<float> (355.0 / 512)))
    cdef f32v low = mul_f32(whole, set_f32(<float> (0.6931471805599453 - 355.0 / 512)))
    cdef f32v r = sub_f32(sub_f32(x, high), low)
    cdef f32v p = set_f32(<float> (1.0 / 5040))
    p = add_f32(mul_f32(p, r), set_f32(<float> (1.0 / 720)))
    p = add_f32(mul_f32(p, r), set_f32(<float> (1.0 / 120)))
    p = add_f32(mul_f32(p, r), set_f32(<float> (1.0 / 24)))
    p = add_f32(mul_f32(p, r), set_f32(<float> (1.0 / 6)))
    p = add_f32(mul_f32(p, r), set_f32(<float> 0.5))
    n[0] = whole
    return add_f32(r, mul_f32(mul_f32(r, r), p))


cdef inline f32v power(f32v n) noexcept nogil:
    """``2^n`` of whole numbers; where n is nan, any number."""
    return power_of_two(truncate_i32(n))


cdef inline f32v exp_of(f32v x) noexcept nogil:
    """``eq-exp``; nan stays."""
    cdef f32v n, half
    cdef f32v y = max_f32(set_f32(-104), min_f32(set_f32(89), x))
    y = add_f32(set_f32(1), reduced(y, &n))
    half = round_f32(mul_f32(n, set_f32(<float> 0.5)))
    return mul_f32(mul_f32(y, power(half)), power(sub_f32(n, half)))


cdef inline f32v sigmoid_of(f32v x) noexcept nogil:
    """``eq-sigmoid``."""
    cdef f32v one = set_f32(1)
    return div_f32(one, add_f32(one, exp_of(sub_f32(set_f32(0), x))))


cdef inline f32v tanh_of(f32v x) noexcept nogil:
    """``eq-tanh-expm1``."""
    cdef f32v n, two_to_n, m
    cdef f32v e = reduced(mul_f32(set_f32(2), min_f32(set_f32(10), abs_f32(x))), &n)
    two_to_n = power(n)
    m = add_f32(mul_f32(two_to_n, e), sub_f32(two_to_n, set_f32(1)))  # eq-expm1
    return copy_sign_f32(div_f32(m, add_f32(m, set_f32(2))), x)
