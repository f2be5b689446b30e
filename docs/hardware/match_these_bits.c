/* The integers of quantized layers in C99: linear, conv, add, average pool. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* [requantize] */
enum engine { FBGEMM, QNNPACK };

struct layer {
    double s_x, s_y;    /* scales of input and output */
    int z_x, z_y;       /* their zero points */
    const double *s_w;  /* scales of the weight: one, or one per output channel */
    const float *bias;  /* real numbers, one per output channel; NULL for none */
    int per_channel, relu;
    enum engine engine;
};

static uint8_t requantize(const struct layer *l, int n, int32_t sum) {
    const double s_w = l->s_w[l->per_channel ? n : 0];
    const float unit = (float)l->s_x * (float)s_w; /* eq-accumulator-scale */
    const float s_y = (float)l->s_y;
    float value = (float)sum, multiplier;
    if (l->engine == FBGEMM) {
        multiplier = unit / s_y; /* eq-multiplier-fbgemm */
        if (l->bias != NULL && l->per_channel)
            value += l->bias[n] / unit; /* eq-requantize-bias */
        else if (l->bias != NULL)
            value = fmaf(l->bias[n], 1.0f / unit, value);
    } else {
        multiplier = unit * (1.0f / s_y); /* eq-multiplier-qnnpack */
        if (l->bias != NULL) {            /* eq-bias-integer */
            const float inverse = 1.0f / (float)(l->s_x * s_w);
            value = (float)(sum + llrintf(l->bias[n] * inverse));
        }
    }
    const int low = l->relu ? l->z_y : 0; /* eq-requantize */
    const float least = (float)(low - l->z_y), most = (float)(255 - l->z_y);
    return (uint8_t)(lrintf(fminf(fmaxf(value * multiplier, least), most)) + l->z_y);
}
/* [linear] */
void linear(const struct layer *l, const uint8_t *x, int rows, int depth, const int8_t *w,
            int outputs, uint8_t *y) {
    for (int r = 0; r < rows; r++)
        for (int n = 0; n < outputs; n++) {
            int32_t sum = 0; /* eq-linear-accumulator */
            for (int k = 0; k < depth; k++)
                sum += (x[r * depth + k] - l->z_x) * w[n * depth + k];
            y[r * outputs + n] = requantize(l, n, sum);
        }
}
/* [conv] */
struct image { int channels, height, width; };
struct window { int kernel, stride, padding, dilation, groups; };

void conv2d(const struct layer *l, const uint8_t *x, struct image in, const int8_t *w,
            struct window k, uint8_t *y, struct image out) {
    const int depth = in.channels / k.groups, each = out.channels / k.groups;
    for (int n = 0; n < out.channels; n++)
        for (int i = 0; i < out.height; i++)
            for (int j = 0; j < out.width; j++) {
                int32_t sum = 0; /* eq-conv-accumulator */
                for (int c = 0; c < depth; c++)
                    for (int u = 0; u < k.kernel; u++)
                        for (int v = 0; v < k.kernel; v++) {
                            const int a = i * k.stride - k.padding + u * k.dilation;
                            const int b = j * k.stride - k.padding + v * k.dilation;
                            if (a < 0 || a >= in.height || b < 0 || b >= in.width)
                                continue; /* padding holds the zero point: it adds nothing */
                            const int from = (n / each * depth + c) * in.height + a;
                            const int tap = (n * depth + c) * k.kernel + u;
                            sum += (x[from * in.width + b] - l->z_x) * w[tap * k.kernel + v];
                        }
                y[(n * out.height + i) * out.width + j] = requantize(l, n, sum);
            }
}
/* [add] */
struct grid { double scale; int zero_point; };

static float real(uint8_t q, struct grid g) { /* eq-dequantize-fused */
    const float s = (float)g.scale;
    return fmaf((float)q, s, -(float)g.zero_point * s);
}

static int32_t rsr(int64_t x, int shift) { /* eq-round-shift-right: ties away from zero */
    const int64_t half = shift > 0 ? (int64_t)1 << (shift - 1) : 0;
    return (int32_t)(x < 0 ? -((-x + half) >> shift) : (x + half) >> shift);
}

void add(enum engine engine, const uint8_t *a, struct grid g_a, const uint8_t *b,
         struct grid g_b, int count, uint8_t *y, struct grid out) {
    const float s_y = (float)out.scale, r_a = (float)g_a.scale / s_y, r_b = (float)g_b.scale / s_y;
    int exponent;
    frexpf(fmaxf(r_a, r_b), &exponent);
    const int shift = 22 - exponent; /* eq-add-fixed-point: the larger multiplier has 22 bits */
    const int64_t m_a = llrint(ldexp(r_a, shift)), m_b = llrint(ldexp(r_b, shift));
    for (int k = 0; k < count; k++) {
        long q;
        if (engine == FBGEMM) /* eq-quantized-add, eq-quantize-after */
            q = lrintf((real(a[k], g_a) + real(b[k], g_b)) * (1.0f / s_y));
        else
            q = rsr(m_a * (a[k] - g_a.zero_point) + m_b * (b[k] - g_b.zero_point), shift);
        q += out.zero_point;
        y[k] = (uint8_t)(q < 0 ? 0 : q > 255 ? 255 : q);
    }
}
/* [average] */
void average_pool(enum engine engine, const uint8_t *x, struct image in, struct grid g,
                  struct window k, int count_padding, uint8_t *y, struct image out) {
    for (int c = 0; c < out.channels; c++)
        for (int i = 0; i < out.height; i++)
            for (int j = 0; j < out.width; j++) {
                int32_t sum = 0, inside = 0; /* eq-quantized-avg-pool */
                for (int u = 0; u < k.kernel; u++)
                    for (int v = 0; v < k.kernel; v++) {
                        const int a = i * k.stride - k.padding + u;
                        const int b = j * k.stride - k.padding + v;
                        if (a < 0 || a >= in.height || b < 0 || b >= in.width) continue;
                        sum += x[(c * in.height + a) * in.width + b] - g.zero_point;
                        inside++;
                    }
                const float n = (float)(count_padding ? k.kernel * k.kernel : inside);
                const float s = (float)g.scale, z = (float)g.zero_point;
                const long q = engine == FBGEMM /* eq-quantized-mean */
                                   ? lrintf((float)sum / n + z)
                                   : lrintf((float)sum * (s / (s * n))) + g.zero_point;
                y[(c * out.height + i) * out.width + j] = (uint8_t)(q < 0 ? 0 : q > 255 ? 255 : q);
            }
}
/* [integer] */
void prepare(double multiplier, int32_t *m, int *e) { /* eq-fixed-point-multiplier: on the host */
    double integer = round(ldexp(frexp(multiplier, e), 31));
    if (integer == 2147483648.0) { /* rounded up to the next power of two */
        integer /= 2;
        (*e)++;
    }
    *m = (int32_t)integer;
}

uint8_t requantize_integer(int32_t sum, int32_t bias, int32_t m, int e, int z_y, int low) {
    const int left = e > 0 ? e : 0, right = e > 0 ? 0 : -e;
    int64_t x = ((int64_t)sum + bias) * ((int64_t)1 << left);
    x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
    const int64_t high = (x * m + (1 << 30)) >> 31;       /* eq-shift-half-up: ties upward */
    const int64_t q = (int64_t)rsr(high, right) + z_y;    /* eq-multiply-rounded-twice */
    return (uint8_t)(q < low ? low : q > 255 ? 255 : q);
}
/* [end] */
