/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_MEMO_METHODS_H
#define JFR_SRC_MEMO_METHODS_H

#include "pools/frames_impl.h"
#include "read/reader_impl.h"

/*
 * What the methods of frames that have a value are called, by id, so that a memo can tell which of
 * its frames are the same in the next chunk: HotSpot gives a method the same id in all chunks of a
 * recording, other recordings another one.
 */

enum { JFR__MEMO_METHODS = 1 << 16 }; /* of more, none is known in the next chunk */

/* A method by its id, and a number for what it is called; 0 = it was not to be found. */
typedef struct jfr__memo_method {
    uint64_t id;
    uint64_t names;
} jfr__memo_method;

typedef struct jfr__memo_methods {
    const jfr_allocator *alloc;
    jfr__idmap index; /* by id */
    jfr__memo_method *list;
    size_t cap;
    uint64_t factor; /* odd and random: names cannot be chosen to have one number */

    bool known; /* another chunk is to come in the file: methods are noted */
    /* What else the chunk tells of a frame's bytes: */
    jfr__frame_layout layout; /* of the shortest frame: in which order its fields stand */
    jfr__frame_type types[JFR__SMALL_IDS];
} jfr__memo_methods;

void jfr__memo_methods_init(jfr__memo_methods *m, const jfr_allocator *alloc);
void jfr__memo_methods_free(jfr__memo_methods *m);
/* Notes no more before the next chunk; keeps the memory. */
void jfr__memo_methods_clear(jfr__memo_methods *m);

/* Notes the method of a frame of the chunk that has a value. Without memory it notes none. */
void jfr__memo_methods_note(jfr__memo_methods *m, const jfr_chunk *chunk, jfr__frame_bytes frame,
                            uint32_t method);

/*
 * Begins with another chunk. Returns whether any method is what it was before, and frames are
 * written as they were; else no method is noted any more.
 */
bool jfr__memo_methods_next(jfr__memo_methods *m, const jfr_chunk *chunk);

/* Whether the frame is of a method that was noted and is the same in this chunk. */
bool jfr__memo_methods_same(const jfr__memo_methods *m, const jfr_chunk *chunk,
                            jfr__frame_bytes frame);

#endif
