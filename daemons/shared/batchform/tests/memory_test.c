/* SPDX-License-Identifier: Apache-2.0 */
/* Two pages are read without memory, at each allocation: the book says so, and is as it was. */
#include <batchform/book.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "failing_memory.h"
#include "run_suite.h"

static const uint8_t id[BATCH_ID_SIZE] = {1};
static const book_limits limits = {
    .rows = 5000, .targets = 50, .windows = 200, .depth = 64, .bytes = 1 << 20, .book = 1 << 18};

typedef struct content {
    char data[8192];
    size_t length;
} content;

static content pages[2];

static void load_pages(void)
{
    static unsigned char data[8192];
    FILE *file = fopen(CORPUS "/book/two", "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(data, 1, sizeof(data), file);
    (void)fclose(file);
    ck_assert_uint_gt(size, 2);
    size_t first = (size_t)data[0] << 8 | data[1];
    ck_assert_uint_lt(first + 2, size);
    pages[0].length = ZSTD_compress(pages[0].data, sizeof(pages[0].data), data + 2, first, 1);
    pages[1].length =
        ZSTD_compress(pages[1].data, sizeof(pages[1].data), data + 2 + first, size - 2 - first, 1);
}

static void abort_with(const book_fault *fault)
{
    (void)fprintf(stderr, "%s\n", fault->text);
    abort();
}

/* Whether both pages could be read, and the stacks of the last one had. */
static bool read_both(book_fault *fault)
{
    book *from = book_new(1);
    enum book_result got = from != NULL ? BOOK_READ : BOOK_NO_MEMORY;
    for (size_t i = 0; i < 2 && got == BOOK_READ; i++) {
        batch one;
        uint64_t before = book_size(from);
        got = book_read(from, pages[i].data, pages[i].length, &limits, &one, fault);
        batch_clear(&one);
        if (got == BOOK_READ)
            book_keep(from, id, id);
        else if (got != BOOK_NO_MEMORY || book_size(from) != before)
            abort_with(fault);
    }
    if (got == BOOK_READ) {
        batch stacks;
        got = book_stacks(from, true, 1000, &stacks);
        batch_clear(&stacks);
    }
    book_free(from);
    return got == BOOK_READ;
}

START_TEST(a_page_without_memory_leaves_the_book_as_it_was)
{
    book_fault fault = {""};
    load_pages();
    ck_assert_msg(read_both(&fault), "%s", fault.text);
    bool good = false;
    long failures = 0;
    for (long count = 0; !good; count = memory_next(count), failures++) {
        memory_limit(count);
        good = read_both(&fault);
        memory_lift();
    }
    ck_assert_int_gt(failures, 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("memory");
    tcase_add_test(tests, a_page_without_memory_leaves_the_book_as_it_was);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
