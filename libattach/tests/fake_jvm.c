#include "fake_jvm.h"

#include <check.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_CARRIERS 1
#define HUGE_UNITS     100000
#define CARRIER_GROUP  "CarrierThreads"

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
    THROWABLE
} object_kind;

typedef struct fake_object {
    object_kind kind;
    int64_t number; /* ordinal, depth, which group */
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

/* As ck_assert, which writes to a file each time: these are passed a million times. */
#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("%s", #condition);                                                        \
    } while (0)

static fake_jvm *of(JNIEnv *env)
{
    return (fake_jvm *)env;
}

JNIEnv *fake_jvm_env(fake_jvm *jvm)
{
    return &jvm->functions;
}

/* ---- objects and references ---- */

static void *obtain(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    must(memory != NULL);
    return memory;
}

static object *make(fake_jvm *jvm, object_kind kind, const fake_thread *thread)
{
    object *made = obtain(1, sizeof(*made));
    *made = (object){.kind = kind, .thread = thread, .next = jvm->objects};
    jvm->objects = made;
    return made;
}

static object *make_number(fake_jvm *jvm, object_kind kind, int64_t number)
{
    object *made = make(jvm, kind, NULL);
    made->number = number;
    return made;
}

static object *make_text(fake_jvm *jvm, const char *text)
{
    object *made = make(jvm, STRING, NULL);
    made->text = text;
    return made;
}

static object *make_array(fake_jvm *jvm, object_kind kind, size_t n)
{
    object *made = make(jvm, kind, NULL);
    if (jvm->odd == FAKE_ODD_SHORT_ARRAYS && n > 0)
        n--;
    made->n = n;
    made->longs = kind == LONGS ? obtain(n + 1, sizeof(*made->longs)) : NULL;
    made->elements = kind == ARRAY ? obtain(n + 1, sizeof(*made->elements)) : NULL;
    return made;
}

static void put(object *array, size_t i, object *element)
{
    if (i < array->n)
        array->elements[i] = element;
}

static jobject local(fake_jvm *jvm, object *target)
{
    frame *f = jvm->frame;
    if (target == NULL)
        return NULL;
    struct _jobject *made = obtain(1, sizeof(*made));
    *made = (struct _jobject){target, false, f->locals};
    f->locals = made;
    f->n++;
    must(f->n <= f->room);
    return made;
}

static object *target_of(fake_jvm *jvm, jobject reference)
{
    bool found = reference != NULL && reference->global;
    for (const frame *f = jvm->frame; f != NULL && !found; f = f->outer)
        for (const struct _jobject *at = f->locals; at != NULL && !found; at = at->next)
            found = at == reference;
    must(found); /* a reference that is not live */
    return reference->target;
}

/* What every call that may throw begins with: false when it does. */
static bool enter(fake_jvm *jvm)
{
    must(!jvm->pending); /* a JNI call with an exception pending */
    jvm->pending = ++jvm->calls == jvm->fail_at;
    return !jvm->pending;
}

static const fake_thread *thread_of(const fake_jvm *jvm, int64_t tid)
{
    for (size_t i = 0; i < jvm->n_threads; i++)
        if (jvm->threads[i].tid == tid)
            return &jvm->threads[i];
    return NULL;
}

static jint JNICALL push(JNIEnv *env, jint room)
{
    fake_jvm *jvm = of(env);
    if (!enter(jvm))
        return JNI_ENOMEM;
    frame *made = obtain(1, sizeof(*made));
    *made = (frame){NULL, 0, room, jvm->frame};
    jvm->frame = made;
    return JNI_OK;
}

static jobject JNICALL pop(JNIEnv *env, jobject result)
{
    fake_jvm *jvm = of(env);
    frame *f = jvm->frame;
    must(result == NULL);
    must(f->outer != NULL);
    jvm->frame = f->outer;
    while (f->locals != NULL) {
        struct _jobject *next = f->locals->next;
        free(f->locals);
        f->locals = next;
    }
    free(f);
    return NULL;
}

