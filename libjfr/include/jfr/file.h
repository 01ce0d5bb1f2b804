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

/* An open recording: a row of chunks. One thread at a time may use it and what it hands out. */
typedef struct jfr_file jfr_file;

/* Why a stretch of the recording was not read. */
typedef enum jfr_loss_reason {
    JFR_LOSS_TRUNCATED = 1, /* the bytes end before the chunk does */
    JFR_LOSS_UNFINISHED,    /* the chunk is still being written, or its JVM died */
    JFR_LOSS_BAD_HEADER,    /* no chunk header where one must be */
    JFR_LOSS_BAD_METADATA,  /* the chunk's type descriptions cannot be read */
    JFR_LOSS_BAD_POOLS,     /* a constant pool cannot be read: stacks or threads are missing */
    JFR_LOSS_BAD_EVENTS, /* an event's size is impossible: what follows, up to a checkpoint, is lost
                          */
    JFR_LOSS_LIMIT,      /* a limit of jfr_options was passed */
    JFR_LOSS_BAD_GZIP    /* the gzip input is damaged or cut, or more stands behind its end */
} jfr_loss_reason;

/* One stretch that was lost. */
typedef struct jfr_loss_record {
    jfr_loss_reason reason;
    uint64_t offset; /* first byte that could not be used, from the recording's start */
    uint64_t bytes;  /* how many, up to the end of its chunk or of the recording; of gzip, packed */
    uint64_t chunk;  /* offset of the chunk it lies in; of gzip as offset */
} jfr_loss_record;

/* What was kept and what was lost so far. */
typedef struct jfr_loss {
    uint64_t chunks_whole;   /* finished chunks that were delivered without any loss */
    uint64_t chunks_partial; /* chunks that were delivered with a loss inside */
    uint64_t chunks_lost;    /* chunks that were not delivered */
    uint64_t bytes_lost;     /* sum over all losses, also those without a record */
    size_t record_count;     /* <= 64: the first ones */
    const jfr_loss_record *records;
    /* What the recorder says it lost itself: the file is whole without it, and nothing above counts
     * it. Of the JDK's chunks; async-profiler's say no such thing. */
    uint64_t recorder_samples; /* of jdk.CPUTimeSample: sum of jdk.CPUTimeSamplesLost.lostSamples */
    uint64_t recorder_bytes;   /* of events of any type: sum of jdk.DataLoss.amount */
} jfr_loss;

/*
 * Opens a recording that lies in memory.
 *   out     receives the file; close with jfr_close
 *   data    `len` bytes, borrowed: they must stay, unchanged, until jfr_close
 *   opts    NULL = defaults
 * Looks at the first chunk's header only. Bytes that are gzip are unpacked into memory of the file;
 * where they are damaged what came before is kept, and the rest is told as a loss.
 * Errors: JFR_ERR_FORMAT (not a recording), JFR_ERR_LIMIT (unpacked size), JFR_ERR_USAGE (options),
 * JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_open_mem(jfr_file **out, const void *data, size_t len,
                                         const jfr_options *opts, jfr_error *err);

/*
 * Opens the recording at `path`: maps it read-only, then works as jfr_open_mem. A file that is cut
 * shorter by others while it is open kills the process with SIGBUS: copy live files first, or read
 * them into memory. Errors: as jfr_open_mem, and JFR_ERR_IO.
 */
JFR_EXPORT JFR_MUST_USE int jfr_open_file(jfr_file **out, const char *path, const jfr_options *opts,
                                          jfr_error *err);

/*
 * Goes to the next chunk.
 *   chunk   receives the chunk, borrowed until the next jfr_next_chunk or jfr_close
 * Returns 1 with a chunk, 0 at the end, negative on an error. A chunk that cannot be read is
 * skipped and reported by jfr_file_loss; that is no error here.
 * Errors: JFR_ERR_LIMIT (a limit was passed: that chunk is reported as lost, the next call goes on
 * behind it; after max_chunks the recording ends), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_next_chunk(jfr_file *file, jfr_chunk **chunk, jfr_error *err);

/*
 * What was lost so far; final once jfr_next_chunk returned 0. `out->records` is borrowed until the
 * next call on the file. A chunk counts as whole or partial once the file has moved past it.
 */
JFR_EXPORT void jfr_file_loss(const jfr_file *file, jfr_loss *out);

/* The time that a recording covers, ns since 1970 UTC. */
typedef struct jfr_span {
    int64_t start_ns; /* of the earliest chunk */
    int64_t end_ns;   /* of the latest */
} jfr_span;

/*
 * Says what time the recording covers, wherever jfr_next_chunk stands in it. The headers of
 * finished chunks say so; a chunk that is unfinished, cut or damaged ends with the last event that
 * can be read. Returns 1, or 0 when no chunk can be read. Errors: JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_file_span(const jfr_file *file, jfr_span *out, jfr_error *err);

/* A short name of a reason ("truncated", "bad metadata", ...): a static string. */
JFR_EXPORT const char *jfr_loss_reason_name(jfr_loss_reason reason);

/* Frees the file, its chunk and every string and view it handed out. NULL is allowed. */
JFR_EXPORT void jfr_close(jfr_file *file);

JFR_END_DECLS

#endif
