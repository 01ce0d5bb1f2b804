/* SPDX-License-Identifier: Apache-2.0 */
/* Real JVMs for tests: found on this machine, started, waited for, ended. */
#ifndef JVM_FIXTURE_H
#define JVM_FIXTURE_H

#include <attachclient/attachclient.h>
#include <sys/types.h>

#define JVM_ARGS_MAX 24

typedef struct jvm_fixture {
    pid_t child;              /* what was spawned: the JVM or its wrapper */
    attach_identity identity; /* of the JVM itself */
    char output[64];          /* the file that has its standard output and error */
} jvm_fixture;

/* The `java` of that version, or NULL when this machine has none. */
const char *jvm_fixture_java(const char *version);
/* The version that HOTSTACK_TEST_JDK names, else the first there is, or NULL. */
const char *jvm_fixture_any(void);
/* A user of no other process, and the wrapper that starts a JVM as that one; only root can. */
#define JVM_FIXTURE_NOBODY "65534"
extern const char *const jvm_fixture_as_nobody[];

/* One that every user of this machine can run, with the target's classes, or NULL. */
const char *jvm_fixture_shared(void);
/* Where the targets' classes are. */
const char *jvm_fixture_classes(void);
/* libasyncProfiler.so, or NULL. */
const char *jvm_fixture_profiler(void);
/* libhotstackthreads.so of this build; NULL where it has none. */
const char *jvm_fixture_thread_agent(void);

/*
 * Starts `wrapper... java flags... Target` and waits until it is up; both lists end in NULL and may
 * be NULL. Fails the test when it does not come up.
 */
void jvm_fixture_start(jvm_fixture *out, const char *java, const char *const *wrapper,
                       const char *const *flags);
/* The same with another program of the test's classes: its name and arguments, ended by NULL. */
void jvm_fixture_run(jvm_fixture *out, const char *java, const char *const *wrapper,
                     const char *const *flags, const char *const *program);
/* Kills and waits. */
void jvm_fixture_stop(jvm_fixture *jvm);
/* Stops it by SIGSTOP, all of its threads: kill alone returns before they have. Without wrapper. */
void jvm_fixture_freeze(const jvm_fixture *jvm);

/* What the JVM has printed so far; free it. */
char *jvm_fixture_output(const jvm_fixture *jvm);

/* Fails with what it printed, on one line, when that is not Target's own "ready". */
void jvm_fixture_expect_silence(const jvm_fixture *jvm);

/* Lines of its maps that hold `part`, each counted once per inode. */
int jvm_fixture_mapped(const jvm_fixture *jvm, const char *part);

/* How many directories in `path` (of this test's own file system) begin with `prefix` and stay. */
int jvm_fixture_entries(const char *path, const char *prefix);

/* Takes the lock of the one directory that a glob pattern names, as a tool that works on the JVM
 * does; close() gives it back. */
int jvm_fixture_lock(const char *pattern);

#endif
