"""The C of the layers, which both styles share: sums of integers, and what moves them."""

from __future__ import annotations

from .piece import pieces

__all__ = ["LAYERS"]


def _of_two(name: str, result: str) -> tuple[str, str]:
    """An operation on two tensors, by the function that computes one element."""
    text = """
/* The RESULT of two tensors, element by element. */
static void NAME(const uint8_t *a, const uint8_t *b, uint8_t *y, const broadcast *of,
                const RESULT_rule *by)
{
    for (int i = 0; i < of->size[0]; ++i)
        for (int j = 0; j < of->size[1]; ++j)
            for (int k = 0; k < of->size[2]; ++k)
                for (int l = 0; l < of->size[3]; ++l) {
                    const int *s = of->a_step, *t = of->b_step;
                    *y++ = RESULT_of(a[i * s[0] + j * s[1] + k * s[2] + l * s[3]],
                                     b[i * t[0] + j * t[1] + k * t[2] + l * t[3]], by);
                }
}
"""
    return f"broadcast {result}_rule", text.replace("NAME", name).replace("RESULT", result)


LAYERS = pieces(
    linear=(
        "requantized",
        """
/* Each row times the weight (eq-linear-accumulator). `w_zero` has the zero points of the weight,
 * one for each output; it is 0 where all are 0. */
static void linear(const uint8_t *x, uint8_t *y, int rows, int inputs, int outputs,
                   int32_t x_zero, const int8_t *w, const int8_t *w_zero, const scaling *to)
{
    for (int row = 0; row < rows; ++row)
        for (int n = 0; n < outputs; ++n) {
            const uint8_t *from = x + row * inputs;
            const int8_t *weight = w + n * inputs;
            int32_t sum = 0, zero = w_zero ? w_zero[n] : 0;
            for (int k = 0; k < inputs; ++k)
                sum += (from[k] - x_zero) * (weight[k] - zero);
            y[row * outputs + n] = requantized(sum, n, to);
        }
}
""",
    ),
    windows=(
        "",
        """
/* How windows lie on pictures of `channels` times `height` times `width`; pairs are of height and
 * width. */
typedef struct {
    int images, channels, height, width, outputs, out_height, out_width, groups;
    int kernel[2], stride[2], padding[2], dilation[2];
} windows;
""",
    ),
    convolution=(
        "windows requantized",
        """
/* Convolution in groups (eq-conv-accumulator); what lies beside the picture adds nothing. With as
 * many groups as channels it is depthwise. The weight is (outputs, channels / groups, kernel). */
static void convolution(const uint8_t *x, uint8_t *y, const windows *of, int32_t x_zero,
                        const int8_t *w, const int8_t *w_zero, const scaling *to)
{
    int depth = of->channels / of->groups, each = of->outputs / of->groups;
    int taps = of->kernel[0] * of->kernel[1], area = of->height * of->width;
    for (int image = 0; image < of->images; ++image)
        for (int n = 0; n < of->outputs; ++n) {
            const uint8_t *from = x + (image * of->channels + n / each * depth) * area;
            const int8_t *weight = w + n * depth * taps;
            int32_t zero = w_zero ? w_zero[n] : 0;
            for (int i = 0; i < of->out_height; ++i)
                for (int j = 0; j < of->out_width; ++j) {
                    int32_t sum = 0;
                    for (int ky = 0; ky < of->kernel[0]; ++ky) {
                        int row = i * of->stride[0] - of->padding[0] + ky * of->dilation[0];
                        if (row < 0 || row >= of->height)
                            continue;
                        for (int kx = 0; kx < of->kernel[1]; ++kx) {
                            int column = j * of->stride[1] - of->padding[1] + kx * of->dilation[1];
                            const uint8_t *pixel = from + row * of->width + column;
                            const int8_t *tap = weight + ky * of->kernel[1] + kx;
                            if (column < 0 || column >= of->width)
                                continue;
                            for (int c = 0; c < depth; ++c)
                                sum += (pixel[c * area] - x_zero) * (tap[c * taps] - zero);
                        }
                    }
                    *y++ = requantized(sum, n, to);
                }
        }
}
""",
    ),
    transposed=(
        "windows requantized",
        """
/* Transposed convolution (eq-conv-transpose-accumulator): each output gathers the inputs whose
 * windows cover it. The weight is (channels, outputs / groups, kernel). */
static void transposed(const uint8_t *x, uint8_t *y, const windows *of, int32_t x_zero,
                       const int8_t *w, const int8_t *w_zero, const scaling *to)
{
    int depth = of->channels / of->groups, each = of->outputs / of->groups;
    int taps = of->kernel[0] * of->kernel[1], area = of->height * of->width;
    for (int image = 0; image < of->images; ++image)
        for (int n = 0; n < of->outputs; ++n) {
            int first = n / each * depth;
            const uint8_t *from = x + (image * of->channels + first) * area;
            const int8_t *weight = w + (first * each + n % each) * taps;
            int32_t zero = w_zero ? w_zero[n] : 0;
            for (int i = 0; i < of->out_height; ++i)
                for (int j = 0; j < of->out_width; ++j) {
                    int32_t sum = 0;
                    for (int ky = 0; ky < of->kernel[0]; ++ky) {
                        int row = i + of->padding[0] - ky * of->dilation[0];
                        if (row < 0 || row % of->stride[0] || row / of->stride[0] >= of->height)
                            continue;
                        for (int kx = 0; kx < of->kernel[1]; ++kx) {
                            int column = j + of->padding[1] - kx * of->dilation[1];
                            int at = row / of->stride[0] * of->width + column / of->stride[1];
                            int tap = ky * of->kernel[1] + kx;
                            if (column < 0 || column % of->stride[1]
                                || column / of->stride[1] >= of->width)
                                continue;
                            for (int c = 0; c < depth; ++c)
                                sum += (from[c * area + at] - x_zero)
                                     * (weight[c * each * taps + tap] - zero);
                        }
                    }
                    *y++ = requantized(sum, n, to);
                }
        }
}
""",
    ),
    max_pool=(
        "windows",
        """
/* The largest integer of each window (eq-quantized-max-pool). */
static void max_pool(const uint8_t *x, uint8_t *y, const windows *of)
{
    for (int n = 0; n < of->images * of->channels; ++n, x += of->height * of->width)
        for (int i = 0; i < of->out_height; ++i)
            for (int j = 0; j < of->out_width; ++j) {
                uint8_t largest = 0;
                for (int ky = 0; ky < of->kernel[0]; ++ky)
                    for (int kx = 0; kx < of->kernel[1]; ++kx) {
                        int row = i * of->stride[0] - of->padding[0] + ky * of->dilation[0];
                        int column = j * of->stride[1] - of->padding[1] + kx * of->dilation[1];
                        if (row < 0 || row >= of->height || column < 0 || column >= of->width)
                            continue;
                        if (x[row * of->width + column] > largest)
                            largest = x[row * of->width + column];
                    }
                *y++ = largest;
            }
}
""",
    ),
    sum_between=(
        "",
        """
/* The sum of q - zero_point over a rectangle, from the first row and column to before the last. */
static int32_t sum_between(const uint8_t *x, int width, int32_t zero_point,
                           int top, int bottom, int left, int right)
{
    int32_t sum = 0;
    for (int row = top; row < bottom; ++row)
        for (int column = left; column < right; ++column)
            sum += x[row * width + column] - zero_point;
    return sum;
}
""",
    ),
    average_pool=(
        "windows sum_between mean_rule",
        """
/* The mean of each window (eq-quantized-avg-pool) over a divisor, or, where it is 0, over the
 * places inside the picture, and with `whole` also those of its padding. */
static void average_pool(const uint8_t *x, uint8_t *y, const windows *of, int whole, int divisor,
                         const mean_rule *by)
{
    int h = of->height, w = of->width;
    for (int n = 0; n < of->images * of->channels; ++n, x += h * w)
        for (int i = 0; i < of->out_height; ++i)
            for (int j = 0; j < of->out_width; ++j) {
                int top = i * of->stride[0] - of->padding[0], bottom = top + of->kernel[0];
                int left = j * of->stride[1] - of->padding[1], right = left + of->kernel[1];
                int rows, columns;
                bottom = bottom < h + of->padding[0] ? bottom : h + of->padding[0];
                right = right < w + of->padding[1] ? right : w + of->padding[1];
                rows = bottom - top;
                columns = right - left;
                top = top > 0 ? top : 0;
                left = left > 0 ? left : 0;
                bottom = bottom < h ? bottom : h;
                right = right < w ? right : w;
                if (!whole) {
                    rows = bottom - top;
                    columns = right - left;
                }
                *y++ = mean_of(sum_between(x, w, by->zero_point, top, bottom, left, right),
                               divisor ? divisor : rows * columns, by);
            }
}
""",
    ),
    adaptive_average=(
        "windows sum_between mean_rule",
        """
/* Means over windows that give a number of outputs (eq-quantized-adaptive-avg-pool). */
static void adaptive_average(const uint8_t *x, uint8_t *y, const windows *of,
                             const mean_rule *by)
{
    int h = of->height, w = of->width, rows = of->out_height, columns = of->out_width;
    for (int n = 0; n < of->images * of->channels; ++n, x += h * w)
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) {
                int top = i * h / rows, bottom = ((i + 1) * h + rows - 1) / rows;
                int left = j * w / columns, right = ((j + 1) * w + columns - 1) / columns;
                *y++ = mean_of(sum_between(x, w, by->zero_point, top, bottom, left, right),
                               (bottom - top) * (right - left), by);
            }
}
""",
    ),
    broadcast=(
        "",
        """
/* Lengths of four axes, and how far each of two arguments goes along them. */
typedef struct {
    int size[4], a_step[4], b_step[4];
} broadcast;
""",
    ),
    add=_of_two("add", "sum"),
    mul=_of_two("mul", "product"),
    join=(
        "",
        """
/* One of several tensors side by side (eq-quantized-cat): parts of `length` bytes, which begin
 * `distance` bytes after each other. A table puts them on the grid of the result; 0 leaves them. */
static void join(const uint8_t *x, uint8_t *y, int parts, int length, int distance,
                 const uint8_t *table)
{
    for (int part = 0; part < parts; ++part)
        for (int k = 0; k < length; ++k) {
            uint8_t q = x[part * length + k];
            y[part * distance + k] = table ? table[q] : q;
        }
}
""",
    ),
    relu=(
        "",
        """
/* The zero point where an integer is below it (eq-quantized-relu). */
static void relu(const uint8_t *x, uint8_t *y, int count, uint8_t zero_point)
{
    for (int k = 0; k < count; ++k)
        y[k] = x[k] > zero_point ? x[k] : zero_point;
}
""",
    ),
    look_up=(
        "",
        """
/* A function of single elements, by a table of what becomes of each byte. */
static void look_up(const uint8_t *x, uint8_t *y, int count, const uint8_t *table)
{
    for (int k = 0; k < count; ++k)
        y[k] = table[x[k]];
}
""",
    ),
    softmax=(
        "softmax_line",
        """
/* Softmax of lines of `count` integers, which lie `step` apart. */
static void softmax(const uint8_t *x, uint8_t *y, int lines, int count, int step,
                    const softmax_rule *by)
{
    for (int line = 0; line < lines; ++line)
        for (int k = 0; k < step; ++k)
            softmax_line(x + line * count * step + k, y + line * count * step + k, count, step, by);
}
""",
    ),
    move=(
        "",
        """
/* Integers at other places: each axis has a table of how far a place along it is from the first. */
static void move(const uint8_t *x, uint8_t *y, const int size[4], const int32_t *const at[4])
{
    for (int i = 0; i < size[0]; ++i)
        for (int j = 0; j < size[1]; ++j)
            for (int k = 0; k < size[2]; ++k)
                for (int l = 0; l < size[3]; ++l)
                    *y++ = x[at[0][i] + at[1][j] + at[2][k] + at[3][l]];
}
""",
    ),
    copy=(
        "",
        """
static void copy(const uint8_t *x, uint8_t *y, int count)
{
    for (int k = 0; k < count; ++k)
        y[k] = x[k];
}
""",
    ),
)
