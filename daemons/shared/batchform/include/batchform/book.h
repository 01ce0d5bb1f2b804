/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of a book (docs/formats/ingest.md, "Pages"): batches of one collector in a row, each of
 * which names by a number what the ones before it brought. A writer makes pages of batches, a book
 * makes batches of pages. Both are one thread's at a time.
 */
#ifndef BATCHFORM_BOOK_H
#define BATCHFORM_BOOK_H

#include "message.h"

/* ---- writing ---- */

typedef struct book_writer book_writer;

/* An empty book of that number. NULL = no memory. */
book_writer *book_writer_new(uint64_t number);
void book_writer_free(book_writer *writer);

/* Pages written, and the size that the book has with them, by the rule of the format. */
uint32_t book_writer_pages(const book_writer *writer);
uint64_t book_writer_size(const book_writer *writer);

/*
 * The next page: an encoded ProfileBatch with the batch's id and that digest. The batch is in the
 * order of batch_order; `sender` is the same in all pages. *out is malloc'd. 0, or -1: no memory,
 * or a batch that no page can tell; the writer must then be freed, since it holds half of the
 * batch.
 */
int book_write(book_writer *writer, const batch *one, const Hotstack__V1__Collector *sender,
               const uint8_t digest[16], uint8_t **out, size_t *length);

/* ---- reading ---- */

/* Limits of what one page may stand for. */
typedef struct book_limits {
    uint64_t rows; /* sample rows, and threads; seconds ten times as many */
    uint64_t targets, windows;
    uint64_t depth; /* frames of a stack */
    uint64_t bytes; /* of the page unpacked, and about of the plain batch */
    uint64_t book;  /* size of the book with the page */
} book_limits;

enum book_result {
    BOOK_READ = 0,
    BOOK_NO_MEMORY,
    BOOK_UNREADABLE, /* damaged, or what it names is not in the book */
    BOOK_FULL,       /* the book would pass its size */
    BOOK_TOO_LARGE,  /* the batch passes a limit: to be cut into smaller ones */
};

/* What is wrong, in a sentence. */
typedef struct book_fault {
    char text[200];
} book_fault;

typedef struct book book;

book *book_new(uint64_t number);
void book_free(book *one);
uint64_t book_number(const book *one);
uint32_t book_pages(const book *one); /* kept ones */
uint64_t book_size(const book *one);  /* with what is read and not dropped */

/* How many bytes the content of a page says it has unpacked; 0 = it does not say. */
size_t book_content_size(const void *content, size_t length);

/*
 * Reads the content of page book_pages(one) as a batch without a dictionary, for batch_clear to
 * free; its id is zero. The book then holds what the page brought until book_keep or book_drop says
 * what becomes of it. On any other result than BOOK_READ there is no batch and the book is as it
 * was. `data` may hold anything.
 */
enum book_result book_read(book *one, const void *content, size_t length, const book_limits *limits,
                           batch *out, book_fault *fault);

/* Who wrote the book: borrowed until it ends; NULL before its first page was read. */
const Hotstack__V1__Collector *book_sender(const book *one);

/*
 * The stacks of the batch that book_read gave last, in a batch that holds nothing else: those that
 * its page brought, or all. BOOK_TOO_LARGE where they have more than `frames` frames.
 */
enum book_result book_stacks(const book *one, bool all, uint64_t frames, batch *out);

/* The page was stored: its id and digest are remembered, and the next one may come. */
void book_keep(book *one, const uint8_t id[BATCH_ID_SIZE], const uint8_t digest[16]);
/* It was not: the book is as before it. */
void book_drop(book *one);

/* Whether the page that was kept last had that id and digest. */
bool book_has_just(const book *one, const uint8_t id[BATCH_ID_SIZE], const uint8_t digest[16]);

#endif
