/* SPDX-License-Identifier: Apache-2.0 */
/* What would happen if we profiled a JVM, found out without asking it or changing anything. */
#ifndef ATTACH_EXAMINE_H
#define ATTACH_EXAMINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <attach/profiler.h>
#include <attach/target.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTACH_EXAMINE_PLACES   24
#define ATTACH_EXAMINE_TEXT_MAX ((size_t)8 << 10)

/* A directory of the target in which a session's files could be made, best first. */
typedef struct attach_place_view {
    char path[160];
    char library[32];   /* why it does not take the library ("noexec"); empty = it does */
    char recording[32]; /* why it does not take a recording; empty = it does */
} attach_place_view;

/* Numbers are -1 where they could not be read. */
typedef struct attach_examination {
    bool listener;         /* the attach socket exists: no signal is needed */
    bool catches_quit;     /* the JVM handles SIGQUIT, with which a listener is started */
    bool trigger_possible; /* /tmp or the working directory takes the file that goes with it */
    bool had_listener; /* its listener thread exists; with `listener` false the socket is gone */
    bool jfr_used;     /* the JDK's own recorder has been used in this JVM */
    int seccomp;       /* mode of its filter: 0 none, 2 filtered */
    int perf_event_paranoid;
    size_t n_places;
    attach_place_view places[ATTACH_EXAMINE_PLACES];
} attach_examination;

/*
 * Looks at an opened target, as the user that the process is now (its own user's view counts).
 * Reads procfs and asks file systems; sends no signal, opens no socket, creates nothing. options:
 * installation_id is required, dirs count. Returns 0, ATTACH_ERR_TARGET (process_exited,
 * identity_changed, permission_denied), ATTACH_ERR_USAGE, ATTACH_ERR_IO.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_examine(attach_examination *out, attach_target *target,
                                                 const attach_ap_options *options,
                                                 attach_error *err);

/* As lines "key value", the answer of the worker's operation 20; returns the length. */
ATTACH_EXPORT size_t attach_examination_format(char buf[ATTACH_EXAMINE_TEXT_MAX],
                                               const attach_examination *examination);
/* Reads them; ATTACH_ERR_FORMAT with the byte refused. Unknown keys are passed over. */
ATTACH_EXPORT ATTACH_MUST_USE int
attach_examination_parse(attach_examination *out, const char *text, size_t n, attach_error *err);

#ifdef __cplusplus
}
#endif

#endif
