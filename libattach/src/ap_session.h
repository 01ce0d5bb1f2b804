/* What is known of our session in one JVM while one call works on it. */
#ifndef ATTACH_AP_SESSION_H
#define ATTACH_AP_SESSION_H

#include "ap_place.h"

typedef struct attach__session {
    attach_target *target;
    const attach_ap_options *options;
    uint64_t deadline_ns;
    attach__map_facts maps;
    char library[ATTACH__PATH_MAX]; /* the path to load, as the JVM sees it; empty = not chosen */
    char name[ATTACH__PLACE_NAME_MAX]; /* of our directory */
    attach__place place;
    attach__marker marker;
    bool has_marker;
    bool running; /* valid after attach__session_ask */
} attach__session;

/* Checks the options and the target, reads its maps, finds the directory that goes with a library
 * mapped earlier. Nothing is changed. Close with attach__session_close, also after a failure. */
int attach__session_open(attach__session *s, attach_target *target,
                         const attach_ap_options *options, uint64_t deadline_ns, attach_error *err);
void attach__session_close(attach__session *s);

/* Whether a Hotstack library is mapped in the JVM. */
bool attach__session_is_mapped(const attach__session *s);
/* Whether the session that the marker describes is another installation's. */
bool attach__session_is_foreign(const attach__session *s);

/* With a mapped library: makes sure that its directory exists, takes the directory's lock and reads
 * the marker. */
int attach__session_hold(attach__session *s, attach_error *err);

/* Asks the profiler whether it runs. The session must be held. */
int attach__session_ask(attach__session *s, attach_error *err);

/* Holds, then asks. */
int attach__session_probe(attach__session *s, attach_error *err);

/* Creates the directory of a first session and puts the library into it. */
int attach__session_install(attach__session *s, attach_error *err);

/* Runs one profiler command with our log file; profiler_error carries the log's words. */
int attach__session_run(attach__session *s, const char *command, attach_error *err);

/* Stores the marker; disk_full or an I/O error. */
int attach__session_save(attach__session *s, attach_error *err);

/* Removes our files. On musl the library of a living JVM stays: see docs/formats/attach.md. */
void attach__session_remove(attach__session *s);

/* Fills what the session knows; state as given. */
void attach__session_info(attach_ap_info *out, const attach__session *s, attach_ap_state state);

#endif
