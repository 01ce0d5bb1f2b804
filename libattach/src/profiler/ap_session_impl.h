/* SPDX-License-Identifier: Apache-2.0 */
/* The state of Hotstack's session in one JVM during one call. */
#ifndef ATTACH_AP_SESSION_H
#define ATTACH_AP_SESSION_H

#include "profiler/ap_place_impl.h"

typedef struct attach__session {
    attach_target *target;
    const attach_ap_options *options;
    uint64_t deadline_ns;
    attach__map_facts maps;
    char library[ATTACH__PATH_MAX]; /* the path to load, as the JVM sees it; empty = not chosen */
    bool borrowed;                  /* another program loaded this async-profiler */
    int start_lock;                 /* -1 = not held */
    char name[ATTACH__PLACE_NAME_MAX]; /* of the private directory */
    attach__place place;
    attach__marker marker;
    bool has_marker;
    bool running;     /* valid after attach__session_ask */
    char words[128];  /* why the profiler last refused a command; empty = it wrote no reason */
    uint64_t dropped; /* set by attach__session_count_dropped */
} attach__session;

/*
 * Checks the options and the target, reads its maps, and finds the directory of a library that was
 * mapped earlier or the directory whose marker names this process. Changes nothing. Close with
 * attach__session_close, also after a failure.
 */
int attach__session_open(attach__session *s, attach_target *target,
                         const attach_ap_options *options, uint64_t deadline_ns, attach_error *err);
void attach__session_close(attach__session *s);

/*
 * Keeps other calls from starting a first session in the same JVM at the same time, which would map
 * two copies of the library, and then reads the JVM's state again. It waits at most some seconds,
 * so that a process that never releases the lock does not block others.
 */
int attach__session_lock_start(attach__session *s, attach_error *err);

/* Returns whether a session can exist: a usable library is mapped, or a directory has a marker. */
bool attach__session_is_known(const attach__session *s);
/* Returns whether the marker describes a session with the JDK's own recorder. */
bool attach__session_is_jfr(const attach__session *s);
/* Returns whether the session belongs to another installation, by its marker or its directory's
 * name. */
bool attach__session_is_foreign(const attach__session *s);

/* Makes sure that the directory exists, takes its lock and reads the marker. */
int attach__session_hold(attach__session *s, attach_error *err);

/* Asks the profiler whether it runs. The session must be held. */
int attach__session_ask(attach__session *s, attach_error *err);

/* Reads the profiler's answer to a question ("status", "version"); free(out->p). */
int attach__session_question(attach__blob *out, attach__session *s, const char *what,
                             attach_error *err);

/* Asks the profiler how many events it has dropped, and stores how many of them are new:
 * s->dropped, marker.skipped. Without an answer the number is 0. */
void attach__session_count_dropped(attach__session *s);

/*
 * Returns the number of dropped events in the profiler's answer to "metrics"; 0 when it has none.
 */
uint64_t attach__skipped_samples(attach__span metrics);

/* Calls attach__session_hold, then attach__session_ask. */
int attach__session_probe(attach__session *s, attach_error *err);

/* Creates the private directory, under a new name where it has none, and takes its lock. */
int attach__session_make_place(attach__session *s, bool needs_exec, attach_error *err);

/* Closes a directory that the new session will not use. */
void attach__session_leave_place(attach__session *s);

/* Creates the directory of a first session and puts the library into it. */
int attach__session_install(attach__session *s, attach_error *err);

/* Runs one profiler command with the log file of the session; profiler_error quotes the log. */
int attach__session_run(attach__session *s, const char *command, attach_error *err);

/* Checks that the library is async-profiler 4 or later. */
int attach__session_check_version(attach__session *s, attach_error *err);

/* Returns the error for an errno of a write to the private directory. */
int attach__session_write_error(const attach__session *s, int error, attach_error *err);

/* Stores the marker. Errors: disk_full, ATTACH_ERR_IO. */
int attach__session_save(attach__session *s, attach_error *err);

/* Removes the session's files. On musl the library of a living JVM stays: see
 * docs/formats/attach.md. */
void attach__session_remove(attach__session *s);

/* Fills *out from the session, with the given state. */
void attach__session_info(attach_ap_info *out, const attach__session *s, attach_ap_state state);

#endif
