/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that write pages share. */
#ifndef BATCHFORM_WRITE_IMPL_H
#define BATCHFORM_WRITE_IMPL_H

#include "book_impl.h"

#include <zstd.h>

/* The keys of rows that windows of one service and one family of types have. */
typedef struct key_list {
    key_table keys; /* book_key */
} key_list;

/* What the window before had, in the page's order, for the next one to be told by. */
typedef struct before {
    uint32_t list;
    uint32_t *keys; /* numbers in the list */
    uint64_t *samples;
    size_t count;
    uint32_t *threads; /* numbers */
    uint64_t *thread_samples;
    size_t thread_count;
} before;

struct book_writer {
    uint64_t number;
    uint32_t pages;
    uint64_t key_count;
    string_table strings;
    key_table frames; /* book_frame */
    uint32_t *newest; /* by string: the newest frame of that class and 1 */
    size_t newest_room;
    key_table nodes;      /* book_node; node i + 1 */
    key_table stack_ids;  /* 16 bytes each */
    key_table list_names; /* namespace, workload, family */
    key_list *lists;
    size_t list_room;
    key_table threads; /* book_thread */
    key_table targets; /* batch_target of the book's strings */
    book_content before;
    ZSTD_CCtx *zstd;
};

/* A page on its way. */
typedef struct page {
    book_writer *to;
    const batch *one;
    page_content *content;
    uint32_t *string_map;       /* by string of the batch: the book's and 1 */
    uint32_t *frame_map;        /* by frame of the dictionary: the book's and 1 */
    uint32_t *stack_map;        /* by stack of the batch: the book's and 1 */
    size_t row, second, thread; /* those written so far */
    before last;
    bool failed;
} page;

/* One more entry of a column of the page. False = no memory. */
bool book__put32(uint32_t **items, size_t *count, uint32_t value);
bool book__put64(uint64_t **items, size_t *count, uint64_t value);
bool book__put_byte(ProtobufCBinaryData *to, uint8_t value);

#define PUT_IN(p, message, field, value)                                                           \
    ((p)->failed |= !_Generic((message)->field, uint32_t *                                         \
                              : book__put32, uint64_t *                                            \
                              : book__put64)(&(message)->field, &(message)->n_##field, (value)))
#define PUT(p, field, value)      PUT_IN((p), (p)->content, field, (value))
#define PUT_BYTE(p, field, value) ((p)->failed |= !book__put_byte(&(p)->content->field, (value)))

/* The book's number of a string that it has already. */
bool book__find_string(const page *p, const string_table *from, uint32_t index, uint32_t *number);

/* The ref of a string or stack of the batch; 0 = new, and brought at once. */
uint32_t book__refer_string(page *p, uint32_t string, uint32_t *number);
uint32_t book__refer_stack(page *p, uint32_t stack, uint32_t *number);

/* The target of a window; *key as in the book. */
void book__write_window_target(page *p, uint32_t target, batch_target *key);

/* The list of a window's keys, and its number. NULL: the page has failed. */
key_list *book__write_list(page *p, const batch_target *target, uint32_t type, uint32_t *number);

#endif
