/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake of the parts of JNI and java.lang.management that the thread agent calls. It checks that
 * the caller obeys JNI's rules: a reference is live and in its frame, no call is made with an
 * exception pending, and a frame has no more locals than requested. Under a sanitizer a reference
 * used too late is freed memory. One thread.
 */
#ifndef ATTACH_TESTS_FAKE_JVM_H
#define ATTACH_TESTS_FAKE_JVM_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_OWN_TID 99 /* the agent's own thread */

/* A thread of the fake JVM; 0 and NULL = none. */
typedef struct fake_thread {
    int64_t tid;
    const char *name;
    int state; /* ordinal of Thread.State */
    int depth;
    const char *lock_class;
    int64_t owner;
    const char *owner_name;
    bool daemon;
    bool carrier;
    bool ended; /* after the list of ids was read */
    bool holds; /* a monitor in its frame 0 and one in native code, and a synchronizer */
} fake_thread;

/* How the JVM differs from an ordinary one. */
typedef enum fake_odd {
    FAKE_ODD_NONE,
    FAKE_ODD_JAVA_8, /* no bounded calls, no isDaemon, no com.sun.management */
    FAKE_ODD_SHORT_ARRAYS,
    FAKE_ODD_NULL_ARRAYS,
    FAKE_ODD_HUGE_STRINGS,
    FAKE_ODD_STATES,
    FAKE_ODD_FULL_HEAP,
    FAKE_ODD_UNCOUNTED, /* it does not report how long it was stopped */
    FAKE_ODD_END
} fake_odd;

struct fake_object;
struct fake_frame;

typedef struct fake_jvm {
    const struct JNINativeInterface_ *functions; /* first: a JNIEnv is a pointer to it */
    const fake_thread *threads;
    size_t n_threads;
    fake_odd odd;
    unsigned long calls;   /* calls so far that may fail */
    unsigned long fail_at; /* this one throws; 0 = none */
    bool pending;
    bool contention;
    uint64_t stack_ns;   /* time that each stack takes on the fake clock */
    uint64_t stopped_ns; /* time by which that clock has advanced */
    size_t most_stacks;  /* the most stacks of one call */
    struct fake_object *objects;
    struct fake_frame *frame;
    size_t globals;
} fake_jvm;

void fake_jvm_make(fake_jvm *out, const fake_thread *threads, size_t n);
/* Fails when a reference is left. */
void fake_jvm_end(fake_jvm *jvm);
JNIEnv *fake_jvm_env(fake_jvm *jvm);

#endif
