/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the unpacked contents of two pages, the length of the first in front, in two bytes.
 * They are compressed here, or nothing would get behind zstd.
 */
#include <batchform/book.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const book_limits limits = {
    .rows = 5000, .targets = 50, .windows = 200, .depth = 64, .bytes = 1 << 20, .book = 1 << 18};

static void use(const book *from, batch *one)
{
    batch stacks;
    uint8_t digest[16];
    uint8_t *bytes = NULL;
    size_t length = 0;

    if (book_stacks(from, true, 10000, &stacks) != BOOK_READ)
        return;
    if (book_sender(from) == NULL ||
        batch_pack(one, &stacks, book_sender(from), digest, &bytes, &length) != 0)
        abort();
    free(bytes);
    batch_clear(&stacks);
}

/* Whether the page can be read; then it is in the book. */
static bool read_page(book *from, const unsigned char *data, size_t size)
{
    static const uint8_t id[BATCH_ID_SIZE] = {1};
    book_fault fault = {""};
    size_t room = ZSTD_compressBound(size);
    char *content = malloc(room);
    size_t length = ZSTD_compress(content, room, data, size, 1);
    uint64_t before = book_size(from);
    batch one;
    bool good = book_read(from, content, length, &limits, &one, &fault) == BOOK_READ;

    if (good)
        use(from, &one);
    else if (fault.text[0] == '\0')
        abort();
    batch_clear(&one);
    book_drop(from);
    if (book_size(from) != before)
        abort();
    if (good && book_read(from, content, length, &limits, &one, &fault) != BOOK_READ)
        abort(); /* what was dropped comes again */
    if (good)
        book_keep(from, id, id);
    batch_clear(&one);
    free(content);
    return good;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    book *from = book_new(1);

    if (from == NULL || size < 2) {
        book_free(from);
        return 0;
    }
    size_t first = (size_t)data[0] << 8 | data[1];
    first = first < size - 2 ? first : size - 2;
    if (read_page(from, data + 2, first))
        (void)read_page(from, data + 2 + first, size - 2 - first);
    book_free(from);
    return 0;
}
