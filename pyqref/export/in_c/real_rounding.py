"""The C of ``style="float-multiplier"``: the numbers of fbgemm or qnnpack in every bit."""

from __future__ import annotations

from .piece import Piece, pieces

__all__ = ["HEAD", "real_pieces"]

#: No compiler may fuse a product and a sum: every operation is rounded.
HEAD = """
#if defined(__FAST_MATH__)
#error "compile without -ffast-math: every operation is rounded as it is written"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize ("fp-contract=off")
#endif
"""

_SHARED = pieces(
    rounded=(
        "",
        """
/* The nearest integer, ties to even, plus the zero point, clamped (eq-requantize). The bounds are
 * integers, so the clamp may come first. No function of <math.h> and no rounding mode is used. */
static uint8_t rounded(float v, int32_t zero_point, int32_t low, int32_t high)
{
    float least = (float)(low - zero_point), most = (float)(high - zero_point);
    int32_t whole;
    float rest;
    v = v < least ? least : v > most ? most : v;
    whole = (int32_t)v;
    rest = v - (float)whole;
    if (rest > 0.5f || (rest == 0.5f && whole % 2 != 0))
        ++whole;
    else if (rest < -0.5f || (rest == -0.5f && whole % 2 != 0))
        --whole;
    return (uint8_t)(whole + zero_point);
}
""",
    ),
    fused=(
        "",
        """
/* a * b + c, rounded once (eq-fma). The product is exact in double; `error` is what the sum leaves
 * out, and decides where the sum lies in the middle between two numbers. */
static float fused(float a, float b, float c)
{
    double product = (double)a * (double)b;
    double total = product + (double)c;
    double back = total - product;
    double lost = total - back;
    double error, off, beside;
    float result = (float)total;
    lost = product - lost;
    back = (double)c - back;
    error = lost + back;
    off = total - (double)result;
    beside = (double)result + 2 * off;
    if (off != 0 && error != 0 && (double)(float)beside == beside && (error > 0) == (off > 0))
        result = (float)beside;
    return result;
}
""",
    ),
    product_rule=(
        "rounded",
        """
/* The product of two integers on grids of their own (eq-quantized-mul). */
typedef struct {
    int32_t a_zero, b_zero;
    float multiplier;
    int32_t zero_point, low, high;
} product_rule;

static uint8_t product_of(uint8_t a, uint8_t b, const product_rule *by)
{
    float product = (float)((a - by->a_zero) * (b - by->b_zero));
    return rounded(product * by->multiplier, by->zero_point, by->low, by->high);
}
""",
    ),
    power=(
        "",
        """
/* e^x of a number that is not positive (eq-exp-below). */
static float power(float x)
{
    union { float value; uint32_t bits; } two;
    float n, high, low, r, square, p, q;
    x = x < -88.0f ? -88.0f : x;
    n = x * 1.44269502f;
    two.value = n + 12583039.0f; /* 1.5 * 2^23 + 127: the bits end with n + 127 */
    n = two.value - 12583039.0f;
    two.bits = two.bits << 23;
    high = n * 0.693359375f;
    low = n * -0.000212194442f;
    r = x - high;
    r = r - low;
    square = r * r;
    p = square * 0.00138146f;
    q = r * 0.00836874f;
    q = q + 0.04166839f;
    p = p + q;
    p = square * p;
    q = r * 0.1666652f;
    q = q + 0.49999993f;
    p = p + q;
    p = square * p;
    p = r + p;
    p = two.value * p;
    return two.value + p;
}
""",
    ),
    softmax_line=(
        "rounded fused power",
        """
/* Softmax of a line (eq-float-softmax), whose sum is made in 16 places (eq-sum-of-places). */
typedef struct {
    float scale;
    int32_t x_zero;
    float inverse; /* one over the scale of the result */
    int32_t zero_point;
} softmax_rule;

static void softmax_line(const uint8_t *x, uint8_t *y, int count, int step,
                         const softmax_rule *by)
{
    float places[16] = {0}, largest, inverse;
    uint8_t most = 0;
    for (int k = 0; k < count; ++k)
        if (x[k * step] > most)
            most = x[k * step];
    largest = (float)(most - by->x_zero) * by->scale;
    for (int k = 0; k < count; ++k) {
        float real = (float)(x[k * step] - by->x_zero) * by->scale;
        real = real - largest;
        places[k % 16] += power(real);
    }
    for (int half = 8; half > 0; half /= 2)
        for (int k = 0; k < half; ++k)
            places[k] += places[k + half];
    inverse = 1.0f / places[0];
    for (int k = 0; k < count; ++k) {
        float real = (float)(x[k * step] - by->x_zero) * by->scale;
        real = real - largest;
        real = power(real) * inverse;
        y[k * step] = rounded(fused(real, by->inverse, (float)by->zero_point), 0, 0, 255);
    }
}
""",
    ),
)

