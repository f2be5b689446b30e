"""The C of ``style="integer"``: every quotient of scales is a 31-bit integer and a shift."""

from __future__ import annotations

from .piece import pieces

__all__ = ["INTEGER"]

INTEGER = pieces(
    scaling=(
        "",
        """
/* What makes an integer of the output of a sum. A bias has one element for each channel, or is
 * 0 where there is none. The multiplier of a channel is multiplier * 2^(exponent - 31); there is
 * one for each channel, or one for all (step 1 or 0). */
typedef struct {
    const int32_t *bias;
    const int32_t *multiplier;
    const int8_t *exponent;
    int step;
    int32_t zero_point, low, high;
} scaling;
""",
    ),
    clamped=(
        "",
        """
static uint8_t clamped(int64_t q, int32_t low, int32_t high)
{
    return (uint8_t)(q < low ? low : q > high ? high : q);
}
""",
    ),
    shifted=(
        "",
        """
/* x / 2^shift, ties away from zero (eq-round-shift-right). */
static int64_t shifted(int64_t x, int shift)
{
    int64_t half = shift > 0 ? (int64_t)1 << (shift - 1) : 0;
    return x < 0 ? -((-x + half) >> shift) : (x + half) >> shift;
}
""",
    ),
    multiplied=(
        "shifted",
        """
/* x * multiplier * 2^(exponent - 31), rounded after the product, ties upward, and after the
 * shift, ties away from zero (eq-multiply-rounded-twice). */
static int64_t multiplied(int32_t x, int32_t multiplier, int exponent)
{
    int64_t wide = exponent > 0 ? x * ((int64_t)1 << exponent) : x;
    wide = wide < INT32_MIN ? INT32_MIN : wide > INT32_MAX ? INT32_MAX : wide;
    wide = wide * multiplier + ((int64_t)1 << 30);
    /* Rounded down, whatever the sign: a shift to the right of a negative number is not defined. */
    wide = wide < 0 ? ~(~wide >> 31) : wide >> 31;
    return shifted(wide, exponent < 0 ? -exponent : 0);
}
""",
    ),
    requantized=(
        "scaling clamped multiplied",
        """
/* A sum of products as an integer of the output (eq-requantize). */
static uint8_t requantized(int32_t sum, int channel, const scaling *to)
{
    int n = channel * to->step;
    int32_t total = to->bias ? sum + to->bias[channel] : sum;
    int64_t q = multiplied(total, to->multiplier[n], to->exponent[n]);
    return clamped(q + to->zero_point, to->low, to->high);
}
""",
    ),
    sum_rule=(
        "clamped multiplied",
        """
/* The sum of two integers on grids of their own, each 20 bits to the left (eq-tflite-add). */
typedef struct {
    int32_t a_zero, b_zero, a_multiplier, b_multiplier, multiplier;
    int a_exponent, b_exponent, exponent;
    int32_t zero_point, low, high;
} sum_rule;

static uint8_t sum_of(uint8_t a, uint8_t b, const sum_rule *by)
{
    int64_t total = multiplied((a - by->a_zero) * 1048576, by->a_multiplier, by->a_exponent)
                  + multiplied((b - by->b_zero) * 1048576, by->b_multiplier, by->b_exponent);
    int64_t q = multiplied((int32_t)total, by->multiplier, by->exponent);
    return clamped(q + by->zero_point, by->low, by->high);
}
""",
    ),
    product_rule=(
        "clamped multiplied",
        """
/* The product of two integers on grids of their own (eq-tflite-mul). */
typedef struct {
    int32_t a_zero, b_zero, multiplier;
    int exponent;
    int32_t zero_point, low, high;
} product_rule;

static uint8_t product_of(uint8_t a, uint8_t b, const product_rule *by)
{
    int32_t product = (a - by->a_zero) * (b - by->b_zero);
    int64_t q = multiplied(product, by->multiplier, by->exponent);
    return clamped(q + by->zero_point, by->low, by->high);
}
""",
    ),
    mean_rule=(
        "clamped",
        """
/* The mean of integers q from the sum of q - zero_point, ties of q - 128 away from zero
 * (eq-tflite-average). */
typedef struct {
    int32_t zero_point;
} mean_rule;

static uint8_t mean_of(int32_t sum, int32_t count, const mean_rule *by)
{
    int64_t total = sum + (int64_t)count * (by->zero_point - 128);
    int64_t mean = ((total < 0 ? -total : total) + count / 2) / count;
    return clamped((total < 0 ? -mean : mean) + 128, 0, 255);
}
""",
    ),
    softmax_line=(
        "clamped",
        """
/* Softmax of a line by a table of powers, powers[d] = e^(-d * scale) in units of 2^-30
 * (eq-softmax-integers). `inverse` is one over the scale of the result, in units of 2^-15. */
typedef struct {
    const int32_t *powers;
    int32_t inverse, zero_point;
} softmax_rule;

static void softmax_line(const uint8_t *x, uint8_t *y, int count, int step,
                         const softmax_rule *by)
{
    int64_t sum = 0;
    uint8_t largest = 0;
    for (int k = 0; k < count; ++k)
        if (x[k * step] > largest)
            largest = x[k * step];
    for (int k = 0; k < count; ++k)
        sum += by->powers[largest - x[k * step]];
    for (int k = 0; k < count; ++k) {
        int64_t part = (int64_t)by->powers[largest - x[k * step]] * by->inverse;
        int64_t whole = sum * 32768;
        y[k * step] = clamped((part + whole / 2) / whole + by->zero_point, 0, 255);
    }
}
""",
    ),
)
