/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "utf16.h"

#define INFO    "java/lang/management/ThreadInfo"
#define STRING  "Ljava/lang/String;"
#define OBJECTS 16

static const char *const class_names[CLASS_END] = {
    [CLASS_MANAGEMENT] = "java/lang/management/ManagementFactory",
    [CLASS_BEAN] = "java/lang/management/ThreadMXBean",
    [CLASS_SUN_BEAN] = "com/sun/management/ThreadMXBean",
    [CLASS_INFO] = INFO,
    [CLASS_ENUM] = "java/lang/Enum",
    [CLASS_LOCK] = "java/lang/management/LockInfo",
    [CLASS_MONITOR] = "java/lang/management/MonitorInfo",
    [CLASS_FRAME] = "java/lang/StackTraceElement",
    [CLASS_OBJECT] = "java/lang/Object",
    [CLASS_RUNTIME] = "java/lang/Runtime",
    [CLASS_THREAD] = "java/lang/Thread",
    [CLASS_GROUP] = "java/lang/ThreadGroup",
    [CLASS_HELPER] = "sun/management/ManagementFactoryHelper",
    [CLASS_SAFEPOINTS] = "sun/management/HotspotRuntimeMBean",
};

static const struct {
    enum java_class class_id;
    bool is_static;
    const char *name;
    const char *signature;
} specs[METHOD_END] = {
    [GET_BEAN] = {CLASS_MANAGEMENT, true, "getThreadMXBean",
                  "()Ljava/lang/management/ThreadMXBean;"},
    [GET_ALL_IDS] = {CLASS_BEAN, false, "getAllThreadIds", "()[J"},
    [GET_INFOS] = {CLASS_BEAN, false, "getThreadInfo", "([JI)[L" INFO ";"},
    [GET_INFOS_BOUNDED] = {CLASS_BEAN, false, "getThreadInfo", "([JZZI)[L" INFO ";"},
    [DUMP_ALL] = {CLASS_BEAN, false, "dumpAllThreads", "(ZZI)[L" INFO ";"},
    [FIND_DEADLOCKED] = {CLASS_BEAN, false, "findDeadlockedThreads", "()[J"},
    [IS_CONTENTION_OFFERED] = {CLASS_BEAN, false, "isThreadContentionMonitoringSupported", "()Z"},
    [IS_CONTENTION_ON] = {CLASS_BEAN, false, "isThreadContentionMonitoringEnabled", "()Z"},
    [SET_CONTENTION] = {CLASS_BEAN, false, "setThreadContentionMonitoringEnabled", "(Z)V"},
    [IS_CPU_ON] = {CLASS_BEAN, false, "isThreadCpuTimeEnabled", "()Z"},
    [GET_CPU] = {CLASS_BEAN, false, "getThreadCpuTime", "(J)J"},
    [GET_USER] = {CLASS_BEAN, false, "getThreadUserTime", "(J)J"},
    [SUN_GET_CPU] = {CLASS_SUN_BEAN, false, "getThreadCpuTime", "([J)[J"},
    [SUN_GET_USER] = {CLASS_SUN_BEAN, false, "getThreadUserTime", "([J)[J"},
    [SUN_GET_ALLOCATED] = {CLASS_SUN_BEAN, false, "getThreadAllocatedBytes", "([J)[J"},
    [SUN_IS_ALLOCATED_ON] = {CLASS_SUN_BEAN, false, "isThreadAllocatedMemoryEnabled", "()Z"},
    [INFO_ID] = {CLASS_INFO, false, "getThreadId", "()J"},
    [INFO_NAME] = {CLASS_INFO, false, "getThreadName", "()" STRING},
    [INFO_STATE] = {CLASS_INFO, false, "getThreadState", "()Ljava/lang/Thread$State;"},
    [INFO_DAEMON] = {CLASS_INFO, false, "isDaemon", "()Z"},
    [INFO_NATIVE] = {CLASS_INFO, false, "isInNative", "()Z"},
    [INFO_SUSPENDED] = {CLASS_INFO, false, "isSuspended", "()Z"},
    [INFO_BLOCKED_COUNT] = {CLASS_INFO, false, "getBlockedCount", "()J"},
    [INFO_WAITED_COUNT] = {CLASS_INFO, false, "getWaitedCount", "()J"},
    [INFO_BLOCKED_TIME] = {CLASS_INFO, false, "getBlockedTime", "()J"},
    [INFO_WAITED_TIME] = {CLASS_INFO, false, "getWaitedTime", "()J"},
    [INFO_LOCK] = {CLASS_INFO, false, "getLockInfo", "()Ljava/lang/management/LockInfo;"},
    [INFO_OWNER] = {CLASS_INFO, false, "getLockOwnerId", "()J"},
    [INFO_OWNER_NAME] = {CLASS_INFO, false, "getLockOwnerName", "()" STRING},
    [INFO_STACK] = {CLASS_INFO, false, "getStackTrace", "()[Ljava/lang/StackTraceElement;"},
    [INFO_MONITORS] = {CLASS_INFO, false, "getLockedMonitors",
                       "()[Ljava/lang/management/MonitorInfo;"},
    [INFO_SYNCHRONIZERS] = {CLASS_INFO, false, "getLockedSynchronizers",
                            "()[Ljava/lang/management/LockInfo;"},
    [ENUM_ORDINAL] = {CLASS_ENUM, false, "ordinal", "()I"},
    [LOCK_CLASS] = {CLASS_LOCK, false, "getClassName", "()" STRING},
    [LOCK_HASH] = {CLASS_LOCK, false, "getIdentityHashCode", "()I"},
    [MONITOR_DEPTH] = {CLASS_MONITOR, false, "getLockedStackDepth", "()I"},
    [FRAME_CLASS] = {CLASS_FRAME, false, "getClassName", "()" STRING},
    [FRAME_METHOD] = {CLASS_FRAME, false, "getMethodName", "()" STRING},
    [FRAME_FILE] = {CLASS_FRAME, false, "getFileName", "()" STRING},
    [FRAME_LINE] = {CLASS_FRAME, false, "getLineNumber", "()I"},
    [OBJECT_TO_STRING] = {CLASS_OBJECT, false, "toString", "()" STRING},
    [RUNTIME_GET] = {CLASS_RUNTIME, true, "getRuntime", "()Ljava/lang/Runtime;"},
    [RUNTIME_FREE] = {CLASS_RUNTIME, false, "freeMemory", "()J"},
    [RUNTIME_TOTAL] = {CLASS_RUNTIME, false, "totalMemory", "()J"},
    [RUNTIME_MAX] = {CLASS_RUNTIME, false, "maxMemory", "()J"},
    [THREAD_CURRENT] = {CLASS_THREAD, true, "currentThread", "()Ljava/lang/Thread;"},
    [THREAD_ID] = {CLASS_THREAD, false, "getId", "()J"},
    [THREAD_GROUP] = {CLASS_THREAD, false, "getThreadGroup", "()Ljava/lang/ThreadGroup;"},
    [GROUP_PARENT] = {CLASS_GROUP, false, "getParent", "()Ljava/lang/ThreadGroup;"},
    [GROUP_NAME] = {CLASS_GROUP, false, "getName", "()" STRING},
    [GROUP_GROUPS] = {CLASS_GROUP, false, "enumerate", "([Ljava/lang/ThreadGroup;Z)I"},
    [GROUP_THREADS] = {CLASS_GROUP, false, "enumerate", "([Ljava/lang/Thread;Z)I"},
    [GET_SAFEPOINTS] = {CLASS_HELPER, true, "getHotspotRuntimeMBean",
                        "()Lsun/management/HotspotRuntimeMBean;"},
    [SAFEPOINT_TIME] = {CLASS_SAFEPOINTS, false, "getTotalSafepointTime", "()J"},
    [SAFEPOINT_SYNC_TIME] = {CLASS_SAFEPOINTS, false, "getSafepointSyncTime", "()J"},
};

