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

/* The kind of code that a frame runs. */
typedef enum jfr_frame_kind {
    JFR_FRAME_UNKNOWN = 0, /* an unknown frame type, or the unwinder's "[unknown]" and the like */
    JFR_FRAME_JAVA,
    JFR_FRAME_NATIVE, /* native code other than HotSpot's */
    JFR_FRAME_JVM,    /* HotSpot: code of libjvm.so, or C++ of an unnamed library */
    JFR_FRAME_KERNEL
} jfr_frame_kind;

/* How a Java frame was executed. It is no part of the frame's identity. */
typedef enum jfr_frame_tier {
    JFR_TIER_NONE = 0, /* not a Java frame, or not recorded */
    JFR_TIER_INTERPRETED,
    JFR_TIER_JIT, /* compiled; async-profiler: by C2 */
    JFR_TIER_C1,
    JFR_TIER_INLINED,
    JFR_TIER_NATIVE /* the JDK's "Native": a Java method declared native */
} jfr_frame_tier;

/* A method or native function. No recorder writes source files, so there is no field for one. */
typedef struct jfr_method {
    jfr_str class_name; /* binary name with dots ("java.util.Map$Entry", hidden suffixes as
                           recorded); empty for native functions */
    jfr_str name;
    jfr_str descriptor; /* "(I)V"; meaningless for a native function */
} jfr_method;

/* One frame of a stack. */
typedef struct jfr_frame {
    const jfr_method *method; /* never NULL; its strings may be null */
    uint32_t method_index; /* a key for caches: dense, below jfr_chunk_info.method_count; JFR_NONE
                              when the pool does not have the method */
    uint32_t line;         /* 0 = none */
    int32_t bci;           /* bytecode index; 0 or -1 = none */
    uint8_t kind;          /* jfr_frame_kind */
    uint8_t tier;          /* jfr_frame_tier */
} jfr_frame;

/* A stack, leaf first. */
typedef struct jfr_stack {
    const jfr_frame *frames;
    uint32_t frame_count;
    bool truncated; /* the recorder or max_stack_frames cut it: its root is missing */
} jfr_stack;

/* The class of an allocated object or of a lock. */
typedef struct jfr_class {
    jfr_str name; /* "java.lang.String"; arrays as in Java source: "byte[]", "java.lang.String[]" */
} jfr_class;

/*
 * Decodes stack `index`.
 *   out   its frames are borrowed until the next jfr_chunk_stack on this chunk; their methods and
 *         strings are borrowed until the chunk ends (see jfr_next_chunk)
 * Errors: JFR_ERR_USAGE (index out of range), JFR_ERR_FORMAT (the entry is damaged),
 * JFR_ERR_LIMIT (max_string_bytes, max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_stack(jfr_chunk *chunk, uint32_t index, jfr_stack *out,
                                            jfr_error *err);

/* A frame as numbers: for callers that keep their own name or number for each method. */
typedef struct jfr_frame_ref {
    uint32_t method; /* as jfr_frame.method_index */
    uint32_t line;
    uint8_t kind; /* jfr_frame_kind; only jfr_chunk_frame distinguishes JFR_FRAME_NATIVE from
                     JFR_FRAME_JVM */
    uint8_t tier; /* jfr_frame_tier */
    uint16_t reserved;
} jfr_frame_ref;

/* The length of a stack. */
typedef struct jfr_stack_ref {
    uint32_t frame_count; /* at most max_stack_frames */
    bool truncated;       /* as jfr_stack.truncated */
} jfr_stack_ref;

/*
 * Decodes stack `index` into numbers, many times faster than jfr_chunk_stack.
 *   frames  receives its first frames, at most `room`. A longer stack is no error: see
 *           out->frame_count
 * Any number of threads may call this function for one chunk at the same time. Meanwhile one other
 * thread may read names (jfr_chunk_frame, jfr_chunk_thread, jfr_chunk_class); no thread may call
 * any other function on the file.
 * Errors: JFR_ERR_USAGE (index out of range), JFR_ERR_FORMAT (the entry is damaged).
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_stack_refs(const jfr_chunk *chunk, uint32_t index,
                                                 jfr_frame_ref *frames, uint32_t room,
                                                 jfr_stack_ref *out, jfr_error *err);

/*
 * Reads many stacks of a chunk as numbers that the caller assigns to their frames. Most frames are
 * in many stacks, so this is many times faster than jfr_chunk_stack_refs. One thread at a time may
 * use it. Several threads may each have one for the same chunk, by the rules of
 * jfr_chunk_stack_refs.
 */
typedef struct jfr_stacks jfr_stacks;

/*
 * Assigns a number to a frame. The library calls it once for most distinct frames of the chunk, and
 * again for some frames of a chunk that has very many. Return 0, or another value to abandon the
 * stack that is being read.
 */
typedef int jfr_number_frame(void *ctx, const jfr_frame_ref *frame, uint32_t *number);

/*
 * Begins to read stacks of a chunk. It takes at most 6 MiB from the file's allocator.
 *   out      receives the reader; close with jfr_stacks_close, before the chunk ends
 *   number   assigns numbers to frames; `ctx` is passed on to it
 * Errors: JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_stacks_open(jfr_stacks **out, const jfr_chunk *chunk,
                                            jfr_number_frame *number, void *ctx, jfr_error *err);

/*
 * Does what jfr_chunk_stack_refs does, with the number of each frame in place of the frame. Returns
 * 1 when `number` abandoned the stack.
 */
JFR_EXPORT JFR_MUST_USE int jfr_stacks_read(jfr_stacks *stacks, uint32_t index, uint32_t *numbers,
                                            uint32_t room, jfr_stack_ref *out, jfr_error *err);

/* Frees the reader. NULL is allowed. */
JFR_EXPORT void jfr_stacks_close(jfr_stacks *stacks);

/*
 * Decodes the frame of a reference with its method's names. Unlike a frame of jfr_chunk_stack, its
 * bci is 0 and its method's descriptor is null.
 *   out   its method is borrowed until the next jfr_chunk_frame on this chunk, the method's strings
 *         until the chunk ends
 * Errors: as jfr_chunk_stack.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_frame(jfr_chunk *chunk, const jfr_frame_ref *ref,
                                            jfr_frame *out, jfr_error *err);

/* Decodes class `index`. Its strings are borrowed until the chunk ends. Errors: as above. */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_class(jfr_chunk *chunk, uint32_t index, jfr_class *out,
                                            jfr_error *err);

JFR_END_DECLS

#endif
