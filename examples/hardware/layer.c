/* The same layer in C99: integers only. vectors.h holds its numbers and what must come out. */
#include <inttypes.h>
#include <stdio.h>

#include "vectors.h"

enum { COLUMNS = sizeof fc_bias / sizeof fc_bias[0], LENGTH = sizeof fc_weight / COLUMNS };
enum { ROWS = sizeof fc_output / COLUMNS };

/* floor(x / 2**places), which C leaves open for negative numbers. */
static int64_t shift_down(int64_t x, int places) {
    const int64_t less = ((int64_t)1 << places) - 1;
    return x >= 0 ? x >> places : -((-x + less) >> places);
}

/* eq-multiply-rounded-twice, zero point, clamp. */
static int32_t requantize(int32_t total, int32_t multiplier, int places) {
    const int64_t product = (int64_t)total * multiplier;
    const int64_t upper = shift_down(product + ((int64_t)1 << 30), 31);
    const int64_t half = ((int64_t)1 << places) >> 1;
    const int64_t magnitude = ((upper < 0 ? -upper : upper) + half) >> places;
    const int64_t moved = (upper < 0 ? -magnitude : magnitude) + FC_OUTPUT_ZERO_POINT;
    return (int32_t)(moved < FC_LOW ? FC_LOW : moved > FC_HIGH ? FC_HIGH : moved);
}

int main(void) {
    int equal = 0;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int32_t total = fc_bias[column];
            for (int k = 0; k < LENGTH; k++)
                total += (fc_input[row * LENGTH + k] - FC_INPUT_ZERO_POINT) * fc_weight[column * LENGTH + k];
            const int32_t q = requantize(total, fc_multiplier[column], -(int)fc_exponent[column]);
            equal += q == fc_output[row * COLUMNS + column];
        }
    printf("%s: %d of %d outputs are equal\n", equal == ROWS * COLUMNS ? "PASS" : "FAIL", equal, ROWS * COLUMNS);
    return equal != ROWS * COLUMNS;
}