static void JNICALL drop_local(JNIEnv *env, jobject reference)
{
    frame *f = of(env)->frame;
    struct _jobject **at = &f->locals;
    while (*at != NULL && *at != reference)
        at = &(*at)->next;
    must(*at != NULL); /* a local reference dropped outside of its frame, or twice */
    *at = reference->next;
    f->n--;
    free(reference);
}

static jobject JNICALL make_global(JNIEnv *env, jobject reference)
{
    fake_jvm *jvm = of(env);
    object *target = target_of(jvm, reference);
    if (++jvm->calls == jvm->fail_at)
        return NULL; /* without an exception */
    struct _jobject *made = obtain(1, sizeof(*made));
    *made = (struct _jobject){target, true, NULL};
    jvm->globals++;
    return made;
}

static void JNICALL drop_global(JNIEnv *env, jobject reference)
{
    must(reference->global);
    of(env)->globals--;
    free(reference);
}

/* ---- exceptions ---- */

static jboolean JNICALL exception_check(JNIEnv *env)
{
    return of(env)->pending;
}

static jthrowable JNICALL exception_occurred(JNIEnv *env)
{
    fake_jvm *jvm = of(env);
    return jvm->pending ? local(jvm, make(jvm, THROWABLE, NULL)) : NULL;
}

static void JNICALL exception_clear(JNIEnv *env)
{
    of(env)->pending = false;
}

/* ---- classes and methods ---- */

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    fake_jvm *jvm = of(env);
    if (!enter(jvm))
        return NULL;
    jvm->pending = jvm->odd == FAKE_ODD_JAVA_8 && strncmp(name, "com/sun/", 8) == 0;
    object *made = make(jvm, CLASS, NULL);
    made->text = name;
    return jvm->pending ? NULL : local(jvm, made);
}

/* Ids live as long as their class: here, as the table of what the agent asks for. */
static jmethodID method(JNIEnv *env, jclass class_ref, const char *name, const char *signature)
{
    static struct _jmethodID ids[128];
    size_t i = 0;
    fake_jvm *jvm = of(env);
    must(target_of(jvm, class_ref)->kind == CLASS);
    if (!enter(jvm))
        return NULL;
    jvm->pending = jvm->odd == FAKE_ODD_JAVA_8 &&
                   (strstr(signature, "ZZI") != NULL || strcmp(name, "isDaemon") == 0);
    if (jvm->pending)
        return NULL;
    while (ids[i].name != NULL &&
           (strcmp(ids[i].name, name) != 0 || strcmp(ids[i].signature, signature) != 0))
        i++;
    must(i < sizeof(ids) / sizeof(ids[0]));
    ids[i] = (struct _jmethodID){name, signature};
    return &ids[i];
}

static jboolean JNICALL is_instance_of(JNIEnv *env, jobject reference, jclass class_ref)
{
    fake_jvm *jvm = of(env);
    must(!jvm->pending);
    (void)target_of(jvm, class_ref);
    return target_of(jvm, reference)->kind == BEAN;
}

/* ---- strings and arrays ---- */

static jsize JNICALL string_length(JNIEnv *env, jstring reference)
{
    fake_jvm *jvm = of(env);
    must(!jvm->pending);
    const object *string = target_of(jvm, reference);
    must(string->kind == STRING);
    return jvm->odd == FAKE_ODD_HUGE_STRINGS ? HUGE_UNITS : (jsize)strlen(string->text);
}

static void JNICALL string_region(JNIEnv *env, jstring reference, jsize begin, jsize n, jchar *out)
{
    fake_jvm *jvm = of(env);
    const object *string = target_of(jvm, reference);
    must(begin == 0 && n <= string_length(env, reference));
    if (!enter(jvm))
        return;
    for (jsize i = 0; i < n; i++) /* a lone surrogate is the longest there is in UTF-8 */
        out[i] = jvm->odd == FAKE_ODD_HUGE_STRINGS ? 0xD800 : (jchar)string->text[i];
}

static jsize JNICALL array_length(JNIEnv *env, jarray reference)
{
    fake_jvm *jvm = of(env);
    must(!jvm->pending);
    const object *array = target_of(jvm, reference);
    must(array->kind == ARRAY || array->kind == LONGS);
    return (jsize)array->n;
}

