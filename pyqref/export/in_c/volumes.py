"""The C of pooling in three dimensions."""

from __future__ import annotations

from .piece import pieces

__all__ = ["VOLUMES"]

VOLUMES = pieces(
    boxes=(
        "",
        """
/* How boxes lie on `count` volumes; three numbers are of depth, height and width. */
typedef struct {
    int count, size[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
} boxes;
""",
    ),
    max_pool_3d=(
        "boxes",
        """
/* The largest integer of each box (eq-quantized-max-pool). */
static void max_pool_3d(const uint8_t *x, uint8_t *y, const boxes *of)
{
    const int *size = of->size, *kernel = of->kernel;
    for (int n = 0; n < of->count; ++n, x += size[0] * size[1] * size[2])
        for (int d = 0; d < of->out[0]; ++d)
            for (int i = 0; i < of->out[1]; ++i)
                for (int j = 0; j < of->out[2]; ++j) {
                    uint8_t largest = 0;
                    for (int tap = 0; tap < kernel[0] * kernel[1] * kernel[2]; ++tap) {
                        int kz = tap / (kernel[1] * kernel[2]);
                        int ky = tap / kernel[2] % kernel[1], kx = tap % kernel[2];
                        int slice = d * of->stride[0] - of->padding[0] + kz * of->dilation[0];
                        int row = i * of->stride[1] - of->padding[1] + ky * of->dilation[1];
                        int column = j * of->stride[2] - of->padding[2] + kx * of->dilation[2];
                        int at = (slice * size[1] + row) * size[2] + column;
                        if (slice < 0 || slice >= size[0] || row < 0 || row >= size[1]
                            || column < 0 || column >= size[2])
                            continue;
                        if (x[at] > largest)
                            largest = x[at];
                    }
                    *y++ = largest;
                }
}
""",
    ),
    box_mean=(
        "mean_rule",
        """
/* The sum over a box, from the first places to before the last, divided by `count`. */
static uint8_t box_mean(const uint8_t *x, const int size[3], const int from[3], const int to[3],
                        int count, const mean_rule *by)
{
    int32_t sum = 0;
    for (int slice = from[0]; slice < to[0]; ++slice)
        for (int row = from[1]; row < to[1]; ++row)
            for (int column = from[2]; column < to[2]; ++column)
                sum += x[(slice * size[1] + row) * size[2] + column] - by->zero_point;
    return mean_of(sum, count, by);
}
""",
    ),
    average_pool_3d=(
        "boxes box_mean",
        """
/* The mean of each box (eq-quantized-avg-pool) over a divisor, or, where it is 0, over the places
 * inside the volume, and with `whole` also those of its padding. */
static void average_pool_3d(const uint8_t *x, uint8_t *y, const boxes *of, int whole, int divisor,
                            const mean_rule *by)
{
    const int *size = of->size;
    for (int n = 0; n < of->count; ++n, x += size[0] * size[1] * size[2])
        for (int d = 0; d < of->out[0]; ++d)
            for (int i = 0; i < of->out[1]; ++i)
                for (int j = 0; j < of->out[2]; ++j) {
                    int at[3] = {d, i, j}, from[3], to[3], count = 1;
                    for (int k = 0; k < 3; ++k) {
                        int end = size[k] + of->padding[k];
                        int first = at[k] * of->stride[k] - of->padding[k];
                        int last = first + of->kernel[k] < end ? first + of->kernel[k] : end;
                        from[k] = first > 0 ? first : 0;
                        to[k] = last < size[k] ? last : size[k];
                        count *= whole ? last - first : to[k] - from[k];
                    }
                    *y++ = box_mean(x, size, from, to, divisor ? divisor : count, by);
                }
}
""",
    ),
    adaptive_average_3d=(
        "boxes box_mean",
        """
/* Means over boxes that give a number of outputs (eq-quantized-adaptive-avg-pool). */
static void adaptive_average_3d(const uint8_t *x, uint8_t *y, const boxes *of,
                                const mean_rule *by)
{
    const int *size = of->size, *out = of->out;
    for (int n = 0; n < of->count; ++n, x += size[0] * size[1] * size[2])
        for (int d = 0; d < out[0]; ++d)
            for (int i = 0; i < out[1]; ++i)
                for (int j = 0; j < out[2]; ++j) {
                    int at[3] = {d, i, j}, from[3], to[3], count = 1;
                    for (int k = 0; k < 3; ++k) {
                        from[k] = at[k] * size[k] / out[k];
                        to[k] = ((at[k] + 1) * size[k] + out[k] - 1) / out[k];
                        count *= to[k] - from[k];
                    }
                    *y++ = box_mean(x, size, from, to, count, by);
                }
}
""",
    ),
)
