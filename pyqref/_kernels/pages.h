/* Whole pages from the system, which may take back what is in them without being asked.

   Linux marks pages that are free and takes them only when somebody needs memory (MADV_FREE); until
   then they can be written again, without a fault and without being cleared. Elsewhere no system
   gives pages, and arrays come from NumPy. */
#ifndef PYQREF_PAGES_H
#define PYQREF_PAGES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/mman.h>

/* Of Linux 4.5, which headers of older C libraries do not name. */
#ifndef MADV_FREE
#define MADV_FREE 8
#endif

/* `size` bytes, a multiple of `page`, that begin at a multiple of it; NULL where there are none.
   The first `large` of them are wanted in huge pages. */
static void *pages_from_system(size_t size, size_t large, size_t page)
{
    char *all = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)all % page;
    if (before)
        munmap(all, before);
    munmap(all + before + size, page - before);
#ifdef MADV_HUGEPAGE
    madvise(all + before, large, MADV_HUGEPAGE);
#endif
    return all + before;
}

/* Whether the system may take what is in these pages from now on, until they are written again. */
static int let_system_take(void *pages, size_t size) { return madvise(pages, size, MADV_FREE) == 0; }

static void pages_to_system(void *pages, size_t size) { munmap(pages, size); }

#else

static void *pages_from_system(size_t size, size_t large, size_t page) { return NULL; }
static int let_system_take(void *pages, size_t size) { return 0; }
static void pages_to_system(void *pages, size_t size) {}

#endif
#endif
