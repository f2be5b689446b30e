/* Three small int8 kernels, each with one mistake. check.py finds them. */

#include <math.h>
#include <stdint.h>

/* The integer of a sum in units of the output: rounded, shifted by the zero point, clamped. */
static uint8_t finished(int32_t sum, float multiplier, int32_t zero_point, int32_t lower,
                        int32_t upper)
{
    int32_t q = (int32_t)lrintf((float)sum * multiplier) + zero_point;
    return (uint8_t)(q < lower ? lower : q > upper ? upper : q);
}

/* y (rows, outputs) of x (rows, depth) and weight (outputs, depth).
 * The mistake: C's roundf takes halves away from zero, not to the even neighbour. */
void linear(const uint8_t *x, int32_t x_zero_point, const int8_t *weight,
            const int32_t *bias, const float *multiplier, int32_t zero_point, int32_t lower,
            int32_t upper, int32_t rows, int32_t outputs, int32_t depth, uint8_t *y)
{
    for (int32_t m = 0; m < rows; m++)
        for (int32_t n = 0; n < outputs; n++) {
            int32_t sum = bias[n];
            for (int32_t k = 0; k < depth; k++)
                sum += (x[m * depth + k] - x_zero_point) * weight[n * depth + k];
            int32_t q = (int32_t)roundf((float)sum * multiplier[n]) + zero_point;
            y[m * outputs + n] = (uint8_t)(q < lower ? lower : q > upper ? upper : q);
        }
}

/* y (channels, length_out) of one signal x (channels, length) and weight (outputs, channels, taps);
 * shape_x, shape_w and shape_y hold all sizes, the batch first.
 * The mistake: beside the signal it takes the integer 0, where the zero point stands for 0. */
void conv1d(const uint8_t *x, int32_t x_zero_point, const int8_t *weight, const int32_t *bias,
            const float *multiplier, int32_t zero_point, int32_t lower, int32_t upper,
            int32_t stride, int32_t padding, int32_t dilation, int32_t batch, int32_t channels,
            int32_t length, int32_t outputs, int32_t taps, int32_t length_out, uint8_t *y)
{
    for (int32_t b = 0; b < batch; b++)
        for (int32_t n = 0; n < outputs; n++)
            for (int32_t o = 0; o < length_out; o++) {
                int32_t sum = bias[n];
                for (int32_t c = 0; c < channels; c++)
                    for (int32_t k = 0; k < taps; k++) {
                        int32_t i = o * stride + k * dilation - padding;
                        int32_t q = i < 0 || i >= length ? 0 : x[(b * channels + c) * length + i];
                        sum += (q - x_zero_point) * weight[(n * channels + c) * taps + k];
                    }
                y[(b * outputs + n) * length_out + o] =
                    finished(sum, multiplier[n], zero_point, lower, upper);
            }
}

/* y of a and b, element by element.
 * The mistake: it casts to eight bits before it clamps, so that 256 becomes 0. */
void multiply(const uint8_t *a, float a_scale, int32_t a_zero_point, const uint8_t *b,
              float b_scale, int32_t b_zero_point, float scale, int32_t zero_point,
              int32_t lower, int32_t count, uint8_t *y)
{
    float multiplier = a_scale * b_scale * (1.0f / scale);
    for (int32_t i = 0; i < count; i++) {
        int32_t product = (a[i] - a_zero_point) * (b[i] - b_zero_point);
        uint8_t q = (uint8_t)((int32_t)lrintf((float)product * multiplier) + zero_point);
        y[i] = (uint8_t)(q < lower ? lower : q);
    }
}
