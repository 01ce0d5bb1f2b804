/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chsink/embedded.h: ClickHouse's engine inside this process (chDB), loaded at run time from
 * libchdb.so.
 *
 * The engine starts threads, so the process must not fork after the first open. A process has one
 * directory, until the last transport of it is closed, and a directory belongs to one process at a
 * time. The engine cannot run under AddressSanitizer or ThreadSanitizer.
 */
#ifndef CHSINK_EMBEDDED_H
#define CHSINK_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

#include <chsink/error.h>
#include <chsink/export.h>
#include <chsink/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All strings are copied. */
typedef struct chs_embedded_options {
    size_t size;         /* sizeof(chs_embedded_options); an unknown tail must be zero */
    const char *library; /* path of libchdb.so; NULL: HOTSTACK_LIBCHDB, else the install directory,
                            else the loader's own search */
    const char *path; /* data directory, made if absent; required; the same for every transport of
                         the process */
    const char *database; /* default "default"; must exist when a call needs it */
    int readonly;         /* 1: only SELECT and the like, and no setting can be changed by SQL */
    uint64_t max_server_memory_usage; /* bytes, for the engine of the whole process; 0: its own
                                         rule. Only the first open of the process counts */
    uint32_t timeout_ms;              /* of a whole call; default 30,000 */
    uint64_t max_answer_bytes;        /* default 1 GiB */
    uint64_t max_block_bytes;         /* decoded memory of one block; default 256 MiB */
    const chs_setting *settings;      /* for every call */
    size_t setting_count;
} chs_embedded_options;

#define CHS_EMBEDDED_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(chs_embedded_options), NULL, NULL, NULL, 0, 0, 30000, 1u << 30, 256u << 20, NULL, 0 \
    }

/*
 * Loads the library once per process, starts the engine on path (or joins it) and opens a
 * transport. An engine that was killed may have recorded deduplication tokens of blocks that it did
 * not store; these tokens are removed first, so that a retry stores the blocks. The engine installs
 * no signal handlers and leaves the calling thread's signal mask unchanged. Several threads may
 * open transports at the same time. Errors: CHS_ERR_UNAVAILABLE (no libchdb.so: the message says
 * where it was searched and what to set to use a ClickHouse server instead; or it is too old; or
 * the directory is in use, or its logs of tokens cannot be read or written after a kill, or this
 * process has another directory open), CHS_ERR_USAGE, CHS_ERR_NO_MEMORY. Close with
 * chs_transport_close.
 */
CHS_EXPORT CHS_MUST_USE int chs_embedded_open(chs_transport **out,
                                              const chs_embedded_options *options, chs_error *err);

/* Returns the engine's version ("26.7.3"), NULL before the first successful open. Static. */
CHS_EXPORT const char *chs_embedded_version(void);

#ifdef __cplusplus
}
#endif

#endif
