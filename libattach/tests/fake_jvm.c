/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_jvm_impl.h"

#include <stdlib.h>
#include <string.h>

#define HUGE_UNITS 100000

fake_jvm *fake__of(JNIEnv *env)
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

object *fake__object(fake_jvm *jvm, object_kind kind, const fake_thread *thread)
{
    object *made = obtain(1, sizeof(*made));
    *made = (object){.kind = kind, .thread = thread, .next = jvm->objects};
    jvm->objects = made;
    return made;
}

object *fake__array(fake_jvm *jvm, object_kind kind, size_t n)
{
    object *made = fake__object(jvm, kind, NULL);
    if (jvm->odd == FAKE_ODD_SHORT_ARRAYS && n > 0)
        n--;
    made->n = n;
    made->longs = kind == LONGS ? obtain(n + 1, sizeof(*made->longs)) : NULL;
    made->elements = kind == ARRAY ? obtain(n + 1, sizeof(*made->elements)) : NULL;
    return made;
}

jobject fake__local(fake_jvm *jvm, object *target)
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

object *fake__target(fake_jvm *jvm, jobject reference)
{
    bool found = reference != NULL && reference->global;
    for (const frame *f = jvm->frame; f != NULL && !found; f = f->outer)
        for (const struct _jobject *at = f->locals; at != NULL && !found; at = at->next)
            found = at == reference;
    must(found); /* a reference that is not live */
    return reference->target;
}

bool fake__enter(fake_jvm *jvm)
{
    must(!jvm->pending); /* a JNI call with an exception pending */
    jvm->pending = ++jvm->calls == jvm->fail_at;
    return !jvm->pending;
}

static jint JNICALL push(JNIEnv *env, jint room)
{
    fake_jvm *jvm = fake__of(env);
    if (!fake__enter(jvm))
        return JNI_ENOMEM;
    frame *made = obtain(1, sizeof(*made));
    *made = (frame){NULL, 0, room, jvm->frame};
    jvm->frame = made;
    return JNI_OK;
}

static jobject JNICALL pop(JNIEnv *env, jobject result)
{
    fake_jvm *jvm = fake__of(env);
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
    frame *f = fake__of(env)->frame;
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
    fake_jvm *jvm = fake__of(env);
    object *target = fake__target(jvm, reference);
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
    fake__of(env)->globals--;
    free(reference);
}

/* ---- exceptions ---- */

static jboolean JNICALL exception_check(JNIEnv *env)
{
    return fake__of(env)->pending;
}

static jthrowable JNICALL exception_occurred(JNIEnv *env)
{
    fake_jvm *jvm = fake__of(env);
    return jvm->pending ? fake__local(jvm, fake__object(jvm, THROWABLE, NULL)) : NULL;
}

static void JNICALL exception_clear(JNIEnv *env)
{
    fake__of(env)->pending = false;
}

/* ---- classes and methods ---- */

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    fake_jvm *jvm = fake__of(env);
    if (!fake__enter(jvm))
        return NULL;
    jvm->pending = jvm->odd == FAKE_ODD_JAVA_8 && strncmp(name, "com/sun/", 8) == 0;
    object *made = fake__object(jvm, CLASS, NULL);
    made->text = name;
    return jvm->pending ? NULL : fake__local(jvm, made);
}

/* Returns a method id, which lives as long as its class; here for the whole program. */
static jmethodID method(JNIEnv *env, jclass class_ref, const char *name, const char *signature)
{
    static struct _jmethodID ids[128];
    size_t i = 0;
    fake_jvm *jvm = fake__of(env);
    must(fake__target(jvm, class_ref)->kind == CLASS);
    if (!fake__enter(jvm))
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
    fake_jvm *jvm = fake__of(env);
    must(!jvm->pending);
    (void)fake__target(jvm, class_ref);
    return fake__target(jvm, reference)->kind == BEAN;
}

/* ---- strings and arrays ---- */

static jsize JNICALL string_length(JNIEnv *env, jstring reference)
{
    fake_jvm *jvm = fake__of(env);
    must(!jvm->pending);
    const object *string = fake__target(jvm, reference);
    must(string->kind == STRING);
    return jvm->odd == FAKE_ODD_HUGE_STRINGS ? HUGE_UNITS : (jsize)strlen(string->text);
}

static void JNICALL string_region(JNIEnv *env, jstring reference, jsize begin, jsize n, jchar *out)
{
    fake_jvm *jvm = fake__of(env);
    const object *string = fake__target(jvm, reference);
    must(begin == 0 && n <= string_length(env, reference));
    if (!fake__enter(jvm))
        return;
    for (jsize i = 0; i < n; i++) /* a lone surrogate takes the most bytes in UTF-8 */
        out[i] = jvm->odd == FAKE_ODD_HUGE_STRINGS ? 0xD800 : (jchar)string->text[i];
}

static jsize JNICALL array_length(JNIEnv *env, jarray reference)
{
    fake_jvm *jvm = fake__of(env);
    must(!jvm->pending);
    const object *array = fake__target(jvm, reference);
    must(array->kind == ARRAY || array->kind == LONGS);
    return (jsize)array->n;
}

static jobject JNICALL array_element(JNIEnv *env, jobjectArray reference, jsize i)
{
    fake_jvm *jvm = fake__of(env);
    const object *array = fake__target(jvm, reference);
    must(array->kind == ARRAY);
    if (!fake__enter(jvm))
        return NULL;
    jvm->pending = i < 0 || (size_t)i >= array->n;
    return jvm->pending ? NULL : fake__local(jvm, array->elements[i]);
}

static jobjectArray JNICALL new_objects(JNIEnv *env, jsize n, jclass class_ref, jobject first)
{
    fake_jvm *jvm = fake__of(env);
    must(first == NULL);
    (void)fake__target(jvm, class_ref);
    return fake__enter(jvm) ? fake__local(jvm, fake__array(jvm, ARRAY, (size_t)n)) : NULL;
}

static jlongArray JNICALL new_longs(JNIEnv *env, jsize n)
{
    fake_jvm *jvm = fake__of(env);
    if (!fake__enter(jvm))
        return NULL;
    object *made = fake__object(jvm, LONGS, NULL);
    made->n = (size_t)n;
    made->longs = obtain((size_t)n + 1, sizeof(*made->longs));
    return fake__local(jvm, made);
}

static void JNICALL set_longs(JNIEnv *env, jlongArray reference, jsize begin, jsize n,
                              const jlong *from)
{
    fake_jvm *jvm = fake__of(env);
    object *array = fake__target(jvm, reference);
    must(array->kind == LONGS && begin == 0 && (size_t)n <= array->n);
    if (fake__enter(jvm))
        memcpy(array->longs, from, (size_t)n * sizeof(*from));
}

static void JNICALL get_longs(JNIEnv *env, jlongArray reference, jsize begin, jsize n, jlong *to)
{
    fake_jvm *jvm = fake__of(env);
    const object *array = fake__target(jvm, reference);
    must(array->kind == LONGS && begin == 0 && (size_t)n <= array->n);
    if (fake__enter(jvm))
        memcpy(to, array->longs, (size_t)n * sizeof(*to));
}

static const struct JNINativeInterface_ all_but_calls = {
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
    static struct JNINativeInterface_ functions;
    functions = all_but_calls;
    fake__add_calls(&functions);
    frame *outermost = obtain(1, sizeof(*outermost));
    outermost->room = 16; /* references that JNI grants without a request */
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
