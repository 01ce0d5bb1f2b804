/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Adds profiles of other tools to a recording: pprof's protobuf (gzip or not) and collapsed stacks.
 *
 * Inputs may be hostile: every length, number and reference is checked, memory is bounded by
 * the limits below and the recording's caps. Nothing is printed. A recording may be used by one
 * thread at a time.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <recording/recording.h>

enum import_kind {
    IMPORT_JFR,       /**< also anything else, which libjfr then refuses */
    IMPORT_PPROF,     /**< protobuf, gzip or not */
    IMPORT_COLLAPSED, /**< "root;...;leaf value" lines */
    IMPORT_DOCUMENT,  /**< text that begins like JSON, HTML or XML, which cannot be read */
    IMPORT_TEXT, /**< other text, whose first line does not end with a number; it cannot be read
                    either */
};

/** How many of an input's first bytes import_kind_of needs. */
#define IMPORT_SNIFF 4096u
/** Frames of one stack; a deeper one is RECORDING_E_LIMIT. */
#define IMPORT_MAX_FRAMES 65536u

/**
 * Recognises an input by its first `size` bytes (IMPORT_SNIFF, or all if there are fewer). It looks
 * into gzip. JFR has a magic number; text without control characters is collapsed stacks if its
 * first line ends with a number; the rest is pprof.
 */
enum import_kind import_kind_of(const void *data, size_t size);

/** Options; start from IMPORT_OPTIONS_INIT, 0 = default. */
typedef struct import_options {
    size_t size; /**< sizeof(import_options) */
    enum profile_type
        type; /**< of the values of collapsed stacks, in its unit; only they need it */
    uint64_t max_unpacked_bytes; /**< of a gzip input; default 1 GiB */
    uint64_t max_memory;         /**< of an unpacked pprof message; default 64 bytes for each
                                      byte, at most 4 GiB */
} import_options;

#define IMPORT_OPTIONS_INIT                                                                        \
    {                                                                                              \
        .size = sizeof(import_options)                                                             \
    }

/** The types that were left out on purpose. */
typedef struct import_report {
    char left_out[256]; /**< names of sample types without a profile type: "a, b"; or "" */
} import_report;

/**
 * Adds a pprof profile. Sample types become profile types by their names (docs/formats/inputs.md);
 * a type "samples" becomes the count of samples; others are left out and named in the report.
 * @param report  may be NULL
 * @return 0; RECORDING_E_FORMAT (no gzip, no profile, a reference to what is not there, a negative
 *         value, no type that is known); RECORDING_E_LIMIT (the limits above); RECORDING_E_USAGE;
 *         RECORDING_E_NOMEM. What was added before the fault stays in the recording
 */
int import_pprof(recording *rec, const void *data, size_t bytes, const import_options *options,
                 import_report *report, recording_error *err);

/**
 * Adds collapsed stacks, one per line: frames from root to leaf joined by ';', a blank, a whole
 * number. Empty lines are skipped. A first frame "[name tid=7]" or "[tid=7]" before other frames is
 * a thread.
 * @return 0; RECORDING_E_FORMAT (with the line's offset); RECORDING_E_LIMIT; RECORDING_E_USAGE;
 *         RECORDING_E_NOMEM. What was added before the fault stays in the recording
 */
int import_collapsed(recording *rec, const void *data, size_t bytes, const import_options *options,
                     recording_error *err);

/**
 * Reads a frame that other tools write as one name: "com.acme.Cart.total", "java/util/Map.get",
 * "memcpy", "os::sleep", with "_[k]" and the other marks of async-profiler's or without, in Java
 * with ":line" or without. Everything points into `text`.
 */
void import_frame(sagg_frame *out, sagg_str text);

#endif