static jobject JNICALL array_element(JNIEnv *env, jobjectArray reference, jsize i)
{
    fake_jvm *jvm = of(env);
    const object *array = target_of(jvm, reference);
    must(array->kind == ARRAY);
    if (!enter(jvm))
        return NULL;
    jvm->pending = i < 0 || (size_t)i >= array->n;
    return jvm->pending ? NULL : local(jvm, array->elements[i]);
}

static jobjectArray JNICALL new_objects(JNIEnv *env, jsize n, jclass class_ref, jobject first)
{
    fake_jvm *jvm = of(env);
    must(first == NULL);
    (void)target_of(jvm, class_ref);
    return enter(jvm) ? local(jvm, make_array(jvm, ARRAY, (size_t)n)) : NULL;
}

static jlongArray JNICALL new_longs(JNIEnv *env, jsize n)
{
    fake_jvm *jvm = of(env);
    if (!enter(jvm))
        return NULL;
    object *made = make(jvm, LONGS, NULL);
    made->n = (size_t)n;
    made->longs = obtain((size_t)n + 1, sizeof(*made->longs));
    return local(jvm, made);
}

static void JNICALL set_longs(JNIEnv *env, jlongArray reference, jsize begin, jsize n,
                              const jlong *from)
{
    fake_jvm *jvm = of(env);
    object *array = target_of(jvm, reference);
    must(array->kind == LONGS && begin == 0 && (size_t)n <= array->n);
    if (enter(jvm))
        memcpy(array->longs, from, (size_t)n * sizeof(*from));
}

static void JNICALL get_longs(JNIEnv *env, jlongArray reference, jsize begin, jsize n, jlong *to)
{
    fake_jvm *jvm = of(env);
    const object *array = target_of(jvm, reference);
    must(array->kind == LONGS && begin == 0 && (size_t)n <= array->n);
    if (enter(jvm))
        memcpy(to, array->longs, (size_t)n * sizeof(*to));
}

/* ---- the bean ---- */

static object *ids(fake_jvm *jvm)
{
    object *made = make_array(jvm, LONGS, jvm->n_threads + 1);
    for (size_t i = 0; i < made->n; i++)
        made->longs[i] = i < jvm->n_threads ? jvm->threads[i].tid : FAKE_OWN_TID;
    return made;
}

static object *info(fake_jvm *jvm, const fake_thread *thread)
{
    return thread == NULL || thread->ended ? NULL : make(jvm, INFO, thread);
}

static object *infos_of(fake_jvm *jvm, const object *wanted)
{
    object *made = make_array(jvm, ARRAY, wanted->n);
    for (size_t i = 0; i < made->n; i++)
        made->elements[i] = info(jvm, thread_of(jvm, wanted->longs[i]));
    return made;
}

static object *all_infos(fake_jvm *jvm)
{
    size_t n = 0;
    object *made = make_array(jvm, ARRAY, jvm->n_threads);
    for (size_t i = 0; i < jvm->n_threads; i++)
        if (!jvm->threads[i].ended)
            put(made, n++, info(jvm, &jvm->threads[i]));
    made->n = n < made->n ? n : made->n;
    return made;
}

/* Those that wait for one another: here, all that have an owner which waits too. */
static object *deadlocked(fake_jvm *jvm)
{
    size_t n = 0;
    object *made = make_array(jvm, LONGS, jvm->n_threads);
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
    object *made = make_array(jvm, LONGS, wanted->n);
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
    const object *wanted = target_of(jvm, argument);
    return strcmp(m->name, "getThreadInfo") == 0 ? infos_of(jvm, wanted) : counters(jvm, wanted);
}

/* ---- what it hands out ---- */

static object *locks(fake_jvm *jvm, const fake_thread *thread, bool monitors)
{
    size_t n = !thread->holds ? 0 : monitors ? 2 : 1;
    object *made = make_array(jvm, ARRAY, n);
    for (size_t i = 0; i < made->n; i++) {
        object *lock = make_number(jvm, LOCK, i == 0 ? 0 : -1);
        lock->text = "java.lang.Object";
        made->elements[i] = lock;
    }
    return made;
}

