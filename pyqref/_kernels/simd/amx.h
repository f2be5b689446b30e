/* Primitives for AMX-INT8: those of AVX512 with VNNI, and the tile registers of tiles.h. */
#ifndef PYQREF_SIMD_AMX_H
#define PYQREF_SIMD_AMX_H

#define SIMD_TILES 1
#include "avx512vnni.h"

#endif
