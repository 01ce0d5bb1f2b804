/* SPDX-License-Identifier: Apache-2.0 */
/* java.lang.management for the fake threads: the result of each method. */
#include "fake_jvm_impl.h"

#include <stdarg.h>
#include <string.h>

#define GROUP_CARRIERS 1
#define CARRIER_GROUP  "CarrierThreads"

/* ---- objects ---- */

static object *number(fake_jvm *jvm, object_kind kind, int64_t value)
{
    object *made = fake__object(jvm, kind, NULL);
    made->number = value;
    return made;
}

static object *text(fake_jvm *jvm, const char *units)
{
    object *made = fake__object(jvm, STRING, NULL);
    made->text = units;
    return made;
}

static void put(object *array, size_t i, object *element)
{
    if (i < array->n)
        array->elements[i] = element;
}

static const fake_thread *thread_of(const fake_jvm *jvm, int64_t tid)
{
    for (size_t i = 0; i < jvm->n_threads; i++)
        if (jvm->threads[i].tid == tid)
            return &jvm->threads[i];
    return NULL;
}

/* ---- the bean ---- */

static object *ids(fake_jvm *jvm)
{
    object *made = fake__array(jvm, LONGS, jvm->n_threads + 1);
    for (size_t i = 0; i < made->n; i++)
        made->longs[i] = i < jvm->n_threads ? jvm->threads[i].tid : FAKE_OWN_TID;
    return made;
}

static object *info(fake_jvm *jvm, const fake_thread *thread)
{
    return thread == NULL || thread->ended ? NULL : fake__object(jvm, INFO, thread);
}

static object *infos_of(fake_jvm *jvm, const object *wanted)
{
    object *made = fake__array(jvm, ARRAY, wanted->n);
    for (size_t i = 0; i < made->n; i++)
        made->elements[i] = info(jvm, thread_of(jvm, wanted->longs[i]));
    return made;
}

/* Stops the JVM for a call that returns stacks; other calls do not stop it. */
static void stop_for(fake_jvm *jvm, const struct _jmethodID *m, size_t stacks)
{
    if (strcmp(m->name, "getThreadInfo") != 0 || strstr(m->signature, "ZZI") == NULL)
        return;
    jvm->stopped_ns += stacks * jvm->stack_ns;
    jvm->most_stacks = stacks > jvm->most_stacks ? stacks : jvm->most_stacks;
}

static object *all_infos(fake_jvm *jvm)
{
    size_t n = 0;
    object *made = fake__array(jvm, ARRAY, jvm->n_threads);
    for (size_t i = 0; i < jvm->n_threads; i++)
        if (!jvm->threads[i].ended)
            put(made, n++, info(jvm, &jvm->threads[i]));
    made->n = n < made->n ? n : made->n;
    return made;
}

/* Returns the deadlocked threads: in the fake, all whose owner also waits. */
static object *deadlocked(fake_jvm *jvm)
{
    size_t n = 0;
    object *made = fake__array(jvm, LONGS, jvm->n_threads);
    for (size_t i = 0; i < jvm->n_threads && n < made->n; i++) {
        const fake_thread *owner = thread_of(jvm, jvm->threads[i].owner);
        if (owner != NULL && owner->owner == jvm->threads[i].tid)
            made->longs[n++] = jvm->threads[i].tid;
    }
    made->n = n;
    return n == 0 ? NULL : made;
}

static object *counters(fake_jvm *jvm, const object *wanted)
{
    object *made = fake__array(jvm, LONGS, wanted->n);
    for (size_t i = 0; i < made->n; i++)
        made->longs[i] = wanted->longs[i] * 1000;
    return made;
}

static object *bean_object(fake_jvm *jvm, const struct _jmethodID *m, va_list args)
{
    if (strcmp(m->name, "getAllThreadIds") == 0)
        return ids(jvm);
    if (strcmp(m->name, "dumpAllThreads") == 0)
        return all_infos(jvm);
    if (strcmp(m->name, "findDeadlockedThreads") == 0)
        return deadlocked(jvm);
    jobject argument = va_arg(args, jobject);
    jvm->pending = argument == NULL; /* a NullPointerException */
    if (jvm->pending)
        return NULL;
    const object *wanted = fake__target(jvm, argument);
    stop_for(jvm, m, wanted->n);
    return strcmp(m->name, "getThreadInfo") == 0 ? infos_of(jvm, wanted) : counters(jvm, wanted);
}

