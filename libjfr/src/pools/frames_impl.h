/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_FRAMES_H
#define JFR_SRC_FRAMES_H

#include "metadata/plan_impl.h"
#include "pools/idmap_impl.h"
#include "sums/pattern_impl.h"

#include <jfr/stack.h>

enum {
    JFR__SMALL_IDS = 256,
    JFR__READ_AHEAD = 72 /* bytes that a loop may read ahead of its position */
};

/* The kind and tier of one of the chunk's frame types. */
typedef struct jfr__frame_type {
    uint8_t kind;
    uint8_t tier;
} jfr__frame_type;

typedef struct jfr__frame_layout {
    jfr__field_place method;
    jfr__field_place line;
    jfr__field_place type;
} jfr__frame_layout;

/*
 * How to read a chunk's frames as numbers, many at a time. All known recorders write a frame as
 * four integers. For each pattern of its first eight bytes, `layouts` has the places of its fields.
 * Other frames are read by the plan.
 */
typedef struct jfr__frames {
    const jfr__plan *plan;
    jfr__plan
        head; /* a stack's fields before its frames; all fields, when some follow the frames */
    const jfr__idmap *methods;
    const jfr__frame_type *types; /* by id, JFR__SMALL_IDS */
    bool by_pattern;              /* the frames are four integers */
    bool behind_flag;             /* a byte `truncated` and the number of frames come before them */
    jfr__frame_layout layouts[256]; /* by the pattern of bytes that continue an integer */
} jfr__frames;

/* Fills `out` from the plans of a stack and of a frame. */
void jfr__frames_define(jfr__frames *out, const jfr__plan *stack, const jfr__plan *frame);

static inline jfr_frame_ref jfr__frame_ref(const jfr__frame_type *types, uint32_t method,
                                           uint64_t line, uint64_t type)
{
    jfr__frame_type kind = {JFR_FRAME_UNKNOWN, JFR_TIER_NONE};
    if (type < JFR__SMALL_IDS)
        kind = types[type];
    return (jfr_frame_ref){method, (uint32_t)line, kind.kind, kind.tier, 0};
}

/*
 * Decodes up to *left frames from `p` into *out, and advances *out. `stop` is JFR__READ_AHEAD bytes
 * before the end. Returns where it stopped: at a frame that the plan must read.
 */
typedef const uint8_t *jfr__frames_loop(const jfr__frames *frames, const uint8_t *p,
                                        const uint8_t *stop, jfr_frame_ref **out, uint32_t *left);

/*
 * The bytes of a frame, padded with 0. The JDK numbers methods by their class, so a method's
 * integer takes four or five bytes, and about every tenth frame has more than eight bytes. `first`
 * alone identifies a frame of at most eight bytes, because fewer than four integers end in the
 * first eight bytes of a longer frame.
 */
typedef struct jfr__frame_bytes {
    uint64_t first;
    uint32_t more;
} jfr__frame_bytes;

#define JFR__FRAME_BYTES 12u /* of the longest frame that a table can hold */

/* Frames with their values in one cache line, filled from the first slot on. */
enum { JFR__MEMO_BUCKET = 4 };
typedef struct jfr__memo_bucket {
    uint64_t first[JFR__MEMO_BUCKET]; /* as in jfr__frame_bytes; JFR__FREE_SLOT */
    uint32_t more[JFR__MEMO_BUCKET];
    uint32_t values[JFR__MEMO_BUCKET];
} jfr__memo_bucket;

#define JFR__FREE_SLOT UINT64_MAX /* no stored frame begins with it */

/* A frame is in one of this many successive buckets (the first bucket follows the last): in the
 * first that had a free slot. */
enum { JFR__MEMO_WAYS = 4 };

/* Returns the first of a frame's buckets, in a table of 2^bits buckets. */
static inline size_t jfr__memo_bucket_of(jfr__frame_bytes frame, unsigned bits)
{
    uint64_t mixed = frame.first ^ frame.more * UINT64_C(0xD6E8FEB86659FD93);
    return (size_t)(mixed * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits));
}

/*
 * Looks up to *left frames up in a table and advances as jfr__frames_loop does. It also stops at a
 * frame that is not in the table or is longer than JFR__FRAME_BYTES. For frames of four integers
 * only.
 */
typedef const uint8_t *jfr__values_loop(const jfr__memo_bucket *buckets, unsigned bits,
                                        const uint8_t *p, const uint8_t *stop, uint32_t **out,
                                        uint32_t *left);

/* Skips up to *count integers. `stop` is as above. Returns where it stopped; it stops early at an
 * integer of nine bytes. */
typedef const uint8_t *jfr__skip_loop(const uint8_t *p, const uint8_t *stop, uint64_t *count);

/* The loops; `best` is the fastest one that this CPU can run. */
jfr__frames_loop jfr__frames_loop_plain;
jfr__frames_loop jfr__frames_loop_bmi2;
jfr__frames_loop *jfr__frames_loop_best(void);
jfr__values_loop jfr__values_loop_plain;
jfr__values_loop jfr__values_loop_bmi2;
jfr__values_loop *jfr__values_loop_best(void);
jfr__skip_loop jfr__skip_loop_plain;
jfr__skip_loop jfr__skip_loop_bmi2;
jfr__skip_loop *jfr__skip_loop_best(void);

#endif
