/* A table of 256 bytes as 16 rows of 16, for instructions that look up 4 bits and give 0 where the
 * highest bit of an index is set.
 *
 * A byte x < 128 with the high half h is looked up in the rows r = 0 to 7 as x - 16 r, which counts
 * where it is not negative: in rows 0 to h. So each row holds the exclusive or of its entries with
 * those of the row before, and the exclusive or of all that was found is the entry of the table.
 * Rows 8 to 15 do the same for x - 128. */
#ifndef PYQREF_NIBBLES_H
#define PYQREF_NIBBLES_H

#include <stdint.h>

static void nibble_rows(const uint8_t *table, uint8_t rows[16][16]) {
    for (int i = 0; i < 256; ++i) {
        rows[i / 16][i % 16] = table[i] ^ (i % 128 < 16 ? 0 : table[i - 16]);
    }
}

#endif
