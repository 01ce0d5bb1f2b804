/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_THREAD_H
#define JFR_THREAD_H

#include <jfr/chunk.h>
#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/string.h>
#include <stdbool.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/* A thread of the chunk's constant pool. */
typedef struct jfr_thread {
    int64_t os_tid;   /* 0 = unknown (virtual threads of the JDK's recorder) */
    int64_t java_tid; /* java.lang.Thread.getId(); 0 = not a Java thread */
    jfr_str os_name;
    jfr_str java_name; /* null or empty: not a Java thread, or unnamed */
    jfr_str group;     /* thread group; null when not recorded (async-profiler) */
    bool is_virtual;   /* always false from async-profiler, which records the carrier instead */
} jfr_thread;

/*
 * Decodes thread `index`. Its strings are borrowed until the chunk ends (see jfr_next_chunk).
 * Errors: JFR_ERR_USAGE (index out of range), JFR_ERR_FORMAT (the entry is damaged),
 * JFR_ERR_LIMIT (max_string_bytes, max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_chunk_thread(jfr_chunk *chunk, uint32_t index, jfr_thread *out,
                                             jfr_error *err);

JFR_END_DECLS

#endif
