/* SPDX-License-Identifier: Apache-2.0 */
/* A procfs made of ordinary files in a private directory, with one JVM in it. The JVM has this
 * test's own pid, so that a signal cannot reach any other process. */
#ifndef FAKE_PROC_H
#define FAKE_PROC_H

#include <attach/attach.h>

#define FAKE_START_TICKS 4711

typedef struct fake_proc {
    char path[64];  /* the procfs; PID/root is path/root */
    char boot[128]; /* path/root */
    attach_options options;
    attach_identity identity;
} fake_proc;

/* Fills *out in place: options point into it. */
void fake_proc_make(fake_proc *out);
void fake_proc_remove(fake_proc *proc);

/* Writes path/<pid>/<name>. */
void fake_proc_write(const fake_proc *proc, const char *name, const char *text);
/* Sets the JVM's state letter. */
void fake_proc_set_state(const fake_proc *proc, char state);
/* Adds a line to its maps. */
void fake_proc_map(const fake_proc *proc, const char *path);

#endif
