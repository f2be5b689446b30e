/* Tile registers: matrices of bytes, multiplied by one instruction.
 *
 * A register holds up to 16 rows of 64 bytes. Registers 0 to 3 hold sums of 16 columns each,
 * 4 and 5 inputs (rows of 64 depths), 6 and 7 weights (16 quads of depths, four weights of each
 * of 16 columns side by side: the layout of a panel). A part of a product is either two tiles of
 * rows by at most two of columns, or one by at most four.
 *
 * Headers that do not define SIMD_TILES get functions that are never called. */
#ifndef PYQREF_TILES_H
#define PYQREF_TILES_H

#include <stddef.h>
#include <stdint.h>

#ifdef SIMD_TILES

#include <immintrin.h>
#include <string.h>

#define HAS_TILES 1

typedef struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} TileShapes;

/* Choose how many rows the two tiles of inputs and their sums have. All registers are cleared. */
static void tiles_configure(int first_rows, int second_rows) {
    TileShapes shapes;
    memset(&shapes, 0, sizeof shapes);
    shapes.palette = 1;
    for (int i = 0; i < 8; ++i) {
        shapes.row_bytes[i] = 64;
        shapes.rows[i] = 16;
    }
    shapes.rows[0] = shapes.rows[1] = shapes.rows[4] = (uint8_t)first_rows;
    shapes.rows[2] = shapes.rows[3] = (uint8_t)(second_rows ? second_rows : first_rows);
    if (second_rows) shapes.rows[5] = (uint8_t)second_rows;
    _tile_loadconfig(&shapes);
}
static inline void tiles_release(void) { _tile_release(); }

static inline void tiles_clear(void) {
#if defined(__GNUC__)
    __asm__ volatile("" ::: "memory"); /* what tiles load next has been written by now */
#endif
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

/* Add 64 depths: `x`, and for two tiles `second`, hold rows `x_row` bytes apart; `w` holds quads
 * `w_quad` bytes apart. */
static inline void tiles_multiply(int row_tiles, int column_tiles, const uint8_t *x,
                                  const uint8_t *second, ptrdiff_t x_row, const int8_t *w,
                                  ptrdiff_t w_quad) {
    _tile_loadd(6, w, w_quad);
    _tile_loadd(4, x, x_row);
    if (row_tiles == 2) {
        _tile_dpbusd(0, 4, 6);
        _tile_loadd(5, second, x_row);
        _tile_dpbusd(2, 5, 6);
        if (column_tiles == 1) return;
        _tile_loadd(7, w + 64, w_quad);
        _tile_dpbusd(1, 4, 7);
        _tile_dpbusd(3, 5, 7);
        return;
    }
    _tile_dpbusd(0, 4, 6);
    if (column_tiles == 1) return;
    _tile_loadd(7, w + 64, w_quad);
    _tile_dpbusd(1, 4, 7);
    if (column_tiles == 2) return;
    _tile_loadd(6, w + 128, w_quad);
    _tile_dpbusd(2, 4, 6);
    if (column_tiles == 3) return;
    _tile_loadd(7, w + 192, w_quad);
    _tile_dpbusd(3, 4, 7);
}

/* Write the sums into rows of 64 integers. */
static inline void tiles_store(int row_tiles, int column_tiles, int32_t *sums) {
    const ptrdiff_t row = 64 * sizeof(int32_t);
    _tile_stored(0, sums, row);
    if (row_tiles == 2) _tile_stored(2, sums + 16 * 64, row);
    if (column_tiles == 1) return;
    _tile_stored(1, sums + 16, row);
    if (row_tiles == 2) _tile_stored(3, sums + 16 * 64 + 16, row);
    if (column_tiles == 2) return;
    _tile_stored(2, sums + 32, row);
    if (column_tiles == 4) _tile_stored(3, sums + 48, row);
}

#else

#define HAS_TILES 0
static inline void tiles_configure(int first_rows, int second_rows) {
    (void)first_rows;
    (void)second_rows;
}
static inline void tiles_release(void) {}
static inline void tiles_clear(void) {}
static inline void tiles_multiply(int row_tiles, int column_tiles, const uint8_t *x,
                                  const uint8_t *second, ptrdiff_t x_row, const int8_t *w,
                                  ptrdiff_t w_quad) {
    (void)row_tiles, (void)column_tiles, (void)x, (void)second, (void)x_row, (void)w, (void)w_quad;
}
static inline void tiles_store(int row_tiles, int column_tiles, int32_t *sums) {
    (void)row_tiles, (void)column_tiles, (void)sums;
}

#endif
#endif