static object *stack(fake_jvm *jvm, const fake_thread *thread)
{
    object *made = make_array(jvm, ARRAY, (size_t)thread->depth);
    for (size_t i = 0; i < made->n; i++)
        made->elements[i] = make_number(jvm, FRAME, i == 0 ? -2 : (int64_t)i);
    return made;
}

static object *lock_wanted(fake_jvm *jvm, const fake_thread *thread)
{
    object *made = thread->lock_class == NULL ? NULL : make_number(jvm, LOCK, 0);
    if (made != NULL)
        made->text = thread->lock_class;
    return made;
}

static object *info_object(fake_jvm *jvm, const fake_thread *thread, const char *name)
{
    if (strcmp(name, "getThreadName") == 0)
        return make_text(jvm, thread->name);
    if (strcmp(name, "getThreadState") == 0)
        return make_number(jvm, STATE, jvm->odd == FAKE_ODD_STATES ? 77 : thread->state);
    if (strcmp(name, "getLockInfo") == 0)
        return lock_wanted(jvm, thread);
    if (strcmp(name, "getStackTrace") == 0)
        return stack(jvm, thread);
    return locks(jvm, thread, strcmp(name, "getLockedMonitors") == 0);
}

/* Groups: 0 the root, 1 the carriers'. */
static object *group_object(fake_jvm *jvm, const object *group, const char *name)
{
    if (strcmp(name, "getName") == 0)
        return make_text(jvm, group->number == GROUP_CARRIERS ? CARRIER_GROUP : "system");
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
        return make_number(jvm, GROUP, 0);
    case LOCK:
        return make_text(jvm, asked->text);
    case FRAME:
        return strcmp(m->name, "getFileName") == 0 ? NULL : make_text(jvm, m->name);
    case THROWABLE:
        return make_text(jvm, "java.lang.OutOfMemoryError");
    default:
        ck_abort_msg("%s of a kind %d", m->name, (int)asked->kind);
    }
}

static jobject JNICALL call_object(JNIEnv *env, jobject reference, jmethodID m, va_list args)
{
    fake_jvm *jvm = of(env);
    const object *target = target_of(jvm, reference);
    if (!enter(jvm))
        return NULL;
    object *found = answer(jvm, target, m, args);
    bool is_array = found != NULL && (found->kind == ARRAY || found->kind == LONGS);
    return local(jvm, is_array && jvm->odd == FAKE_ODD_NULL_ARRAYS ? NULL : found);
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
    fake_jvm *jvm = of(env);
    (void)target_of(jvm, class_ref);
    if (!enter(jvm))
        return NULL;
    return local(jvm, make_number(jvm,
                                  strcmp(m->name, "getThreadMXBean") == 0 ? BEAN
                                  : strcmp(m->name, "getRuntime") == 0    ? RUNTIME
                                                                          : THREAD,
                                  FAKE_OWN_TID));
}

static jlong JNICALL call_long(JNIEnv *env, jobject reference, jmethodID m, va_list args)
{
    fake_jvm *jvm = of(env);
    const object *target = target_of(jvm, reference);
    if (!enter(jvm))
        return 0;
    switch (target->kind) {
    case INFO:
        return strcmp(m->name, "getThreadId") == 0 ? target->thread->tid
               : strcmp(m->name, "getLockOwnerId") == 0
                   ? (target->thread->owner == 0 ? -1 : target->thread->owner)
               : strstr(m->name, "Time") != NULL ? -1
                                                 : 5;
    case THREAD:
        return target->thread != NULL ? target->thread->tid : target->number;
    case RUNTIME:
        return strcmp(m->name, "maxMemory") == 0 ? (jvm->odd == FAKE_ODD_FULL_HEAP ? 1 : 1 << 30)
                                                 : 0;
    default: /* the bean's counters one by one */
        return va_arg(args, jlong) * 1000;
    }
}

