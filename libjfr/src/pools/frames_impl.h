/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_FRAMES_H
#define JFR_SRC_FRAMES_H

#include "metadata/plan_impl.h"
#include "pools/idmap_impl.h"
#include "sums/pattern_impl.h"

#include <jfr/stack.h>

enum {
    JFR__SMALL_IDS = 256,
    JFR__READ_AHEAD = 72 /* bytes that a loop may look at from where it is */
};

/* The kind and tier of a frame type of the chunk. */
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
 * four integers: for each pattern of eight bytes that such a frame may begin with, the layouts tell
 * where its fields lie. Other frames are read by the plan.
 */
typedef struct jfr__frames {
    const jfr__plan *plan;
    jfr__plan head; /* a stack's fields in front of its frames; all, when more stands behind them */
    const jfr__idmap *methods;
    const jfr__frame_type *types;   /* by id, JFR__SMALL_IDS */
    bool by_pattern;                /* the frames are four integers */
    bool behind_flag;               /* they stand behind a byte, `truncated`, and their number */
    jfr__frame_layout layouts[256]; /* by which bytes continue an integer */
} jfr__frames;

/* Fills it from the plans of a stack and of a frame. */
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
 * Decodes up to *left frames into *out, which it moves on, from `p`; `stop` is JFR__READ_AHEAD
 * bytes before the end. Returns where it stopped: at a frame that must be read by the plan.
 */
typedef const uint8_t *jfr__frames_loop(const jfr__frames *frames, const uint8_t *p,
                                        const uint8_t *stop, jfr_frame_ref **out, uint32_t *left);

/*
 * The bytes of a frame, 0 behind its end. The JDK numbers methods by their class: the integer takes
 * four or five bytes, and every tenth frame more than eight. A frame of eight at most is told by
 * `first` alone: of eight bytes of a longer one, fewer than four end an integer.
 */
typedef struct jfr__frame_bytes {
    uint64_t first;
    uint32_t more;
} jfr__frame_bytes;

#define JFR__FRAME_BYTES 12u /* of a frame that can have a value */

/* Frames that have a value: a cache line of them, filled from the first slot on. */
enum { JFR__MEMO_BUCKET = 4 };
typedef struct jfr__memo_bucket {
    uint64_t first[JFR__MEMO_BUCKET]; /* as in jfr__frame_bytes; JFR__FREE_SLOT */
    uint32_t more[JFR__MEMO_BUCKET];
    uint32_t values[JFR__MEMO_BUCKET];
} jfr__memo_bucket;

#define JFR__FREE_SLOT UINT64_MAX /* no frame that is kept begins with it */

/* A frame is in one of so many buckets that follow one another, the last one by the first: the
 * first in which it found room. */
enum { JFR__MEMO_WAYS = 4 };

/* The first of a frame's buckets, in a table of 2^bits of them. */
static inline size_t jfr__memo_bucket_of(jfr__frame_bytes frame, unsigned bits)
{
    uint64_t mixed = frame.first ^ frame.more * UINT64_C(0xD6E8FEB86659FD93);
    return (size_t)(mixed * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits));
}

/*
 * Looks up to *left frames up in a table, and moves on as jfr__frames_loop does. Stops at a frame
 * that is not there or is longer, too. For frames of four integers only.
 */
typedef const uint8_t *jfr__values_loop(const jfr__memo_bucket *buckets, unsigned bits,
                                        const uint8_t *p, const uint8_t *stop, uint32_t **out,
                                        uint32_t *left);

/* Reads over up to *count integers. `stop` is as above; returns where it stopped, early at an
 * integer of nine bytes. */
typedef const uint8_t *jfr__skip_loop(const uint8_t *p, const uint8_t *stop, uint64_t *count);

/* The loops; `best` is the fastest that this CPU runs. */
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