bool jvm_failed(const jvm *j)
{
    return j->error[0] != '\0';
}

void jvm_clear(jvm *j)
{
    j->error[0] = '\0';
}

/* Keeps the message of the first failure, since later ones are mostly its consequences. */
static void fail(jvm *j, const char *words, size_t n)
{
    if (jvm_failed(j) || n == 0)
        return;
    if (n >= sizeof(j->error)) {
        n = sizeof(j->error) - 1;
        while (n > 0 && ((unsigned char)words[n] & 0xC0) == 0x80) /* cut between characters */
            n--;
    }
    memcpy(j->error, words, n);
    j->error[n] = '\0';
}

static void fail_plainly(jvm *j, const char *words)
{
    fail(j, words, strlen(words));
}

/* Returns whether the previous call threw, and keeps the exception's message. When its toString
 * throws too, the message says only that there was an exception. */
static bool threw(jvm *j)
{
    JNIEnv *env = j->env;
    char words[JVM_TEXT_MAX];
    if (!(*env)->ExceptionCheck(env))
        return false;
    jthrowable thrown = (*env)->ExceptionOccurred(env);
    (*env)->ExceptionClear(env);
    jobject text = NULL;
    if (thrown != NULL && j->methods[OBJECT_TO_STRING] != NULL) {
        text = (*env)->CallObjectMethod(env, thrown, j->methods[OBJECT_TO_STRING]);
        if ((*env)->ExceptionCheck(env)) {
            (*env)->ExceptionClear(env);
            text = NULL;
        }
    }
    fail(j, words, jvm_text(j, words, text));
    fail_plainly(j, "a Java exception without words");
    jvm_drop(j, text);
    jvm_drop(j, thrown);
    return true;
}