/* ---- objects that the bean returns ---- */

static object *locks(fake_jvm *jvm, const fake_thread *thread, bool monitors)
{
    size_t n = !thread->holds ? 0 : monitors ? 2 : 1;
    object *made = fake__array(jvm, ARRAY, n);
    for (size_t i = 0; i < made->n; i++) {
        object *lock = number(jvm, LOCK, i == 0 ? 0 : -1);
        lock->text = "java.lang.Object";
        made->elements[i] = lock;
    }
    return made;
}

static object *stack(fake_jvm *jvm, const fake_thread *thread)
{
    object *made = fake__array(jvm, ARRAY, (size_t)thread->depth);
    for (size_t i = 0; i < made->n; i++)
        made->elements[i] = number(jvm, FRAME, i == 0 ? -2 : (int64_t)i);
    return made;
}

static object *lock_wanted(fake_jvm *jvm, const fake_thread *thread)
{
    object *made = thread->lock_class == NULL ? NULL : number(jvm, LOCK, 0);
    if (made != NULL)
        made->text = thread->lock_class;
    return made;
}

static object *info_object(fake_jvm *jvm, const fake_thread *thread, const char *name)
{
    if (strcmp(name, "getThreadName") == 0)
        return text(jvm, thread->name);
    if (strcmp(name, "getLockOwnerName") == 0)
        return thread->owner_name == NULL ? NULL : text(jvm, thread->owner_name);
    if (strcmp(name, "getThreadState") == 0)
        return number(jvm, STATE, jvm->odd == FAKE_ODD_STATES ? 77 : thread->state);
    if (strcmp(name, "getLockInfo") == 0)
        return lock_wanted(jvm, thread);
    if (strcmp(name, "getStackTrace") == 0)
        return stack(jvm, thread);
    return locks(jvm, thread, strcmp(name, "getLockedMonitors") == 0);
}

/* Answers for a group: 0 is the root, 1 the carriers' group. */
static object *group_object(fake_jvm *jvm, const object *group, const char *name)
{
    if (strcmp(name, "getName") == 0)
        return text(jvm, group->number == GROUP_CARRIERS ? CARRIER_GROUP : "system");
    return NULL; /* getParent */
}

static object *answer(fake_jvm *jvm, const object *asked, const struct _jmethodID *m, va_list args)
{
    switch (asked->kind) {
    case BEAN:
        return bean_object(jvm, m, args);
    case INFO:
        return info_object(jvm, asked->thread, m->name);
    case GROUP:
        return group_object(jvm, asked, m->name);
    case THREAD:
        return number(jvm, GROUP, 0);
    case LOCK:
        return text(jvm, asked->text);
    case FRAME:
        return strcmp(m->name, "getFileName") == 0 ? NULL : text(jvm, m->name);
    case THROWABLE:
        return text(jvm, "java.lang.OutOfMemoryError");
    default:
        ck_abort_msg("%s of a kind %d", m->name, (int)asked->kind);
    }
}

static jobject JNICALL call_object(JNIEnv *env, jobject reference, jmethodID m, va_list args)
{
    fake_jvm *jvm = fake__of(env);
    const object *target = fake__target(jvm, reference);
    if (!fake__enter(jvm))
        return NULL;
    object *found = answer(jvm, target, m, args);
    bool is_array = found != NULL && (found->kind == ARRAY || found->kind == LONGS);
    return fake__local(jvm, is_array && jvm->odd == FAKE_ODD_NULL_ARRAYS ? NULL : found);
}

static jobject JNICALL call_object_plainly(JNIEnv *env, jobject reference, jmethodID m, ...)
{
    va_list args;
    va_start(args, m);
    jobject found = call_object(env, reference, m, args);
    va_end(args);
    return found;
}

static jobject JNICALL call_static(JNIEnv *env, jclass class_ref, jmethodID m, ...)
{
    fake_jvm *jvm = fake__of(env);
    (void)fake__target(jvm, class_ref);
    if (!fake__enter(jvm))
        return NULL;
    return fake__local(jvm, number(jvm,
                                   strcmp(m->name, "getThreadMXBean") == 0 ? BEAN
                                   : strcmp(m->name, "getRuntime") == 0    ? RUNTIME
                                   : strcmp(m->name, "currentThread") == 0 ? THREAD
                                                                           : SAFEPOINTS,
                                   FAKE_OWN_TID));
}

