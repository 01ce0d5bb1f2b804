/* SPDX-License-Identifier: Apache-2.0 */
/* Real JVMs for tests: finds, starts, awaits and ends them. */
#ifndef JVM_FIXTURE_H
#define JVM_FIXTURE_H

#include <attachclient/attachclient.h>
#include <sys/types.h>

#define JVM_ARGS_MAX 24

typedef struct jvm_fixture {
    pid_t child;              /* the process that was started: the JVM or its wrapper */
    attach_identity identity; /* of the JVM itself */
    char output[64];          /* the file that has its standard output and error */
} jvm_fixture;

/* Returns the `java` of that version, or NULL when this machine has none. */
const char *jvm_fixture_java(const char *version);
/* Returns the version in HOTSTACK_TEST_JDK, else the first that the machine has, or NULL. */
const char *jvm_fixture_any(void);
/* A user without other processes, and the wrapper that starts a JVM as that user; only root can. */
#define JVM_FIXTURE_NOBODY "65534"
extern const char *const jvm_fixture_as_nobody[];

/* Returns a java that every user of this machine can run, with the target's classes, or NULL. */
const char *jvm_fixture_shared(void);
/* Returns the directory of the targets' classes. */
const char *jvm_fixture_classes(void);
/* Returns the path of libasyncProfiler.so, or NULL. */
const char *jvm_fixture_profiler(void);
/* Returns this build's libhotstackthreads.so, or NULL if it has none. */
const char *jvm_fixture_thread_agent(void);

/*
 * Starts `wrapper... java flags... Target` and waits until it is ready; both lists end with NULL
 * and may be NULL. Fails the test when it does not start.
 */
void jvm_fixture_start(jvm_fixture *out, const char *java, const char *const *wrapper,
                       const char *const *flags);
/* Starts another program of the test's classes: its name and arguments, ended by NULL. */
void jvm_fixture_run(jvm_fixture *out, const char *java, const char *const *wrapper,
                     const char *const *flags, const char *const *program);
/* Kills the JVM and waits for its end. */
void jvm_fixture_stop(jvm_fixture *jvm);
/* Stops all threads of the JVM with SIGSTOP and waits until they have stopped, which kill does not
 * do. Not for a JVM with a wrapper. */
void jvm_fixture_freeze(const jvm_fixture *jvm);

/* Returns the JVM's output so far; free it. */
char *jvm_fixture_output(const jvm_fixture *jvm);

/* Fails with the JVM's output, on one line, unless that is only Target's own "ready". */
void jvm_fixture_expect_silence(const jvm_fixture *jvm);

/* Counts the lines of its maps that contain `part`, one for each inode. */
int jvm_fixture_mapped(const jvm_fixture *jvm, const char *part);

/* Counts the directories in `path` (of this test's own file system) that begin with `prefix` and
 * stay. */
int jvm_fixture_entries(const char *path, const char *prefix);

/* Locks the one directory that a glob pattern names, like a tool that works on the JVM; close()
 * unlocks it. */
int jvm_fixture_lock(const char *pattern);

#endif
