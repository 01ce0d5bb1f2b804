/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/httpapi/books.h: the books whose pages collectors send (docs/formats/ingest.md,
 * "Pages"). As many as fit into a number of bytes: one that finds no room is not kept, one that
 * nobody wrote in for long goes first. A book that is worked on is out: who takes it has it alone.
 * Any thread.
 */
#ifndef BACKEND_BOOKS_H
#define BACKEND_BOOKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct books books;
typedef struct book book; /* batchform/book.h */

typedef enum books_answer { BOOKS_TAKEN, BOOKS_UNKNOWN, BOOKS_OUT, BOOKS_NO_MEMORY } books_answer;

/* most: bytes of all books together; idle_ms: how long one is kept that nobody writes in. NULL
 * without memory. */
books *books_new(size_t most, uint64_t idle_ms);
void books_free(books *b);

/* Takes the book of that number, or begins it where it is not there and page is 0. */
books_answer books_take(books *b, uint64_t number, uint32_t page, book **out);

/* Gives a taken book back. */
void books_give(books *b, book *one, uint64_t now_ms);

/* Counts of books and pages for /metrics. */
typedef struct books_stats {
    uint64_t kept, bytes;
    uint64_t unknown; /* pages of books that were not there */
    uint64_t refused; /* books that found no room */
} books_stats;

books_stats books_read(books *b);

#endif