#define CALL(result, kind)                                                                         \
    do {                                                                                           \
        va_list args;                                                                              \
        if (object == NULL || j->methods[method] == NULL)                                          \
            return 0;                                                                              \
        va_start(args, method);                                                                    \
        (result) = (*j->env)->Call##kind##MethodV(j->env, object, j->methods[method], args);       \
        va_end(args);                                                                              \
        if (threw(j))                                                                              \
            return 0;                                                                              \
    } while (0)

jobject jvm_object(jvm *j, jobject object, enum java_method method, ...)
{
    jobject result;
    CALL(result, Object);
    return result;
}

jlong jvm_long(jvm *j, jobject object, enum java_method method, ...)
{
    jlong result;
    CALL(result, Long);
    return result;
}

jint jvm_int(jvm *j, jobject object, enum java_method method, ...)
{
    jint result;
    CALL(result, Int);
    return result;
}

bool jvm_bool(jvm *j, jobject object, enum java_method method, ...)
{
    jboolean result;
    CALL(result, Boolean);
    return result != JNI_FALSE;
}

void jvm_void(jvm *j, jobject object, enum java_method method, ...)
{
    va_list args;
    if (object == NULL || j->methods[method] == NULL)
        return;
    va_start(args, method);
    (*j->env)->CallVoidMethodV(j->env, object, j->methods[method], args);
    va_end(args);
    (void)threw(j);
}

jobject jvm_static_object(jvm *j, enum java_class class_id, enum java_method method)
{
    JNIEnv *env = j->env;
    jobject result = (*env)->CallStaticObjectMethod(env, j->classes[class_id], j->methods[method]);
    return threw(j) ? NULL : result;
}

bool jvm_push(jvm *j, int n)
{
    bool pushed = (*j->env)->PushLocalFrame(j->env, n) == JNI_OK;
    return !threw(j) && pushed;
}

void jvm_pop(jvm *j)
{
    (void)(*j->env)->PopLocalFrame(j->env, NULL);
}

void jvm_drop(jvm *j, jobject local)
{
    if (local != NULL)
        (*j->env)->DeleteLocalRef(j->env, local);
}

int64_t jvm_paused_ms(jvm *j)
{
    if (j->safepoints == NULL || jvm_failed(j)) /* the earlier failure's message must stay */
        return -1;
    jlong stopped_ms = jvm_long(j, j->safepoints, SAFEPOINT_TIME);
    jlong sync_ms = jvm_long(j, j->safepoints, SAFEPOINT_SYNC_TIME);
    bool counted = !jvm_failed(j) && j->methods[SAFEPOINT_TIME] != NULL &&
                   j->methods[SAFEPOINT_SYNC_TIME] != NULL;
    jvm_clear(j);
    if (!counted || stopped_ms < 0 || sync_ms < 0 || stopped_ms > INT64_MAX - sync_ms)
        return -1;
    return stopped_ms + sync_ms;
}

size_t jvm_text(jvm *j, char *out, jobject string)
{
    jchar units[JVM_TEXT_UNITS];
    if (string == NULL)
        return 0;
    jsize n = (*j->env)->GetStringLength(j->env, string);
    n = n > JVM_TEXT_UNITS ? JVM_TEXT_UNITS : n;
    (*j->env)->GetStringRegion(j->env, string, 0, n, units);
    return threw(j) ? 0 : text_utf8(out, units, (size_t)n);
}

bool jvm_says(jvm *j, jobject object, enum java_method method, const char *wanted)
{
    char text[JVM_TEXT_MAX];
    jobject string = jvm_object(j, object, method);
    size_t n = jvm_text(j, text, string);
    jvm_drop(j, string);
    return n == strlen(wanted) && memcmp(text, wanted, n) == 0;
}

jlongArray jvm_longs(jvm *j, const int64_t *values, size_t n)
{
    JNIEnv *env = j->env;
    jlongArray array = (*env)->NewLongArray(env, (jsize)n);
    if (threw(j) || array == NULL)
        return NULL;
    (*env)->SetLongArrayRegion(env, array, 0, (jsize)n, (const jlong *)values);
    return threw(j) ? NULL : array;
}

size_t jvm_length(jvm *j, jobject array)
{
    return array == NULL ? 0 : (size_t)(*j->env)->GetArrayLength(j->env, array);
}

