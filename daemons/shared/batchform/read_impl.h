/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that read pages share. */
#ifndef BATCHFORM_READ_IMPL_H
#define BATCHFORM_READ_IMPL_H

#include "book_impl.h"

/* What is kept of a frame beside itself. */
typedef struct frame_note {
    uint64_t id;
    uint32_t newest_before; /* the newest frame of the class before it came, and 1 */
} frame_note;

typedef struct read_node {
    book_node node;
    uint32_t depth;
} read_node;

typedef struct read_stack {
    uint8_t id[STACK_ID_SIZE];
    uint32_t node;
    uint8_t flags;
} read_stack;

typedef struct read_list {
    book_key *keys;
    size_t count, room;
    size_t kept;
} read_list;

/* What entry of the batch under way stands for an entry of the book; of another page: none. */
typedef struct use {
    uint32_t page; /* and 1 */
    uint32_t index;
} use;

struct book {
    uint64_t number;
    uint32_t pages;
    Hotstack__V1__Collector *sender;
    bool sender_is_new;
    string_table strings;
    uint32_t *newest; /* by string: the newest frame of that class and 1 */
    use *string_uses;
    size_t newest_room, string_use_room;
    profile_frame *frames;
    frame_note *frame_notes;
    read_node *nodes;
    read_stack *stacks;
    use *stack_uses;
    read_list *lists;
    book_thread *threads;
    batch_target *targets;
    use *target_uses;
    size_t frame_room, frame_note_room, node_room, stack_room, stack_use_room, list_room,
        thread_room, target_room, target_use_room;
    book_counts counts, kept;
    uint32_t *used; /* the stacks of the batch under way, by its own numbers */
    size_t used_count, used_room;
    uint64_t *frame_ids; /* of one stack */
    size_t frame_id_room;
    book_content before, under_way; /* pages unpacked: the one kept last, the one read */
    uint8_t last_id[BATCH_ID_SIZE], last_digest[16];
};

/* Columns of values read so far. */
typedef struct value_cursor {
    size_t samples, raw, value;
} value_cursor;

/* The other columns, too. */
typedef struct cursor {
    size_t string, string_byte, target, frame, stack, stack_frame, key, thread, row_gap, series,
        second, thread_step;
    value_cursor row_values, thread_values;
} cursor;

/* A page on its way. */
typedef struct reading {
    book *from;
    const page_content *content;
    const book_limits *limits;
    batch *out;
    book_fault *fault;
    enum book_result result;
    cursor at;
    uint32_t *keys; /* of this window, in its list; until it has its own, of the one before */
    size_t key_count, key_room;
    uint32_t list;
    size_t first_row, first_thread; /* of the window before */
    uint32_t *thread_numbers;       /* the same of threads */
    size_t thread_count, thread_room;
} reading;

/* Notes the first fault of a page; false. */
bool book__fail(reading *in, enum book_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool book__no_memory(reading *in);

/* Entry `at` of a column; false where the column ends before it. */
bool book__take32(reading *in, const char *name, const uint32_t *items, size_t count, size_t at,
                  uint32_t *out);
bool book__take64(reading *in, const char *name, const uint64_t *items, size_t count, size_t at,
                  uint64_t *out);

#define TAKE_OF(in, message, field, at, out)                                                       \
    _Generic((message)->field, uint32_t *                                                          \
             : book__take32, uint64_t *                                                            \
             : book__take64)((in), #field, (message)->field, (message)->n_##field, (at), (out))
#define TAKE(in, field, at, out) TAKE_OF((in), (in)->content, field, (at), (out))

/* Whether a table of `count` entries has that number. */
bool book__in_range(reading *in, const char *what, uint64_t number, size_t count);

/* What a ref stands for: the book's number. */
bool book__resolve_string(reading *in, uint32_t ref, uint32_t *number);
/* The page's next new stack. */
bool book__take_stack(reading *in, uint32_t *number);

/* The book's entries as the batch's. */
bool book__use_string(reading *in, uint32_t number, uint32_t *index);
bool book__use_stack(reading *in, uint32_t number, uint32_t *index);
bool book__take_window_target(reading *in, size_t window, uint32_t *index);

#endif
