/* SPDX-License-Identifier: Apache-2.0 */
/* Java calls for one thread: classes and methods are looked up once, and no call leaves an
 * exception pending. Not thread-safe. */
#ifndef HOTSTACK_THREADS_JVM_H
#define HOTSTACK_THREADS_JVM_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum java_class {
    CLASS_MANAGEMENT,
    CLASS_BEAN,
    CLASS_SUN_BEAN, /* com.sun.management.ThreadMXBean; absent without jdk.management */
    CLASS_INFO,
    CLASS_ENUM,
    CLASS_LOCK,
    CLASS_MONITOR,
    CLASS_FRAME,
    CLASS_OBJECT,
    CLASS_RUNTIME,
    CLASS_THREAD,
    CLASS_GROUP,
    CLASS_HELPER,     /* internal to the JDK: returns CLASS_SAFEPOINTS; may be missing */
    CLASS_SAFEPOINTS, /* sun.management.HotspotRuntimeMBean */
    CLASS_END
};

enum java_method {
    GET_BEAN,
    GET_ALL_IDS,
    GET_INFOS,         /* getThreadInfo(long[], int) */
    GET_INFOS_BOUNDED, /* getThreadInfo(long[], boolean, boolean, int), 10 and later */
    DUMP_ALL,          /* dumpAllThreads(boolean, boolean, int), 10 and later */
    FIND_DEADLOCKED,
    IS_CONTENTION_OFFERED,
    IS_CONTENTION_ON,
    SET_CONTENTION,
    IS_CPU_ON,
    GET_CPU,
    GET_USER,
    SUN_GET_CPU,
    SUN_GET_USER,
    SUN_GET_ALLOCATED,
    SUN_IS_ALLOCATED_ON,
    INFO_ID,
    INFO_NAME,
    INFO_STATE,
    INFO_DAEMON,
    INFO_NATIVE,
    INFO_SUSPENDED,
    INFO_BLOCKED_COUNT,
    INFO_WAITED_COUNT,
    INFO_BLOCKED_TIME,
    INFO_WAITED_TIME,
    INFO_LOCK,
    INFO_OWNER,
    INFO_OWNER_NAME,
    INFO_STACK,
    INFO_MONITORS,
    INFO_SYNCHRONIZERS,
    ENUM_ORDINAL,
    LOCK_CLASS,
    LOCK_HASH,
    MONITOR_DEPTH,
    FRAME_CLASS,
    FRAME_METHOD,
    FRAME_FILE,
    FRAME_LINE,
    OBJECT_TO_STRING,
    RUNTIME_GET,
    RUNTIME_FREE,
    RUNTIME_TOTAL,
    RUNTIME_MAX,
    THREAD_CURRENT,
    THREAD_ID,
    THREAD_GROUP,
    GROUP_PARENT,
    GROUP_NAME,
    GROUP_GROUPS,  /* enumerate(ThreadGroup[], boolean) */
    GROUP_THREADS, /* enumerate(Thread[], boolean) */
    GET_SAFEPOINTS,
    SAFEPOINT_TIME,
    SAFEPOINT_SYNC_TIME,
    METHOD_END
};

#define JVM_TEXT_UNITS 512 /* a longer string is cut to these */
#define JVM_TEXT_MAX   (JVM_TEXT_UNITS * 3)

typedef struct jvm {
    JNIEnv *env;
    jclass classes[CLASS_END]; /* global references */
    jmethodID methods[METHOD_END];
    jobject bean;       /* global reference to the ThreadMXBean */
    jobject safepoints; /* global reference to the HotspotRuntimeMBean, or NULL */
    bool bulk;          /* the bean is a com.sun.management.ThreadMXBean */
    jlong own_tid;
    char error[256]; /* message of the first failure since jvm_clear; empty = none */
} jvm;

/* Looks up all classes and methods; false with j->error. The calling thread must be attached to the
 * JVM. Call jvm_close in every case. */
bool jvm_open(jvm *j, JNIEnv *env);
void jvm_close(jvm *j);

/* Returns whether a call failed since jvm_clear; j->error says which. */
bool jvm_failed(const jvm *j);
void jvm_clear(jvm *j);

/* These call a method of `object`. They return NULL or 0 after an exception and when `object` is
 * NULL. */
jobject jvm_object(jvm *j, jobject object, enum java_method method, ...);
jlong jvm_long(jvm *j, jobject object, enum java_method method, ...);
jint jvm_int(jvm *j, jobject object, enum java_method method, ...);
bool jvm_bool(jvm *j, jobject object, enum java_method method, ...);
void jvm_void(jvm *j, jobject object, enum java_method method, ...);
jobject jvm_static_object(jvm *j, enum java_class class_id, enum java_method method);

/* Opens a frame for `n` local references; false without memory. */
bool jvm_push(jvm *j, int n);
void jvm_pop(jvm *j);
void jvm_drop(jvm *j, jobject local);

/* Writes a java.lang.String (NULL = empty) as UTF-8 to out[JVM_TEXT_MAX]; returns its bytes. */
size_t jvm_text(jvm *j, char *out, jobject string);

/* Returns whether `method` of `object` returns the String `wanted`, which is ASCII. */
bool jvm_says(jvm *j, jobject object, enum java_method method, const char *wanted);

/* Returns how long the JVM reports that it has been stopped since its start; -1 = it does not
 * report it. */
int64_t jvm_paused_ms(jvm *j);

/* Returns a new long[] with these values, or NULL. */
jlongArray jvm_longs(jvm *j, const int64_t *values, size_t n);
/* Returns the length of an array; 0 for NULL. */
size_t jvm_length(jvm *j, jobject array);
/* Returns element i, a local reference. */
jobject jvm_element(jvm *j, jobject array, size_t i);
/* Copies n longs out; false when the array is NULL or shorter. */
bool jvm_read_longs(jvm *j, int64_t *out, jobject array, size_t n);

#endif