/* ThreadGroup.enumerate: fills the array and returns how many there are. */
static jint enumerate(fake_jvm *jvm, const object *group, object *into, bool threads)
{
    size_t n = 0;
    if (!threads && group->number != GROUP_CARRIERS) {
        put(into, n++, make_number(jvm, GROUP, 2));
        put(into, n++, make_number(jvm, GROUP, GROUP_CARRIERS));
    }
    for (size_t i = 0; threads && group->number == GROUP_CARRIERS && i < jvm->n_threads; i++)
        if (jvm->threads[i].carrier)
            put(into, n++, make(jvm, THREAD, &jvm->threads[i]));
    return (jint)n;
}

static jint JNICALL call_int(JNIEnv *env, jobject reference, jmethodID m, va_list args)
{
    fake_jvm *jvm = of(env);
    const object *target = target_of(jvm, reference);
    if (!enter(jvm))
        return 0;
    if (target->kind == GROUP)
        return enumerate(jvm, target, target_of(jvm, va_arg(args, jobject)),
                         strstr(m->signature, "[Ljava/lang/Thread;") != NULL);
    return strcmp(m->name, "getIdentityHashCode") == 0 ? 0xCAFE : (jint)target->number;
}

static jboolean JNICALL call_boolean(JNIEnv *env, jobject reference, jmethodID m, va_list args)
{
    fake_jvm *jvm = of(env);
    const object *target = target_of(jvm, reference);
    (void)args;
    if (!enter(jvm))
        return JNI_FALSE;
    if (target->kind == INFO)
        return strcmp(m->name, "isDaemon") == 0 && target->thread->daemon;
    return strcmp(m->name, "isThreadContentionMonitoringEnabled") == 0 ? jvm->contention : JNI_TRUE;
}

static void JNICALL call_void(JNIEnv *env, jobject reference, jmethodID m, va_list args)
{
    fake_jvm *jvm = of(env);
    (void)target_of(jvm, reference);
    ck_assert_str_eq(m->name, "setThreadContentionMonitoringEnabled");
    if (enter(jvm))
        jvm->contention = va_arg(args, int) != 0;
}

static const struct JNINativeInterface_ functions = {
    .FindClass = find_class,
    .ExceptionOccurred = exception_occurred,
    .ExceptionClear = exception_clear,
    .ExceptionCheck = exception_check,
    .PushLocalFrame = push,
    .PopLocalFrame = pop,
    .NewGlobalRef = make_global,
    .DeleteGlobalRef = drop_global,
    .DeleteLocalRef = drop_local,
    .IsInstanceOf = is_instance_of,
    .GetMethodID = method,
    .GetStaticMethodID = method,
    .CallObjectMethod = call_object_plainly,
    .CallObjectMethodV = call_object,
    .CallLongMethodV = call_long,
    .CallIntMethodV = call_int,
    .CallBooleanMethodV = call_boolean,
    .CallVoidMethodV = call_void,
    .CallStaticObjectMethod = call_static,
    .GetStringLength = string_length,
    .GetStringRegion = string_region,
    .GetArrayLength = array_length,
    .NewObjectArray = new_objects,
    .GetObjectArrayElement = array_element,
    .NewLongArray = new_longs,
    .SetLongArrayRegion = set_longs,
    .GetLongArrayRegion = get_longs,
};

void fake_jvm_make(fake_jvm *out, const fake_thread *threads, size_t n)
{
    frame *outermost = obtain(1, sizeof(*outermost));
    outermost->room = 16; /* that JNI grants without being asked */
    *out =
        (fake_jvm){.functions = &functions, .threads = threads, .n_threads = n, .frame = outermost};
}

void fake_jvm_end(fake_jvm *jvm)
{
    ck_assert(!jvm->pending);
    ck_assert_uint_eq(jvm->globals, 0);
    ck_assert_ptr_null(jvm->frame->outer);
    ck_assert_ptr_null(jvm->frame->locals);
    free(jvm->frame);
    while (jvm->objects != NULL) {
        object *next = jvm->objects->next;
        free(jvm->objects->longs);
        free(jvm->objects->elements);
        free(jvm->objects);
        jvm->objects = next;
    }
}
