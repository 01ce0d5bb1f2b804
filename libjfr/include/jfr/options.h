/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_OPTIONS_H
#define JFR_OPTIONS_H

#include <jfr/settings.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a jfr_file takes its memory from. Either all three functions are set, or none (malloc is
 * used then). The library calls them on the thread that calls it and on the threads of a
 * jfr_parallel_for. When one returns NULL, the call fails with JFR_ERR_NOMEM. An allocator that
 * jfr_sums or jfr_stacks use on several threads must be safe to call from them at the same time.
 */
typedef struct jfr_allocator {
    void *(*alloc)(void *ctx, size_t size);
    void *(*realloc)(void *ctx, void *ptr, size_t old_size, size_t new_size);
    void (*free)(void *ctx, void *ptr);
    void *ctx;
} jfr_allocator;

/* Flags of jfr_options.flags. */
enum jfr_flags {
    /*
     * Also deliver an unfinished chunk: one that its JVM still writes, or that the end of the file
     * cuts. Without this flag the library only reports it as a loss, so that a reader that follows
     * a live recording never counts a chunk twice.
     */
    JFR_WALK_UNFINISHED = 1u << 0,
    /* Also yield waits that are no contention: idle parks and Object.wait (see jfr/sample.h). */
    JFR_KEEP_IDLE_WAITS = 1u << 1,
    /* Also yield jdk.NativeMethodSample as cpu samples (see jfr/sample.h). */
    JFR_KEEP_NATIVE_SAMPLES = 1u << 2
};

/*
 * Options of jfr_open_mem and jfr_open_file. Start from JFR_OPTIONS_INIT. 0 in a field selects its
 * default, which the field's comment ends with; NULL instead of the struct selects all defaults. A
 * call that passes a limit fails with JFR_ERR_LIMIT and a message that names the limit's field.
 */
typedef struct jfr_options {
    size_t size;         /* sizeof(jfr_options); bytes beyond the fields known here must be 0 */
    uint32_t flags;      /* bits of enum jfr_flags */
    uint32_t max_chunks; /* chunks in a file; 1,000,000 */
    uint32_t max_metadata_depth; /* nesting of elements and of struct fields; 32 */
    uint32_t
        max_metadata_elements;   /* elements, attributes and strings each, per chunk; 1,000,000 */
    uint32_t max_stack_frames;   /* frames delivered of one stack; 4,096. A longer stack is no
                                    error: it is cut at its root and marked truncated */
    uint32_t reserved;           /* 0 */
    uint64_t max_pool_entries;   /* constant pool entries per chunk, all pools; 64 Mi */
    uint64_t max_string_bytes;   /* one string; 16 MiB */
    uint64_t max_unpacked_bytes; /* a gzip file after unpacking; 4 GiB */
    uint64_t max_decoded_bytes;  /* type descriptions, names and converted strings that a chunk
                                    keeps; 1 GiB */
    const jfr_allocator *allocator; /* NULL = malloc; copied */
    /*
     * The intervals that applied before these bytes; NULL = not known. async-profiler writes its
     * settings into the first chunk of a file only, so a reader that opens a later part of a file
     * passes the intervals that jfr_chunk_intervals gave for the chunk before it. Copied.
     */
    const jfr_intervals *inherit;
} jfr_options;

#ifdef __cplusplus
#define JFR_OPTIONS_INIT                                                                           \
    [] {                                                                                           \
        jfr_options init_ = jfr_options();                                                         \
        init_.size = sizeof(jfr_options);                                                          \
        return init_;                                                                              \
    }()
#else
#define JFR_OPTIONS_INIT                                                                           \
    {                                                                                              \
        .size = sizeof(jfr_options)                                                                \
    }
#endif

#endif
