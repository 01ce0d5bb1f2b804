/* SPDX-License-Identifier: Apache-2.0 */
#include "heap.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)

/* What the heap grows by: more than a large recording needs. Untouched memory takes none. */
enum { STEP = 16 << 20, LARGEST = 4 << 20, FIRST = 1 << 20 };

void heap_in_huge_pages(void)
{
#ifdef __GLIBC__
    static bool done;
    if (done)
        return;
    done = true;
    uintptr_t begin = ((uintptr_t)sbrk(0) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    /* One heap, for all threads, and for what else would have pages of its own. */
    if (mallopt(M_ARENA_MAX, 1) == 0 || mallopt(M_TOP_PAD, STEP) == 0 ||
        mallopt(M_MMAP_THRESHOLD, LARGEST) == 0)
        return;
    void *volatile first = malloc(FIRST); /* the heap grows for it */
    uintptr_t end = (uintptr_t)sbrk(0);
    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    free(first);
#endif
}
