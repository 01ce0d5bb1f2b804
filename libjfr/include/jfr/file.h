/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_FILE_H
#define JFR_FILE_H

#include <jfr/chunk.h>
#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/options.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/* An open recording: a sequence of chunks. One thread at a time may use it and what it returns. */
typedef struct jfr_file jfr_file;

/* Why a stretch of the recording was not read. */
typedef enum jfr_loss_reason {
    JFR_LOSS_TRUNCATED = 1, /* the bytes end before the chunk does */
    JFR_LOSS_UNFINISHED,    /* the chunk is still being written, or its JVM died */
    JFR_LOSS_BAD_HEADER,    /* no chunk header where one must be */
    JFR_LOSS_BAD_METADATA,  /* the chunk's type descriptions cannot be read */
    JFR_LOSS_BAD_POOLS,     /* a constant pool cannot be read: stacks or threads are missing */
    JFR_LOSS_BAD_EVENTS,    /* an event's size is impossible: the events from there up to the next
                               checkpoint are lost */
    JFR_LOSS_LIMIT,         /* a limit of jfr_options was passed */
    JFR_LOSS_BAD_GZIP       /* the gzip input is damaged or cut, or bytes follow its end */
} jfr_loss_reason;

/* One stretch that was lost. */
typedef struct jfr_loss_record {
    jfr_loss_reason reason;
    uint64_t offset; /* first byte that could not be used, from the recording's start */
    uint64_t bytes;  /* lost bytes, up to the end of the chunk or recording; gzip: packed bytes */
    uint64_t chunk;  /* offset of the chunk with the loss; gzip: same as `offset` */
} jfr_loss_record;

/* The chunks delivered and the bytes lost so far. */
typedef struct jfr_loss {
    uint64_t chunks_whole;   /* finished chunks that were delivered without any loss */
    uint64_t chunks_partial; /* chunks that were delivered with a loss inside */
    uint64_t chunks_lost;    /* chunks that were not delivered */
    uint64_t bytes_lost;     /* sum over all losses, including those without a record */
    size_t record_count;     /* at most 64: the first losses */
    const jfr_loss_record *records;
    /* Losses that the JDK's recorder itself reports. They are no damage of the file, and the counts
     * above do not include them. async-profiler reports none. */
    uint64_t recorder_samples; /* lost jdk.CPUTimeSample: sum of CPUTimeSamplesLost.lostSamples */
    uint64_t recorder_bytes;   /* lost events of any type: sum of jdk.DataLoss.amount */
} jfr_loss;

/*
 * Opens a recording in memory.
 *   out     receives the file; close with jfr_close
 *   data    `len` bytes, borrowed: they must not change or be freed before jfr_close
 *   opts    NULL = defaults
 * Reads the first chunk's header only. A gzip input is unpacked into memory that the file owns. If
 * it is damaged, the bytes before the damage are kept and the rest is reported as a loss.
 * Errors: JFR_ERR_FORMAT (not a recording), JFR_ERR_LIMIT (unpacked size), JFR_ERR_USAGE (options),
 * JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_open_mem(jfr_file **out, const void *data, size_t len,
                                         const jfr_options *opts, jfr_error *err);

/*
 * Maps the file at `path` read-only, then does what jfr_open_mem does. If another process truncates
 * the file while it is open, SIGBUS kills this process: copy live files first, or read them into
 * memory. Errors: as jfr_open_mem, and JFR_ERR_IO.
 */
JFR_EXPORT JFR_MUST_USE int jfr_open_file(jfr_file **out, const char *path, const jfr_options *opts,
                                          jfr_error *err);

/*
 * Goes to the next chunk.
 *   chunk   receives the chunk, borrowed until the next jfr_next_chunk or jfr_close
 * Returns 1 with a chunk, 0 at the end, negative on an error. A chunk that cannot be read is
 * skipped and reported by jfr_file_loss; that is no error here.
 * Errors: JFR_ERR_LIMIT (a limit was passed: the chunk is reported as lost and the next call
 * continues after it; after max_chunks the recording ends), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_next_chunk(jfr_file *file, jfr_chunk **chunk, jfr_error *err);

/*
 * Fills `out` with what was lost so far. The numbers are final once jfr_next_chunk returned 0.
 * `out->records` is borrowed until the next call on the file. A chunk counts as whole or partial
 * once the file has moved past it.
 */
JFR_EXPORT void jfr_file_loss(const jfr_file *file, jfr_loss *out);

/* The time that a recording covers, ns since 1970 UTC. */
typedef struct jfr_span {
    int64_t start_ns; /* start of the earliest chunk */
    int64_t end_ns;   /* end of the latest chunk */
} jfr_span;

/*
 * Fills `out` with the time that the whole recording covers, independent of the current chunk. The
 * header of a finished chunk states its time; a chunk that is unfinished, cut or damaged ends with
 * its last readable event. Returns 1, or 0 when no chunk can be read. Errors: JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_file_span(const jfr_file *file, jfr_span *out, jfr_error *err);

/* Returns a short name of a reason ("truncated", "bad metadata", ...): a static string. */
JFR_EXPORT const char *jfr_loss_reason_name(jfr_loss_reason reason);

/* Frees the file, its chunk and every string and view it returned. NULL is allowed. */
JFR_EXPORT void jfr_close(jfr_file *file);

JFR_END_DECLS

#endif
