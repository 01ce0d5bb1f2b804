/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_STACK_H
#define JFR_STACK_H

#include <jfr/chunk.h>
#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/string.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/* What a frame is. */
typedef enum jfr_frame_kind {
    JFR_FRAME_UNKNOWN = 0, /* a frame type we do not know, or the unwinder's "[unknown]" and kin */
    JFR_FRAME_JAVA,
    JFR_FRAME_NATIVE, /* native code but HotSpot's own */
    JFR_FRAME_JVM,    /* HotSpot: of libjvm.so, or C++ of an unnamed library */
    JFR_FRAME_KERNEL
} jfr_frame_kind;

/* How a Java frame ran. A counter beside the frame, not part of its identity. */
typedef enum jfr_frame_tier {
    JFR_TIER_NONE = 0, /* not a Java frame, or not told */
    JFR_TIER_INTERPRETED,
    JFR_TIER_JIT, /* compiled; async-profiler: by C2 */
    JFR_TIER_C1,
    JFR_TIER_INLINED,
    JFR_TIER_NATIVE /* the JDK's "Native": a Java method declared native */
} jfr_frame_tier;

/*
 * A method or native function. Neither JDK nor async-profiler records source files, so there is
 * none here.
 */
typedef struct jfr_method {
    jfr_str class_name; /* binary name with dots ("java.util.Map$Entry", hidden suffixes as
                           recorded); empty for native functions */
    jfr_str name;
    jfr_str descriptor; /* "(I)V"; of native functions meaningless */
} jfr_method;

/* One frame of a stack. */
typedef struct jfr_frame {
    const jfr_method *method; /* never NULL; its strings may be null */
    uint32_t method_index;    /* dense, < jfr_chunk_info.method_count; JFR_NONE when the pool has no
                                 such    method: a key for caches */
    uint32_t line;            /* 0 = none */
    int32_t bci;              /* bytecode index; 0 or -1 = none */
    uint8_t kind;             /* jfr_frame_kind */
    uint8_t tier;             /* jfr_frame_tier */
} jfr_frame;

/* A stack, leaf first. */
typedef struct jfr_stack {
    const jfr_frame *frames;
    uint32_t frame_count;
    bool truncated; /* its root is missing: cut by the recorder or by max_stack_frames */
} jfr_stack;

/* A class: of an allocated object, of a lock. */
typedef struct jfr_class {
    jfr_str name; /* "java.lang.String"; arrays as in Java source: "byte[]", "java.lang.String[]" */
} jfr_class;

/*
 * Decodes stack `index`.
 *   out   frames: borrowed until the next jfr_chunk_stack on this chunk; the methods they point to
 *         and their strings: until the chunk ends (see jfr_next_chunk)
 * Errors: JFR_ERR_USAGE (index out of range), JFR_ERR_FORMAT (the entry is damaged),
 * JFR_ERR_LIMIT (max_string_bytes, max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_stack(jfr_chunk *chunk, uint32_t index, jfr_stack *out,
                                            jfr_error *err);

/* A frame as numbers: what a caller needs that keeps what it made of each method. */
typedef struct jfr_frame_ref {
    uint32_t method; /* as jfr_frame.method_index */
    uint32_t line;
    uint8_t kind; /* jfr_frame_kind, but JFR_FRAME_NATIVE and _JVM are told apart by
                     jfr_chunk_frame only */
    uint8_t tier; /* jfr_frame_tier */
    uint16_t reserved;
} jfr_frame_ref;

/* How long a stack is. */
typedef struct jfr_stack_ref {
    uint32_t frame_count; /* at most max_stack_frames */
    bool truncated;       /* as jfr_stack.truncated */
} jfr_stack_ref;

/*
 * Decodes stack `index` into numbers, many times faster than jfr_chunk_stack.
 *   frames  receives its first frames, `room` at most; more is no error: see out->frame_count
 * Any number of threads may call it for one chunk. What else they do with the file, one at a time
 * does: names (jfr_chunk_frame, jfr_chunk_thread, jfr_chunk_class) meanwhile, the rest not.
 * Errors: JFR_ERR_USAGE (index out of range), JFR_ERR_FORMAT (the entry is damaged).
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_stack_refs(const jfr_chunk *chunk, uint32_t index,
                                                 jfr_frame_ref *frames, uint32_t room,
                                                 jfr_stack_ref *out, jfr_error *err);

/*
 * Reads many stacks of a chunk as numbers that the caller gives to their frames: many times faster
 * than jfr_chunk_stack_refs, as most frames are in many stacks. For one thread at a time; each
 * thread may have its own for one chunk, under the rules of jfr_chunk_stack_refs.
 */
typedef struct jfr_stacks jfr_stacks;

/*
 * Gives a frame its number. It is called for most distinct frames of the chunk once; where a chunk
 * has very many, some are asked for again. Return 0, or another value to give up the stack that is
 * being read.
 */
typedef int jfr_number_frame(void *ctx, const jfr_frame_ref *frame, uint32_t *number);

/*
 * Begins to read stacks of a chunk. Its memory, 6 MiB at most, is the file's allocator's.
 *   out   close with jfr_stacks_close, before the chunk ends
 * Errors: JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_stacks_open(jfr_stacks **out, const jfr_chunk *chunk,
                                            jfr_number_frame *number, void *ctx, jfr_error *err);

/*
 * As jfr_chunk_stack_refs, with the number of each frame in the place of the frame. Returns 1 where
 * `number` gave up.
 */
JFR_EXPORT JFR_MUST_USE int jfr_stacks_read(jfr_stacks *stacks, uint32_t index, uint32_t *numbers,
                                            uint32_t room, jfr_stack_ref *out, jfr_error *err);

/* Frees the reader. NULL is allowed. */
JFR_EXPORT void jfr_stacks_close(jfr_stacks *stacks);

/*
 * The frame that a reference stands for, with its method's names, as jfr_chunk_stack gives it but
 * for its bci, which is 0, and its method's descriptor, which is null.
 *   out   method: borrowed until the next jfr_chunk_frame on this chunk, as it is not kept; its
 *         strings: until the chunk ends
 * Errors: as jfr_chunk_stack.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_frame(jfr_chunk *chunk, const jfr_frame_ref *ref,
                                            jfr_frame *out, jfr_error *err);

/* Decodes class `index` of a sample. Strings: borrowed until the chunk ends. Errors: as above. */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_class(jfr_chunk *chunk, uint32_t index, jfr_class *out,
                                            jfr_error *err);

JFR_END_DECLS

#endif
