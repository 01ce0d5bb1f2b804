/* SPDX-License-Identifier: Apache-2.0 */
/* The table of frames that the profiles of a packed document share. */
#ifndef STACKAGG_PACKED_FRAMES_H
#define STACKAGG_PACKED_FRAMES_H

#include "packed_impl.h"
#include "trees/tree_impl.h"

typedef struct sagg__packed_frames {
    sagg__mem *mem;
    const sagg_frame **frames; /* of all profiles, one after the other */
    uint32_t *ids;             /* by the same numbers: the document's, in order of first use */
    uint32_t *shown;           /* by the document's number: one of `frames` */
    uint32_t *name_of;         /* by the document's number: its name's */
    uint32_t *names;           /* by name, in order of first use: one of `frames` */
    uint32_t *group_of;        /* by name */
    uint32_t *groups;          /* by group: one of `frames` that is of it */
    uint32_t *host;            /* by name: the name it stands within + 1, 0 = it has its own line */
    uint32_t *offset;          /* by name: where in its host */
    uint32_t count;
    uint32_t id_count;
    uint32_t name_count;
    uint32_t group_count;
    bool lines; /* some frame has a line */
} sagg__packed_frames;

/* Collects and numbers the frames. Returns 0 or SAGG_ERR_NOMEM; free it in both cases. */
int sagg__packed_frames_new(sagg__packed_frames *out, sagg__mem *mem, const sagg__packed *document);
void sagg__packed_frames_free(sagg__packed_frames *frames);

/* Writes the members that the table needs, each with a comma before it. */
void sagg__packed_frames_write(const sagg__packed_frames *frames, sagg__emit *emit);

/* A frame of the name. */
static inline const sagg_frame *sagg__packed_name(const sagg__packed_frames *frames,
                                                  uint32_t number)
{
    return frames->frames[frames->names[number]];
}

/* Finds names that stand within others, where there are few names. */
void sagg__packed_find_hosts(sagg__packed_frames *frames);

/* Writes the groups, where the names are, and which group each is of. */
void sagg__packed_names_code(const sagg__packed_frames *frames, sagg__coder *coder);

/* Writes the groups' libraries, then the names, a line break before each. */
void sagg__packed_names_write(const sagg__packed_frames *frames, sagg__emit *emit);

#endif
