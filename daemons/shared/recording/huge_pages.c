/* SPDX-License-Identifier: Apache-2.0 */
#include "huge_pages.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What stands before each block: of a mapped one at the end of pages of its own. */
typedef union head {
    struct {
        size_t size; /* of the block; of malloc's with the head */
        bool mapped; /* begins at a multiple of HUGE_PAGE; else malloc's */
    };
    max_align_t aligned;
} head;

#define PAGE      ((size_t)64 << 10) /* the largest that machines have */
#define HUGE_PAGE ((size_t)2 << 20)
#define LARGEST   (SIZE_MAX >> 25) /* half a TiB where sizes have 64 bits */

/* AddressSanitizer watches the borders of malloc's blocks only. */
#if defined(__SANITIZE_ADDRESS__)
#define MAPS false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MAPS false
#endif
#endif
#ifndef MAPS
#define MAPS true
#endif

static head *head_of(void *block)
{
    return (head *)block - 1;
}

static bool is_mapped(size_t size)
{
    return MAPS && size >= HUGE_PAGE;
}

/* The size that head.size has for a block, or 0: it is too large. A mapped one that `grows` ends
 * with a whole huge page, where small ones would begin, and go on; so does one that would take up
 * most of it. */
static size_t whole_size(size_t bytes, bool grows)
{
    if (bytes > LARGEST)
        return 0;
    if (!is_mapped(bytes))
        return bytes + sizeof(head);
    size_t step = grows || bytes % HUGE_PAGE > HUGE_PAGE / 2 ? HUGE_PAGE : PAGE;
    return (bytes + step - 1) / step * step;
}

/* ---- mappings ---- */

static char *base_of(head *h)
{
    return (char *)(h + 1) - PAGE;
}

/* Maps a block at a multiple of HUGE_PAGE: elsewhere its first bytes would have no huge page.
 * Returns its head. */
static head *map_block(size_t size)
{
    size_t all = PAGE + size + HUGE_PAGE;
    char *base = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    size_t before = HUGE_PAGE - ((uintptr_t)base + PAGE) % HUGE_PAGE;
    (void)munmap(base, before);
    base += before;
    if (before < HUGE_PAGE)
        (void)munmap(base + PAGE + size, HUGE_PAGE - before);
    (void)madvise(base, PAGE + size, MADV_HUGEPAGE);
    return (head *)(void *)(base + PAGE) - 1;
}

static void unmap_block(head *h, size_t size)
{
    (void)munmap(base_of(h), PAGE + size);
}

/* Where the mapping cannot grow where it is, its pages move as they are. */
static head *resize_mapping(head *old, size_t size)
{
    size_t old_size = old->size;
    if (mremap(base_of(old), PAGE + old_size, PAGE + size, 0) != MAP_FAILED)
        return old;
    head *to = map_block(size);
    if (to == NULL)
        return NULL;
    if (mremap(base_of(old), PAGE + old_size, PAGE + size, MREMAP_MAYMOVE | MREMAP_FIXED,
               base_of(to)) != MAP_FAILED)
        return to;
    unmap_block(to, size);
    return NULL;
}

/* ---- mappings that nobody has any more ---- */

enum { MOST_KEPT = 4 };

#define MOST_KEPT_BYTES ((size_t)16 << 20)

/* Pages that the kernel has cleared once, for who asks next: as long as some mapped block is in
 * use. */
static struct {
    pthread_mutex_t lock;
    size_t in_use; /* mapped blocks */
    size_t count;  /* of those that are kept */
    size_t bytes;
    head *blocks[MOST_KEPT];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static head *take_kept(size_t at)
{
    head *h = kept.blocks[at];
    kept.blocks[at] = kept.blocks[--kept.count];
    kept.bytes -= h->size;
    return h;
}

/* Whether `a` serves a block of this size better than `b` does: it is large enough and smaller, or
 * larger where neither is large enough. */
static bool serves_better(const head *a, const head *b, size_t size)
{
    if (a->size >= size && b->size >= size)
        return a->size < b->size;
    return a->size > b->size;
}

/* One that has the size, or can be made as large; NULL = none: those twice as large are for
 * others. */
static head *find_kept(size_t size)
{
    head *found = NULL;
    (void)pthread_mutex_lock(&kept.lock);
    size_t best = kept.count;
    for (size_t i = 0; i < kept.count; i++) {
        if (kept.blocks[i]->size < 2 * size &&
            (best == kept.count || serves_better(kept.blocks[i], kept.blocks[best], size)))
            best = i;
    }
    if (best < kept.count)
        found = take_kept(best);
    kept.in_use++;
    (void)pthread_mutex_unlock(&kept.lock);
    return found;
}

/* Returns false when the block is not to be kept. */
static bool keep(head *h)
{
    if (kept.in_use == 0 || kept.count == MOST_KEPT || h->size > MOST_KEPT_BYTES - kept.bytes)
        return false;
    kept.blocks[kept.count++] = h;
    kept.bytes += h->size;
    return true;
}

/* `h` may be NULL: there was no memory for it. */
static void drop_mapped(head *h)
{
    (void)pthread_mutex_lock(&kept.lock);
    kept.in_use--;
    if (h != NULL && !keep(h))
        unmap_block(h, h->size);
    while (kept.in_use == 0 && kept.count > 0) {
        head *last = take_kept(kept.count - 1);
        unmap_block(last, last->size);
    }
    (void)pthread_mutex_unlock(&kept.lock);
}

static head *get_mapped(size_t size)
{
    head *old = find_kept(size);
    if (old != NULL && old->size >= size)
        return old;
    head *h = old != NULL ? resize_mapping(old, size) : map_block(size);
    if (h != NULL)
        h->size = size;
    else
        drop_mapped(old);
    return h;
}

/* ---- blocks ---- */

static void *get_block(size_t bytes, bool grows)
{
    size_t size = whole_size(bytes, grows);
    bool mapped = is_mapped(bytes);
    head *h = size == 0 ? NULL : mapped ? get_mapped(size) : malloc(size);
    if (h == NULL)
        return NULL;
    if (!mapped)
        h->size = size;
    h->mapped = mapped;
    return h + 1;
}

static void *get(void *ctx, size_t bytes)
{
    (void)ctx;
    return get_block(bytes, false);
}

static void drop(void *ctx, void *block)
{
    (void)ctx;
    head *h = head_of(block);
    if (h->mapped)
        drop_mapped(h);
    else
        free(h);
}

static void drop_sized(void *ctx, void *block, size_t bytes)
{
    (void)bytes;
    drop(ctx, block);
}

static void *move(void *block, size_t old_bytes, size_t new_bytes)
{
    void *to = get_block(new_bytes, true);
    if (to == NULL)
        return NULL;
    memcpy(to, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    drop(NULL, block);
    return to;
}

static void *resize(void *ctx, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)ctx;
    size_t size = whole_size(new_bytes, true);
    if (size == 0)
        return NULL;
    if (block == NULL)
        return get(ctx, new_bytes);
    head *h = head_of(block);
    if (h->mapped != is_mapped(new_bytes))
        return move(block, old_bytes, new_bytes);
    h = h->mapped ? resize_mapping(h, size) : realloc(h, size);
    if (h == NULL)
        return NULL;
    h->size = size;
    return h + 1;
}

const jfr_allocator recording__huge_jfr = {get, resize, drop, NULL};
const sagg_allocator recording__huge_sagg = {get, resize, drop_sized, NULL};
