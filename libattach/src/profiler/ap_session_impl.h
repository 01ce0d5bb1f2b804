/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of our session in one JVM while one call works on it. */
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
    char name[ATTACH__PLACE_NAME_MAX]; /* of our directory */
    attach__place place;
    attach__marker marker;
    bool has_marker;
    bool running;     /* valid after attach__session_ask */
    char words[128];  /* why the profiler last refused a command; empty = it wrote no reason */
    uint64_t dropped; /* by attach__session_count_dropped */
} attach__session;

/* Checks the options and the target, reads its maps, finds the directory that goes with a library
 * mapped earlier, or that is marked as this process's. Nothing is changed. Close with
 * attach__session_close, also after a failure. */
int attach__session_open(attach__session *s, attach_target *target,
                         const attach_ap_options *options, uint64_t deadline_ns, attach_error *err);
void attach__session_close(attach__session *s);

/*
 * Keeps others from beginning a first session in the same JVM at the same time, which would map two
 * copies of the library, and looks at the JVM again once that is sure. The wait is some seconds
 * long, so that a process which keeps the lock does not block others.
 */
int attach__session_lock_start(attach__session *s, attach_error *err);

/* Whether there can be a session: a library that answers us is mapped, or a directory is marked. */
bool attach__session_is_known(const attach__session *s);
/* Whether what the marker describes runs with the JDK's own recorder. */
bool attach__session_is_jfr(const attach__session *s);
/* Whether the session that the marker describes is another installation's. */
bool attach__session_is_foreign(const attach__session *s);

/* Makes sure that the directory exists, takes its lock and reads the marker. */
int attach__session_hold(attach__session *s, attach_error *err);

/* Asks the profiler whether it runs. The session must be held. */
int attach__session_ask(attach__session *s, attach_error *err);

/* What a question ("status", "version") is answered with; free(out->p). */
int attach__session_question(attach__blob *out, attach__session *s, const char *what,
                             attach_error *err);

/*
 * Asks the profiler how many events it has dropped, and notes how many of them are new: s->dropped,
 * marker.skipped. A profiler that does not say has dropped none.
 */
void attach__session_count_dropped(attach__session *s);

/* The number of dropped events in the profiler's answer to "metrics"; 0 when it states none. */
uint64_t attach__skipped_samples(attach__span metrics);

/* Holds, then asks. */
int attach__session_probe(attach__session *s, attach_error *err);

/* Makes a directory of ours, under a new name where there is none yet, and takes its lock. */
int attach__session_make_place(attach__session *s, bool needs_exec, attach_error *err);

/* Leaves a directory that is none of our business. */
void attach__session_leave_place(attach__session *s);

/* Creates the directory of a first session and puts the library into it. */
int attach__session_install(attach__session *s, attach_error *err);

/* Runs one profiler command with our log file; profiler_error carries the log's words. */
int attach__session_run(attach__session *s, const char *command, attach_error *err);

/* Whether the library speaks our language: async-profiler 4 or later. */
int attach__session_check_version(attach__session *s, attach_error *err);

/* The error for an errno met when writing into our directory. */
int attach__session_write_error(const attach__session *s, int error, attach_error *err);

/* Stores the marker; disk_full or an I/O error. */
int attach__session_save(attach__session *s, attach_error *err);

/* Removes our files. On musl the library of a living JVM stays: see docs/formats/attach.md. */
void attach__session_remove(attach__session *s);

/* Fills what the session knows; state as given. */
void attach__session_info(attach_ap_info *out, const attach__session *s, attach_ap_state state);

#endif