_FBGEMM = pieces(
    scaling=(
        "",
        """
/* What makes an integer of the output of a sum. There is a bias for each channel, in units of the
 * sum, or 0; where a weight has one scale (`inverse` is not 0), the bias is a real number and
 * `inverse` is one over the unit. There is a multiplier for each channel, or one for all (step 1
 * or 0). */
typedef struct {
    const float *bias;
    const float *multiplier;
    int step;
    float inverse;
    int32_t zero_point, low, high;
} scaling;
""",
    ),
    requantized=(
        "scaling rounded fused",
        """
/* A sum of products as an integer of the output (eq-requantize-bias, eq-requantize). */
static uint8_t requantized(int32_t sum, int channel, const scaling *to)
{
    float v = (float)sum;
    if (to->bias && to->inverse != 0)
        v = fused(to->bias[channel], to->inverse, v);
    else if (to->bias)
        v = v + to->bias[channel];
    v = v * to->multiplier[channel * to->step];
    return rounded(v, to->zero_point, to->low, to->high);
}
""",
    ),
    sum_rule=(
        "rounded",
        """
/* The sum of two integers on grids of their own (eq-quantized-add): tables hold the real numbers
 * of each (eq-dequantize-fused), `inverse` is one over the scale of the result. */
typedef struct {
    const float *a_real, *b_real;
    float inverse;
    int32_t zero_point, low, high;
} sum_rule;

static uint8_t sum_of(uint8_t a, uint8_t b, const sum_rule *by)
{
    float total = by->a_real[a] + by->b_real[b];
    return rounded(total * by->inverse, by->zero_point, by->low, by->high);
}
""",
    ),
    mean_rule=(
        "rounded",
        """
/* The mean of integers q from the sum of q - zero_point (eq-quantized-mean of fbgemm). */
typedef struct {
    int32_t zero_point;
} mean_rule;

static uint8_t mean_of(int32_t sum, int32_t count, const mean_rule *by)
{
    float mean = (float)sum / (float)count;
    return rounded(mean + (float)by->zero_point, 0, 0, 255);
}
""",
    ),
)

_QNNPACK = pieces(
    scaling=(
        "",
        """
/* What makes an integer of the output of a sum. There is a bias for each channel, an integer in
 * units of the sum (eq-bias-integer), or 0; there is a multiplier for each channel, or one for all
 * (step 1 or 0). */
typedef struct {
    const int32_t *bias;
    const float *multiplier;
    int step;
    int32_t zero_point, low, high;
} scaling;
""",
    ),
    requantized=(
        "scaling rounded",
        """
/* A sum of products as an integer of the output (eq-requantize-bias, eq-requantize). */
static uint8_t requantized(int32_t sum, int channel, const scaling *to)
{
    float v = (float)(to->bias ? sum + to->bias[channel] : sum);
    v = v * to->multiplier[channel * to->step];
    return rounded(v, to->zero_point, to->low, to->high);
}
""",
    ),
    sum_rule=(
        "",
        """
/* The sum of two integers on grids of their own, ties away from zero (eq-add-fixed-point). */
typedef struct {
    int32_t a_zero, b_zero;
    int64_t a_multiplier, b_multiplier;
    int shift;
    int32_t zero_point, low, high;
} sum_rule;

static uint8_t sum_of(uint8_t a, uint8_t b, const sum_rule *by)
{
    int64_t total = by->a_multiplier * (a - by->a_zero) + by->b_multiplier * (b - by->b_zero);
    int64_t half = by->shift > 0 ? (int64_t)1 << (by->shift - 1) : 0;
    int64_t q = ((total < 0 ? -total : total) + half) >> by->shift;
    q = (total < 0 ? -q : q) + by->zero_point;
    return (uint8_t)(q < by->low ? by->low : q > by->high ? by->high : q);
}
""",
    ),
    mean_rule=(
        "rounded",
        """
/* The mean of integers q from the sum of q - zero_point (eq-quantized-mean): with a scale as
 * qnnpack has it, with 0 as fbgemm has it. */
typedef struct {
    int32_t zero_point;
    float scale;
} mean_rule;

static uint8_t mean_of(int32_t sum, int32_t count, const mean_rule *by)
{
    float v;
    if (by->scale == 0) {
        v = (float)sum / (float)count;
        return rounded(v + (float)by->zero_point, 0, 0, 255);
    }
    v = by->scale * (float)count;
    v = by->scale / v;
    return rounded((float)sum * v, by->zero_point, 0, 255);
}
""",
    ),
)


def real_pieces(engine: str) -> dict[str, Piece]:
    """The pieces of one engine."""
    return _SHARED | (_QNNPACK if engine == "qnnpack" else _FBGEMM)
