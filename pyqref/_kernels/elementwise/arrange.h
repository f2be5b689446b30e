/* Elements in another order: a copy from any steps between elements to any others.
 *
 * Axes that follow one another in both arrays are one. Then the innermost axis of the result
 * decides: runs of bytes are copied; where another axis is the innermost of the source, the two are
 * exchanged in blocks; else elements are copied one by one. */
#ifndef PYQREF_ARRANGE_H
#define PYQREF_ARRANGE_H

#include "simd/copy.h"
#include "simd/transpose.h"

#define MOST_ARRANGED 32 /* axes */
#define BLOCK_ROWS 16    /* of a source that are read together: results fill cache lines */

#define NARROW_ROWS 8    /* of a source, which are read one by one */

enum Way { RUNS, EXCHANGED, ONE_BY_ONE };

/* Axes from the innermost of the result outwards: lengths, and bytes between elements. A task takes
 * some of the outer places, and of each some rows, which lie along axis 1. */
typedef struct {
    const uint8_t *source;
    uint8_t *target;
    ptrdiff_t item, outer, outer_per_task, rows_per_task, tasks_per_place;
    ptrdiff_t length[MOST_ARRANGED], source_steps[MOST_ARRANGED], target_steps[MOST_ARRANGED];
    int axes, way;
} Arranged;

static void swap_axes(Arranged *a, int one, int other) {
    ptrdiff_t *const all[] = {a->length, a->source_steps, a->target_steps};
    for (int i = 0; i < 3; ++i) {
        const ptrdiff_t kept = all[i][one];
        all[i][one] = all[i][other];
        all[i][other] = kept;
    }
}

/* Axes in the order of the result, those of one element left out, and neighbours joined. */
static void simplify(Arranged *a) {
    int axes = 0;
    for (int i = 0; i < a->axes; ++i) {
        if (a->length[i] == 1) continue;
        swap_axes(a, i, axes);
        for (int j = axes++; j > 0 && a->target_steps[j] < a->target_steps[j - 1]; --j) {
            swap_axes(a, j, j - 1);
        }
    }
    int last = 0;
    for (int i = 1; i < axes; ++i) {
        const ptrdiff_t n = a->length[last];
        if (a->source_steps[i] == a->source_steps[last] * n &&
            a->target_steps[i] == a->target_steps[last] * n) {
            a->length[last] *= a->length[i];
        } else {
            swap_axes(a, ++last, i);
        }
    }
    for (a->axes = axes ? last + 1 : 0; a->axes < 2; ++a->axes) {
        a->length[a->axes] = 1;
        a->source_steps[a->axes] = a->target_steps[a->axes] = a->item;
    }
}

/* Choose the way, and tasks of about so many bytes. */
static ptrdiff_t plan_arranged(Arranged *a, ptrdiff_t bytes) {
    simplify(a);
    a->way = ONE_BY_ONE;
    if (a->target_steps[0] == a->item && a->source_steps[0] == a->item) a->way = RUNS;
    for (int i = 1; i < a->axes && a->target_steps[0] == a->item && a->way == ONE_BY_ONE; ++i) {
        if (a->source_steps[i] == a->item && a->length[i] > 1) {
            for (; i > 1; --i) swap_axes(a, i, i - 1);
            a->way = EXCHANGED;
        }
    }
    const ptrdiff_t row = a->length[0] * a->item;
    ptrdiff_t rows = bytes / row + 1;
    a->outer = 1;
    for (int i = 2; i < a->axes; ++i) a->outer *= a->length[i];
    a->outer_per_task = rows / a->length[1] + 1;
    if (rows > a->length[1]) rows = a->length[1];
    a->rows_per_task = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS * BLOCK_ROWS;
    a->tasks_per_place = (a->length[1] + a->rows_per_task - 1) / a->rows_per_task;
    return (a->outer + a->outer_per_task - 1) / a->outer_per_task * a->tasks_per_place;
}

/* An element after the other: of constant steps in loops that compilers make vectors of, else four
 * at a time. */
