/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_FRAME_H
#define STACKAGG_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include <stackagg/error.h>
#include <stackagg/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of a frame. Interpreted, compiled and inlined Java code is all of the kind SAGG_JAVA.
 */
enum sagg_kind {
    SAGG_JAVA = 0,
    SAGG_NATIVE = 1,
    SAGG_JVM = 2,
    SAGG_KERNEL = 3,
    SAGG_UNKNOWN = 4,
};

/** Normaliser versions (docs/formats/stack-id.md, section 3). */
enum sagg_normaliser {
    SAGG_NORMALISE_NONE = 0, /**< names are cleaned to UTF-8 and not changed otherwise */
    SAGG_NORMALISE_V1 = 1,
};

/** A counted string; `data` may be NULL when `size` is 0. Not NUL-terminated unless a function says
 * so. */
typedef struct sagg_str {
    const char *data;
    size_t size; /**< bytes */
} sagg_str;

/** One frame. Names that a caller passes in may be any bytes; names that the library returns are
 * UTF-8. */
typedef struct sagg_frame {
    sagg_str class_name; /**< Java: binary name with '.' or '/'; else library; may be empty */
    sagg_str method;     /**< bare name or symbol; may be empty */
    sagg_str file;       /**< source file, empty when not known; no part of any identity */
    uint32_t line;       /**< 0 = none */
    uint8_t kind;        /**< enum sagg_kind */
} sagg_frame;

/** 16 bytes in canonical order (as stored and sent). */
typedef struct sagg_stack_id {
    uint8_t bytes[16];
} sagg_stack_id;

/**
 * Computes the id of a stack without an aggregate (docs/formats/stack-id.md).
 *
 * @param out      receives the id
 * @param frames   `count` frames, leaf to root; may be NULL when `count` is 0
 * @param version  enum sagg_normaliser
 * @return 0; SAGG_ERR_USAGE for an unknown version or kind; SAGG_ERR_NOMEM.
 * Reads only its arguments: any thread, any time.
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_stack_id_of(sagg_stack_id *out, const sagg_frame *frames,
                                               size_t count, int version, sagg_error *err);

/**
 * Computes the id of a stack from the ids of its frames (sagg_frame_hash of normalised frames).
 *
 * @param frame_ids  `count` ids, leaf to root; may be NULL when `count` is 0
 * @param version    the normaliser of the frames, enum sagg_normaliser
 * @return 0; SAGG_ERR_USAGE for an unknown version. Allocates nothing. Any thread.
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_stack_id_of_frame_ids(sagg_stack_id *out,
                                                         const uint64_t *frame_ids, size_t count,
                                                         int version, sagg_error *err);

/** Writes the 32 lower-case hex digits of `id` and a NUL into `hex`. Any thread. */
SAGG_EXPORT void sagg_stack_id_hex(char hex[33], const sagg_stack_id *id);

/**
 * Cleans and normalises one frame's names (docs/formats/stack-id.md, sections 2 and 3).
 *
 * @param out      receives the frame; its names are in `*storage`, file is only cleaned
 * @param storage  receives one block holding the names; the caller frees it with free()
 * @return 0; SAGG_ERR_USAGE for an unknown version or kind; SAGG_ERR_NOMEM. Any thread.
 */
SAGG_EXPORT SAGG_MUST_USE int sagg_frame_normalise(sagg_frame *out, char **storage,
                                                   const sagg_frame *in, int version,
                                                   sagg_error *err);

/**
 * Hashes one frame without cleaning or normalising it.
 *
 * @param method_hash  receives XXH3-64 of kind, class and method; may be NULL
 * @param frame_id     receives the method hash with the line mixed in; may be NULL
 * Any thread.
 */
SAGG_EXPORT void sagg_frame_hash(uint64_t *method_hash, uint64_t *frame_id,
                                 const sagg_frame *frame);

/**
 * Gives the pool of a thread: its name with the counting digits folded into '#'.
 * These digits are folded: the last run, each run in parentheses, each run of more than five
 * digits, and hexadecimal after "0x" or '@'. Other digits (ports, pool numbers) stay:
 * "http-nio-8080-exec-12" -> "http-nio-8080-exec-#", "GC Thread#3" -> "GC Thread#".
 *
 * @param pool      receives at most `capacity` bytes of UTF-8 (whole code points), no NUL
 * @return the number of bytes written. `capacity` >= 3 * name.size is always enough. Any thread.
 */
SAGG_EXPORT size_t sagg_pool_name(char *pool, size_t capacity, sagg_str name);

#ifdef __cplusplus
}
#endif

#endif