jobject jvm_element(jvm *j, jobject array, size_t i)
{
    jobject element = (*j->env)->GetObjectArrayElement(j->env, array, (jsize)i);
    return threw(j) ? NULL : element;
}

bool jvm_read_longs(jvm *j, int64_t *out, jobject array, size_t n)
{
    if (jvm_length(j, array) < n)
        return false;
    (*j->env)->GetLongArrayRegion(j->env, array, 0, (jsize)n, (jlong *)out);
    return !threw(j);
}

static bool find_class(jvm *j, int id)
{
    JNIEnv *env = j->env;
    jclass local = (*env)->FindClass(env, class_names[id]);
    if (threw(j) || local == NULL)
        return false;
    j->classes[id] = (*env)->NewGlobalRef(env, local);
    jvm_drop(j, local);
    return j->classes[id] != NULL;
}

static bool find_method(jvm *j, int id)
{
    JNIEnv *env = j->env;
    jclass class_ref = j->classes[specs[id].class_id];
    if (class_ref == NULL)
        return false;
    j->methods[id] =
        specs[id].is_static
            ? (*env)->GetStaticMethodID(env, class_ref, specs[id].name, specs[id].signature)
            : (*env)->GetMethodID(env, class_ref, specs[id].name, specs[id].signature);
    return !threw(j);
}

/* Returns whether the class may be missing from a reduced runtime or from some JDK releases. */
static bool is_optional_class(int id)
{
    return id == CLASS_SUN_BEAN || id == CLASS_HELPER || id == CLASS_SAFEPOINTS;
}

/* Returns whether the method may be missing from a reduced runtime or from Java 8. */
static bool is_optional(int method)
{
    return is_optional_class(specs[method].class_id) || method == GET_INFOS_BOUNDED ||
           method == DUMP_ALL || method == INFO_DAEMON;
}

static bool find_all(jvm *j)
{
    /* first, so that later exceptions have a message */
    if (!find_class(j, CLASS_OBJECT) || !find_method(j, OBJECT_TO_STRING))
        return false;
    for (int id = 0; id < CLASS_END; id++) {
        if (id == CLASS_OBJECT || find_class(j, id))
            continue;
        if (!is_optional_class(id))
            return false;
        jvm_clear(j);
    }
    for (int id = 0; id < METHOD_END; id++) {
        if (find_method(j, id))
            continue;
        if (!is_optional(id))
            return false;
        jvm_clear(j);
    }
    return true;
}

static bool find_bean(jvm *j)
{
    JNIEnv *env = j->env;
    jobject local = jvm_static_object(j, CLASS_MANAGEMENT, GET_BEAN);
    if (local == NULL)
        return false;
    j->bulk = j->classes[CLASS_SUN_BEAN] != NULL &&
              (*env)->IsInstanceOf(env, local, j->classes[CLASS_SUN_BEAN]) != JNI_FALSE;
    j->bean = (*env)->NewGlobalRef(env, local);
    jobject self = jvm_static_object(j, CLASS_THREAD, THREAD_CURRENT);
    j->own_tid = jvm_long(j, self, THREAD_ID);
    return j->bean != NULL && j->own_tid != 0;
}

/* Finds the JVM's counter of safepoint time. It belongs to no specification, but JNI may call it.
 * Where it is missing, only the clock bounds the pauses. */
static void find_safepoints(jvm *j)
{
    JNIEnv *env = j->env;
    if (j->methods[GET_SAFEPOINTS] == NULL)
        return;
    jobject local = jvm_static_object(j, CLASS_HELPER, GET_SAFEPOINTS);
    if (local != NULL)
        j->safepoints = (*env)->NewGlobalRef(env, local);
    jvm_clear(j);
}

bool jvm_open(jvm *j, JNIEnv *env)
{
    memset(j, 0, sizeof(*j));
    j->env = env;
    if (!jvm_push(j, OBJECTS))
        return false;
    bool found = find_all(j) && find_bean(j);
    if (found)
        find_safepoints(j);
    jvm_pop(j);
    if (!found)
        fail_plainly(j, "the JVM offers no ThreadMXBean");
    return found;
}

void jvm_close(jvm *j)
{
    JNIEnv *env = j->env;
    for (int id = 0; id < CLASS_END; id++)
        if (j->classes[id] != NULL)
            (*env)->DeleteGlobalRef(env, j->classes[id]);
    if (j->bean != NULL)
        (*env)->DeleteGlobalRef(env, j->bean);
    if (j->safepoints != NULL)
        (*env)->DeleteGlobalRef(env, j->safepoints);
    memset(j, 0, sizeof(*j));
}