#define DEFINE_LINES(bits)                                                                        \
    static void line_of_##bits(uint8_t *target, ptrdiff_t to, const uint8_t *source,              \
                               ptrdiff_t from, ptrdiff_t n) {                                     \
        const ptrdiff_t size = bits / 8;                                                          \
        uint##bits##_t x[4];                                                                      \
        if (to == size && from == -size) {                                                        \
            for (ptrdiff_t i = 0; i < n; ++i) memcpy(target + i * size, source - i * size, size); \
            return;                                                                               \
        }                                                                                         \
        if (to == size && from == 0) {                                                            \
            memcpy(x, source, size);                                                              \
            for (ptrdiff_t i = 0; i < n; ++i) memcpy(target + i * size, x, size);                 \
            return;                                                                               \
        }                                                                                         \
        ptrdiff_t i = 0;                                                                          \
        for (; i + 4 <= n; i += 4, source += 4 * from, target += 4 * to) {                        \
            for (int k = 0; k < 4; ++k) memcpy(x + k, source + k * from, size);                   \
            for (int k = 0; k < 4; ++k) memcpy(target + k * to, x + k, size);                     \
        }                                                                                         \
        for (; i < n; ++i, source += from, target += to) memcpy(target, source, size);            \
    }
DEFINE_LINES(8)
DEFINE_LINES(16)
DEFINE_LINES(32)
DEFINE_LINES(64)

static void line_of_items(ptrdiff_t item, uint8_t *target, ptrdiff_t to, const uint8_t *source,
                          ptrdiff_t from, ptrdiff_t n) {
    if (item == 1) line_of_8(target, to, source, from, n);
    else if (item == 2) line_of_16(target, to, source, from, n);
    else if (item == 4) line_of_32(target, to, source, from, n);
    else line_of_64(target, to, source, from, n);
}

/* target[column][row] = source[row][column]; a task is so small that it stays in the cache. */
static void exchange(const Arranged *a, uint8_t *target, const uint8_t *source,
                     ptrdiff_t columns) {
    const ptrdiff_t item = a->item, to = a->target_steps[1], from = a->source_steps[0];
    const ptrdiff_t rows = a->length[0];
    if (item == 4 && to % 4 == 0 && from % 4 == 0) {
        exchange_f32((float *)target, to / 4, (const float *)source, from / 4, rows, columns);
        return;
    }
    for (ptrdiff_t row = 0; rows <= NARROW_ROWS && row < rows; ++row) {
        line_of_items(item, target + row * item, to, source + row * from, item, columns);
    }
    for (ptrdiff_t column = 0; rows > NARROW_ROWS && column < columns; ++column) {
        line_of_items(item, target + column * to, item, source + column * item, from, rows);
    }
}

static void arrange_rows(const Arranged *a, uint8_t *target, const uint8_t *source,
                         ptrdiff_t rows) {
    const ptrdiff_t to = a->target_steps[1], from = a->source_steps[1], n = a->length[0] * a->item;
    if (a->way == EXCHANGED) {
        exchange(a, target, source, rows);
    } else if (a->way == ONE_BY_ONE) {
        for (; rows > 0; --rows, target += to, source += from) {
            line_of_items(a->item, target, a->target_steps[0], source, a->source_steps[0],
                          a->length[0]);
        }
    } else {
        for (; rows > 0; --rows, target += to, source += from) copy_bytes(target, source, n);
    }
}

static void arrange_task(void *context, ptrdiff_t index, int thread) {
    const Arranged *a = (const Arranged *)context;
    const ptrdiff_t first = index % a->tasks_per_place * a->rows_per_task;
    const ptrdiff_t left = a->length[1] - first;
    const ptrdiff_t rows = left < a->rows_per_task ? left : a->rows_per_task;
    ptrdiff_t outer = index / a->tasks_per_place * a->outer_per_task, rest = outer;
    const ptrdiff_t end = outer + a->outer_per_task < a->outer ? outer + a->outer_per_task
                                                               : a->outer;
    const uint8_t *source = a->source + first * a->source_steps[1];
    uint8_t *target = a->target + first * a->target_steps[1];
    ptrdiff_t place[MOST_ARRANGED];
    (void)thread;
    for (int i = 2; i < a->axes; ++i) {
        place[i] = rest % a->length[i];
        rest /= a->length[i];
        source += place[i] * a->source_steps[i];
        target += place[i] * a->target_steps[i];
    }
    for (; outer < end; ++outer) {
        arrange_rows(a, target, source, rows);
        for (int i = 2; i < a->axes; ++i) { /* the next place */
            source += a->source_steps[i];
            target += a->target_steps[i];
            if (++place[i] < a->length[i]) break;
            source -= place[i] * a->source_steps[i];
            target -= place[i] * a->target_steps[i];
            place[i] = 0;
        }
    }
}

#endif
