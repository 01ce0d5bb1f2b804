/* SPDX-License-Identifier: Apache-2.0 */
/* What the two sides of a book share: its tables' entries, its size, its zstd prefix. */
#ifndef BATCHFORM_BOOK_IMPL_H
#define BATCHFORM_BOOK_IMPL_H

#include <batchform/book.h>

typedef Hotstack__V1__PageContent page_content;

enum { BOOK_PREFIX_MAX = 64 * 1024, BOOK_ROOT = 0 };

typedef struct book_frame {
    uint32_t class_name, method, file, line, kind; /* the first three: strings */
} book_frame;

/* A stack's way from the root, one frame a node. Node 0, the root, has none. */
typedef struct book_node {
    uint32_t parent, frame;
} book_node;

typedef struct book_key {
    uint32_t stack, pool, facet, object; /* pool, object: strings */
} book_key;

typedef struct book_thread {
    uint64_t os_tid, java_tid;
    uint32_t name, pool; /* strings */
} book_thread;

/* How many entries the tables have; all lists' keys together. */
typedef struct book_counts {
    size_t content; /* bytes of the page before that are kept */
    size_t string_bytes, strings, frames, nodes, stacks, lists, keys, threads, targets;
} book_counts;

/* The rule of docs/formats/ingest.md. */
static inline uint64_t book__size(const book_counts *of)
{
    enum { ITSELF = 4096 };
    return ITSELF + of->content + of->string_bytes + 16 * (uint64_t)of->strings +
           32 * (uint64_t)of->frames + 16 * (uint64_t)of->nodes + 32 * (uint64_t)of->stacks +
           64 * (uint64_t)of->lists + 16 * (uint64_t)of->keys + 24 * (uint64_t)of->threads +
           96 * (uint64_t)of->targets;
}

/* The content of a page, unpacked: malloc'd. */
typedef struct book_content {
    uint8_t *data;
    size_t length;
} book_content;

/*
 * What the content of the next page is compressed against: the tail of the first `bytes` string
 * bytes, then the tail of the page before. malloc'd; NULL = no memory.
 */
char *book__prefix(const string_table *strings, size_t bytes, const book_content *before,
                   size_t *length);

/* Only the tail that book__prefix takes stays. */
void book__trim(book_content *content);

static inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t) - (int64_t)(difference >> 63);
}

static inline uint64_t unzigzag(uint64_t coded)
{
    return coded >> 1 ^ (uint64_t) - (int64_t)(coded & 1);
}

#define FORM(name) HOTSTACK__V1__PAGE_FORM__PAGE_FORM_##name

#endif
