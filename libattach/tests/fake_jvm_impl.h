/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that both files of the fake JVM use. */
#ifndef ATTACH_TESTS_FAKE_JVM_IMPL_H
#define ATTACH_TESTS_FAKE_JVM_IMPL_H

#include <check.h>

#include "fake_jvm.h"

typedef enum kind {
    CLASS,
    BEAN,
    INFO,
    STATE,
    LOCK,
    FRAME,
    STRING,
    ARRAY, /* of objects */
    LONGS,
    RUNTIME,
    THREAD,
    GROUP,
    SAFEPOINTS,
    THROWABLE
} object_kind;

typedef struct fake_object {
    object_kind kind;
    int64_t number; /* ordinal, depth, number of a group */
    const fake_thread *thread;
    const char *text; /* a string's, a class's name */
    size_t n;
    int64_t *longs;
    struct fake_object **elements;
    struct fake_object *next;
} object;

/* JNI's own opaque types. A reference is freed when it is dropped. */
struct _jobject {
    object *target;
    bool global;
    struct _jobject *next;
};

struct _jmethodID {
    const char *name;
    const char *signature;
};

typedef struct fake_frame {
    struct _jobject *locals;
    int n, room;
    struct fake_frame *outer;
} frame;

/* Checks as ck_assert does. That one writes to a file each time, and this check runs a million
 * times. */
#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("%s", #condition);                                                        \
    } while (0)

fake_jvm *fake__of(JNIEnv *env);

/* Objects live as long as the JVM. */
object *fake__object(fake_jvm *jvm, object_kind kind, const fake_thread *thread);
object *fake__array(fake_jvm *jvm, object_kind kind, size_t n);

/* Returns a new local reference; NULL for NULL. */
jobject fake__local(fake_jvm *jvm, object *target);
/* Returns the object of a live reference. */
object *fake__target(fake_jvm *jvm, jobject reference);
/* Begins a call that may throw; false when it does. */
bool fake__enter(fake_jvm *jvm);

/* Fills in the calls of methods. */
void fake__add_calls(struct JNINativeInterface_ *functions);

#endif
