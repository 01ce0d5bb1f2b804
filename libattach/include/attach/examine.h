/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a JVM can be profiled, found out without asking the JVM or changing anything. */
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
    char library[32];   /* why the library cannot be put there ("noexec"); empty = it can */
    char recording[32]; /* why a recording cannot be put there; empty = it can */
} attach_place_view;

/* The findings. Numbers are -1 where they could not be read. */
typedef struct attach_examination {
    bool listener;         /* the attach socket exists: no signal is needed */
    bool catches_quit;     /* the JVM handles SIGQUIT, the signal that starts a listener */
    bool trigger_possible; /* the file that goes with the signal can be created in /tmp or the
                              working directory */
    bool had_listener;     /* the JVM has a listener thread; with `listener` false, its socket was
                              removed */
    bool jfr_used;         /* the JDK's own recorder has been used in this JVM */
    int seccomp;           /* mode of its filter: 0 none, 2 filtered */
    int perf_event_paranoid;
    size_t n_places;
    attach_place_view places[ATTACH_EXAMINE_PLACES];
} attach_examination;

/*
 * Examines an opened target under the caller's present user, which should be the target's own.
 * Reads procfs and asks file systems; sends no signal, opens no socket, creates nothing. options:
 * installation_id is required, dirs count. Returns 0, ATTACH_ERR_TARGET (process_exited,
 * identity_changed, permission_denied), ATTACH_ERR_USAGE, ATTACH_ERR_IO.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_examine(attach_examination *out, attach_target *target,
                                                 const attach_ap_options *options,
                                                 attach_error *err);

/* Writes the findings as lines "key value", the answer of the worker's operation 20; returns the
 * length. */
ATTACH_EXPORT size_t attach_examination_format(char buf[ATTACH_EXAMINE_TEXT_MAX],
                                               const attach_examination *examination);
/* Reads the lines that attach_examination_format writes; unknown keys are ignored. Returns
 * ATTACH_ERR_FORMAT with the byte refused. */
ATTACH_EXPORT ATTACH_MUST_USE int
attach_examination_parse(attach_examination *out, const char *text, size_t n, attach_error *err);

#ifdef __cplusplus
}
#endif

#endif
