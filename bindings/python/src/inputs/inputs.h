/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recordings that a Python object was opened on, and a walk over their chunks. Inputs are
 * shared by everything that reads them, which can outlive the object; walks need no GIL.
 */
#ifndef HOTSTACK_INPUTS_H
#define HOTSTACK_INPUTS_H

#include "module/native.h"

#include "module/failure.h"
#include "tables/arrow.h"

typedef struct input {
    char *path; /* NULL: memory */
    char *name; /* the path as UTF-8 */
    Py_buffer view;
    uint64_t size; /* bytes of the file or of the memory */
    bool looked;   /* whether it is packed is known */
    bytes plain;   /* of a packed input, where it is kept */
} input;

typedef struct inputs inputs;

/* Takes a sequence of str (paths) and objects with a buffer. Packed inputs stay in memory once they
 * were unpacked, up to `keep_bytes` in all. NULL with an exception set. */
inputs *inputs_new(PyObject *sequence, bool unfinished, size_t keep_bytes);
inputs *inputs_share(inputs *in);
/* Takes the GIL itself when the last user of a buffer releases it. NULL is allowed. */
void inputs_release(inputs *in);

size_t inputs_count(const inputs *in);
const input *inputs_at(const inputs *in, size_t index);
/* Opens an input. If it was unpacked before, it is not unpacked again. Returns 0, or -1 with its
 * name in `f`. */
int inputs_open(inputs *in, size_t index, const jfr_options *options, jfr_file **out, failure *f);
/* Returns whether an input is in memory, with its bytes; else it is a path. Unpacks it if it is
 * packed. */
bool inputs_memory(inputs *in, size_t index, const void **data, size_t *size);
/* Returns the sum of their sizes. */
uint64_t inputs_bytes(const inputs *in);
bool inputs_unfinished(const inputs *in);
/* Writes the name of an input in tables: its path, or "memory" or, where the path is too long,
 * "file" with its number. */
#define INPUT_NAME 4096
void inputs_name(const inputs *in, size_t index, char name[INPUT_NAME]);
/* Puts the name of the input that failed into the failure. */
void inputs_blame(const inputs *in, size_t index, failure *f);

/* How many losses are kept with their place; all are counted. */
#define WALK_LOSSES 256

typedef struct walk_loss {
    jfr_loss_record record;
    size_t input;
} walk_loss;

/* A walk over the chunks of all inputs, one after the other. Zero, then walk_begin. */
typedef struct walk {
    inputs *in;
    size_t index; /* of the open input, or of the next one */
    jfr_file *file;
    jfr_chunk *chunk; /* the current one */
    jfr_intervals inherit;
    uint64_t before; /* bytes of the inputs before this one */
    uint64_t chunks_whole, chunks_partial, chunks_lost, bytes_lost;
    uint64_t recorder_samples, recorder_bytes;
    size_t loss_count;
    walk_loss losses[WALK_LOSSES];
} walk;

void walk_begin(walk *w, inputs *in);
/* Goes to the next chunk. Returns 1 with w->chunk, 0 at the end of all inputs, -1 on failure. After
 * -1 the walk cannot continue. */
int walk_next(walk *w, failure *f);
/* Returns how many bytes of the inputs the walk has passed. */
uint64_t walk_done(const walk *w);
/* Ends a walk. NULL is not allowed; a walk that was never begun (zero) is. */
void walk_end(walk *w);

#endif
