/* SPDX-License-Identifier: Apache-2.0 */
#include "huge_pages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What stands before each block. */
typedef union head {
    struct {
        size_t size; /* with the head */
        bool mapped; /* at a multiple of HUGE_PAGE; else malloc's */
    };
    max_align_t aligned;
} head;

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

/* The size of a block with its head, or 0: it is too large. */
static size_t whole_size(size_t bytes)
{
    if (bytes > LARGEST)
        return 0;
    size_t size = bytes + sizeof(head);
    return !is_mapped(size) ? size : (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

/* ---- mappings ---- */

/* Maps `size` bytes at a multiple of HUGE_PAGE: elsewhere the ends would have no huge page. */
static void *map_aligned(size_t size)
{
    size_t all = size + HUGE_PAGE;
    char *base = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    size_t before = HUGE_PAGE - (uintptr_t)base % HUGE_PAGE;
    (void)munmap(base, before);
    if (before < HUGE_PAGE)
        (void)munmap(base + before + size, HUGE_PAGE - before);
    (void)madvise(base + before, size, MADV_HUGEPAGE);
    return base + before;
}

/* Where the mapping cannot grow where it is, its pages move as they are. */
static head *resize_mapping(head *old, size_t size)
{
    void *at = mremap(old, old->size, size, 0);
    if (at == MAP_FAILED) {
        void *to = map_aligned(size);
        if (to == NULL)
            return NULL;
        at = mremap(old, old->size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
        if (at == MAP_FAILED) {
            (void)munmap(to, size);
            return NULL;
        }
    }
    return at;
}

/* ---- blocks ---- */

static void *get(void *ctx, size_t bytes)
{
    (void)ctx;
    size_t size = whole_size(bytes);
    bool mapped = is_mapped(size);
    head *h = size == 0 ? NULL : mapped ? map_aligned(size) : malloc(size);
    if (h == NULL)
        return NULL;
    h->size = size;
    h->mapped = mapped;
    return h + 1;
}

static void drop(void *ctx, void *block)
{
    (void)ctx;
    head *h = head_of(block);
    if (h->mapped)
        (void)munmap(h, h->size);
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
    void *to = get(NULL, new_bytes);
    if (to == NULL)
        return NULL;
    memcpy(to, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    drop(NULL, block);
    return to;
}

static void *resize(void *ctx, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)ctx;
    size_t size = whole_size(new_bytes);
    if (size == 0)
        return NULL;
    if (block == NULL)
        return get(ctx, new_bytes);
    head *h = head_of(block);
    if (h->mapped != is_mapped(size))
        return move(block, old_bytes, new_bytes);
    h = h->mapped ? resize_mapping(h, size) : realloc(h, size);
    if (h == NULL)
        return NULL;
    h->size = size;
    return h + 1;
}

const jfr_allocator recording__huge_jfr = {get, resize, drop, NULL};
const sagg_allocator recording__huge_sagg = {get, resize, drop_sized, NULL};
