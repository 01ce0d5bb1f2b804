/* SPDX-License-Identifier: Apache-2.0 */
#include "../huge_pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run_suite.h"

#define MIB ((size_t)1 << 20)

static const jfr_allocator *const a = &recording__huge_jfr;

/* A number of each place, so that bytes that moved are told from others. */
static void fill(uint32_t *block, size_t from, size_t to)
{
    for (size_t i = from / 4; i < to / 4; i++)
        block[i] = (uint32_t)i * 2654435761u;
}

static void must_hold(const uint32_t *block, size_t bytes)
{
    size_t good = 0;
    while (good < bytes / 4 && block[good] == (uint32_t)good * 2654435761u)
        good++;
    ck_assert_uint_eq(good, bytes / 4);
}

/* Sizes on both sides of where blocks become mappings, up and down, with others in the way. */
START_TEST(a_block_keeps_its_bytes_in_any_size)
{
    static const size_t sizes[] = {64,           100000,  2 * MIB - 64, 2 * MIB - 16, 2 * MIB,
                                   4 * MIB + 64, 9 * MIB, 33 * MIB,     6 * MIB,      2 * MIB,
                                   MIB,          3 * MIB, 128};
    enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
    void *others[COUNT];
    size_t size = 16;
    uint32_t *block = a->realloc(a->ctx, NULL, 0, size);
    ck_assert_ptr_nonnull(block);
    fill(block, 0, size);
    for (size_t i = 0; i < COUNT; i++) {
        others[i] = a->alloc(a->ctx, sizes[i]);
        ck_assert_ptr_nonnull(others[i]);
        fill(others[i], 0, sizes[i]);
        block = a->realloc(a->ctx, block, size, sizes[i]);
        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % _Alignof(max_align_t), 0);
        must_hold(block, size < sizes[i] ? size : sizes[i]);
        fill(block, size, sizes[i]);
        size = sizes[i];
    }
    for (size_t i = 0; i < COUNT; i++) {
        must_hold(others[i], sizes[i]);
        a->free(a->ctx, others[i]);
    }
    must_hold(block, size);
    a->free(a->ctx, block);
}
END_TEST

/* The block that could not grow is still there. */
START_TEST(too_large_a_block_is_refused)
{
    for (size_t size = MIB; size <= 4 * MIB; size *= 4) {
        uint32_t *block = a->alloc(a->ctx, size);
        ck_assert_ptr_nonnull(block);
        fill(block, 0, size);
        ck_assert_ptr_null(a->alloc(a->ctx, SIZE_MAX - 8));
        ck_assert_ptr_null(a->realloc(a->ctx, block, size, SIZE_MAX - 8));
        ck_assert_ptr_null(a->realloc(a->ctx, block, size, (SIZE_MAX >> 25) + 1));
        must_hold(block, size);
        a->free(a->ctx, block);
    }
}
END_TEST

/* Whether the pages of a block's first bytes are there before anybody touches them. */
static bool is_resident(void *block, size_t bytes)
{
    enum { MOST = 4096 };
    unsigned char pages[MOST];
    size_t count = bytes / (size_t)sysconf(_SC_PAGESIZE);
    ck_assert_uint_le(count, MOST);
    if (mincore(block, bytes, pages) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if ((pages[i] & 1) == 0)
            return false;
    return true;
}

/* Pages that a block had serve the next, also one that is larger or a bit smaller; and nothing is
 * kept when nobody uses any block. */
START_TEST(who_asks_next_gets_pages_that_are_there)
{
    static const size_t sizes[] = {4 * MIB, 3 * MIB, 4 * MIB, 12 * MIB};
    void *other = a->alloc(a->ctx, 2 * MIB);
    uint32_t *block = a->alloc(a->ctx, 4 * MIB);
    ck_assert(other != NULL && block != NULL);
    bool malloced = (uintptr_t)block % (2 * MIB) != 0; /* under AddressSanitizer */
    fill(block, 0, 4 * MIB);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        a->free(a->ctx, block);
        block = a->alloc(a->ctx, sizes[i]);
        ck_assert_ptr_nonnull(block);
        ck_assert(malloced || is_resident(block, sizes[i] < 4 * MIB ? sizes[i] : 4 * MIB));
        fill(block, 0, sizes[i]);
        must_hold(block, sizes[i]);
    }
    a->free(a->ctx, block);
    ck_assert(malloced || is_resident(block, 4 * MIB));
    a->free(a->ctx, other);
    ck_assert(malloced || !is_resident(block, 4 * MIB));
}
END_TEST

/* What is kept beside blocks in use is no more than 16 MiB. */
START_TEST(large_blocks_are_given_back_at_once)
{
    void *other = a->alloc(a->ctx, 2 * MIB);
    uint32_t *block = a->alloc(a->ctx, 32 * MIB);
    ck_assert(other != NULL && block != NULL);
    bool malloced = (uintptr_t)block % (2 * MIB) != 0;
    fill(block, 0, 4 * MIB);
    a->free(a->ctx, block);
    ck_assert(malloced || !is_resident(block, 4 * MIB));
    a->free(a->ctx, other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("huge_pages");
    TCase *tcase = tcase_create("huge_pages");
    tcase_add_test(tcase, a_block_keeps_its_bytes_in_any_size);
    tcase_add_test(tcase, too_large_a_block_is_refused);
    tcase_add_test(tcase, who_asks_next_gets_pages_that_are_there);
    tcase_add_test(tcase, large_blocks_are_given_back_at_once);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
