/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_STACK_H
#define JFR_STACK_H

#include <jfr/chunk.h>
#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/options.h>
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
    uint32_t method_index;    /* dense, < jfr_chunk_method_count; JFR_NONE when the pool has no such
                                 method: a key for caches */
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

/* How many distinct stacks, methods, classes the chunk's pools hold; indices run below it. */
JFR_EXPORT uint32_t jfr_chunk_stack_count(const jfr_chunk *chunk);
JFR_EXPORT uint32_t jfr_chunk_method_count(const jfr_chunk *chunk);
JFR_EXPORT uint32_t jfr_chunk_class_count(const jfr_chunk *chunk);

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
 * What a caller made of the frames of a chunk, by their bytes: it is asked for most of a chunk's
 * distinct frames once, however many stacks they stand in. Its memory is bounded (6 MiB at most):
 * where a chunk has too many frames, the caller is asked for some again. Clear it
 * (jfr_frame_memo_clear) before the next chunk. For one thread at a time.
 */
typedef struct jfr_frame_memo jfr_frame_memo;

/* Options of jfr_frame_memo_new; start from JFR_FRAME_MEMO_OPTIONS_INIT. */
typedef struct jfr_frame_memo_options {
    size_t size; /* sizeof(jfr_frame_memo_options); an unknown tail must be zero */
    /* Gives the value of a frame; must be set. Not 0: the stack that is being read is given up. */
    int (*learn)(void *ctx, const jfr_frame_ref *frame, uint32_t *value);
    void *ctx;
    const jfr_allocator *allocator; /* NULL = malloc; copied */
} jfr_frame_memo_options;

#ifdef __cplusplus
#define JFR_FRAME_MEMO_OPTIONS_INIT                                                                \
    [] {                                                                                           \
        jfr_frame_memo_options init_ = jfr_frame_memo_options();                                   \
        init_.size = sizeof(jfr_frame_memo_options);                                               \
        return init_;                                                                              \
    }()
#else
#define JFR_FRAME_MEMO_OPTIONS_INIT                                                                \
    {                                                                                              \
        .size = sizeof(jfr_frame_memo_options)                                                     \
    }
#endif

/* Makes an empty memo; free it with jfr_frame_memo_free. Errors: JFR_ERR_USAGE, JFR_ERR_NOMEM. */
JFR_EXPORT JFR_MUST_USE int
jfr_frame_memo_new(jfr_frame_memo **out, const jfr_frame_memo_options *options, jfr_error *err);
/* Forgets all values. */
JFR_EXPORT void jfr_frame_memo_clear(jfr_frame_memo *memo);
/* NULL is allowed. */
JFR_EXPORT void jfr_frame_memo_free(jfr_frame_memo *memo);

/*
 * As jfr_chunk_stack_refs, but with the value of each frame in the place of the frame: that is
 * many times faster still. Returns 1 where `learn` gave up.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_stack_values(const jfr_chunk *chunk, uint32_t index,
                                                   jfr_frame_memo *memo, uint32_t *values,
                                                   uint32_t room, jfr_stack_ref *out,
                                                   jfr_error *err);

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
