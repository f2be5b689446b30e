/* Elements by their places along three axes: borders, rolled and repeated elements, whatever their
 * type. */
#ifndef PYQREF_TAKEN_H
#define PYQREF_TAKEN_H

#include "simd/copy.h"

#define SHORTEST_RUN 4 /* items; those of shorter ones are copied one by one */

/* Bytes of a line of the result, and where they come from: of the border, where `source` is
 * negative. */
typedef struct { ptrdiff_t target, source, bytes; } Run;

/* Volumes (outer, depth, height, width) of items, and the place of each along its axis; -1 is the
 * border, a line of a constant. Widths are in bytes. Runs come first, then single
 * items of 1, 2, 4 or 8 bytes, those of the border last. */
typedef struct {
    const uint8_t *x, *border;
    uint8_t *out;
    const int64_t *depths, *heights;
    const Run *runs;
    ptrdiff_t size[3], out_size[3];
    ptrdiff_t item, n_runs, n_singles, lines, lines_per_task;
} Taken;

enum { WHOLE_RUN, SINGLES, SINGLES_OF_BORDER, KINDS };

/* Of n places: as many runs, or fewer. */
static void find_runs(Taken *t, const int64_t *places, ptrdiff_t n, Run *runs) {
    const ptrdiff_t item = t->item;
    const int has_singles = item == 1 || item == 2 || item == 4 || item == 8;
    t->runs = runs;
    for (int kind = 0; kind < KINDS; ++kind) {
        for (ptrdiff_t i = 0, end; i < n; i = end) {
            const int is_border = places[i] < 0;
            const int step = is_border ? 0 : 1;
            for (end = i + 1; end < n && places[end] == places[end - 1] + step;) ++end;
            int found = is_border ? SINGLES_OF_BORDER : SINGLES;
            if (end - i >= SHORTEST_RUN || !has_singles) found = WHOLE_RUN;
            const ptrdiff_t length = found == WHOLE_RUN ? end - i : 1;
            for (ptrdiff_t k = i; found == kind && k < end; k += length) {
                const Run run = {k * item, is_border ? -1 : places[k] * item, length * item};
                *runs++ = run;
            }
        }
        if (kind == WHOLE_RUN) t->n_runs = runs - t->runs;
    }
    t->n_singles = runs - t->runs - t->n_runs;
}

#define TAKE_SINGLES(bytes)                                                         \
    case bytes:                                                                     \
        for (; single < end && single->source >= 0; ++single) {                     \
            memcpy(out + single->target, line + single->source, bytes);             \
        }                                                                           \
        for (; single < end; ++single) {                                            \
            memcpy(out + single->target, t->border, bytes);                         \
        }                                                                           \
        break;

static void take_line(const Taken *t, uint8_t *out, const uint8_t *line) {
    const Run *single = t->runs + t->n_runs, *const end = single + t->n_singles;
    for (const Run *run = t->runs; run < single; ++run) {
        copy_bytes(out + run->target, run->source < 0 ? t->border : line + run->source,
                   run->bytes);
    }
    switch (t->item) {
        TAKE_SINGLES(1)
        TAKE_SINGLES(2)
        TAKE_SINGLES(4)
        TAKE_SINGLES(8)
    }
}

/* Some lines of the result. */
static void take_task(void *context, ptrdiff_t index, int thread) {
    const Taken *t = (const Taken *)context;
    ptrdiff_t line = index * t->lines_per_task;
    const ptrdiff_t left = t->lines - line;
    const ptrdiff_t last = line + (t->lines_per_task < left ? t->lines_per_task : left);
    ptrdiff_t y = line % t->out_size[1], z = line / t->out_size[1] % t->out_size[0];
    ptrdiff_t outer = line / t->out_size[1] / t->out_size[0];
    uint8_t *out = t->out + line * t->out_size[2];
    (void)thread;
    for (; line < last; ++line, out += t->out_size[2]) {
        const int64_t depth = t->depths[z], height = t->heights[y];
        if (depth < 0 || height < 0) {
            copy_bytes(out, t->border, t->out_size[2]);
        } else {
            take_line(t, out, t->x + ((outer * t->size[0] + depth) * t->size[1] + height)
                                         * t->size[2]);
        }
        if (++y == t->out_size[1]) {
            y = 0;
            if (++z == t->out_size[0]) z = 0, ++outer;
        }
    }
}

#endif