static jlong JNICALL call_long(JNIEnv *env, jobject reference, jmethodID m, va_list args)
{
    fake_jvm *jvm = fake__of(env);
    const object *target = fake__target(jvm, reference);
    if (!fake__enter(jvm))
        return 0;
    switch (target->kind) {
    case INFO:
        return strcmp(m->name, "getThreadId") == 0 ? target->thread->tid
               : strcmp(m->name, "getLockOwnerId") == 0
                   ? (target->thread->owner == 0 ? -1 : target->thread->owner)
               : strstr(m->name, "Time") != NULL ? -1
                                                 : 5;
    case SAFEPOINTS:
        return jvm->odd == FAKE_ODD_UNCOUNTED ? -1 : 0;
    case THREAD:
        return target->thread != NULL ? target->thread->tid : target->number;
    case RUNTIME:
        return strcmp(m->name, "maxMemory") == 0 ? (jvm->odd == FAKE_ODD_FULL_HEAP ? 1 : 1 << 30)
                                                 : 0;
    default: /* the bean's counters one by one */
        return va_arg(args, jlong) * 1000;
    }
}

static bool has_carriers(const fake_jvm *jvm)
{
    for (size_t i = 0; i < jvm->n_threads; i++)
        if (jvm->threads[i].carrier)
            return true;
    return false;
}

/* ThreadGroup.enumerate: fills the array and returns how many there are. */
static jint enumerate(fake_jvm *jvm, const object *group, object *into, bool threads)
{
    size_t n = 0;
    if (!threads && group->number != GROUP_CARRIERS) {
        put(into, n++, number(jvm, GROUP, 2));
        if (has_carriers(jvm))
            put(into, n++, number(jvm, GROUP, GROUP_CARRIERS));
    }
    for (size_t i = 0; threads && group->number == GROUP_CARRIERS && i < jvm->n_threads; i++)
        if (jvm->threads[i].carrier)
            put(into, n++, fake__object(jvm, THREAD, &jvm->threads[i]));
    return (jint)n;
}

static jint JNICALL call_int(JNIEnv *env, jobject reference, jmethodID m, va_list args)
{
    fake_jvm *jvm = fake__of(env);
    const object *target = fake__target(jvm, reference);
    if (!fake__enter(jvm))
        return 0;
    if (target->kind == GROUP)
        return enumerate(jvm, target, fake__target(jvm, va_arg(args, jobject)),
                         strstr(m->signature, "[Ljava/lang/Thread;") != NULL);
    return strcmp(m->name, "getIdentityHashCode") == 0 ? 0xCAFE : (jint)target->number;
}

static jboolean JNICALL call_boolean(JNIEnv *env, jobject reference, jmethodID m, va_list args)
{
    fake_jvm *jvm = fake__of(env);
    const object *target = fake__target(jvm, reference);
    (void)args;
    if (!fake__enter(jvm))
        return JNI_FALSE;
    if (target->kind == INFO)
        return strcmp(m->name, "isDaemon") == 0 && target->thread->daemon;
    return strcmp(m->name, "isThreadContentionMonitoringEnabled") == 0 ? jvm->contention : JNI_TRUE;
}

static void JNICALL call_void(JNIEnv *env, jobject reference, jmethodID m, va_list args)
{
    fake_jvm *jvm = fake__of(env);
    (void)fake__target(jvm, reference);
    ck_assert_str_eq(m->name, "setThreadContentionMonitoringEnabled");
    if (fake__enter(jvm))
        jvm->contention = va_arg(args, int) != 0;
}

void fake__add_calls(struct JNINativeInterface_ *functions)
{
    functions->CallObjectMethod = call_object_plainly;
    functions->CallObjectMethodV = call_object;
    functions->CallLongMethodV = call_long;
    functions->CallIntMethodV = call_int;
    functions->CallBooleanMethodV = call_boolean;
    functions->CallVoidMethodV = call_void;
    functions->CallStaticObjectMethod = call_static;
}
