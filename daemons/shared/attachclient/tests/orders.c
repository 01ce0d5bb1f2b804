/* SPDX-License-Identifier: Apache-2.0 */
/* A service starter like jsvc: creates the JVM itself and passes it the arguments that begin
 * with -XX. The main class is not an argument. Environment: HOTSTACK_TEST_LIBJVM,
 * HOTSTACK_TEST_CLASSES. */
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 8

typedef jint (*create_fn)(JavaVM **vm, void **env, void *args);

static int run_main(JNIEnv *env)
{
    jclass text = (*env)->FindClass(env, "java/lang/String");
    jclass target = (*env)->FindClass(env, "Target");
    if (text == NULL || target == NULL)
        return 1;
    jmethodID method = (*env)->GetStaticMethodID(env, target, "main", "([Ljava/lang/String;)V");
    jobjectArray none = (*env)->NewObjectArray(env, 0, text, NULL);
    if (method == NULL || none == NULL)
        return 1;
    (*env)->CallStaticVoidMethod(env, target, method, none);
    return 0;
}

int main(int argc, char **argv)
{
    char classes[4096], heap[] = "-Xmx64m";
    JavaVMOption options[OPTIONS_MAX] = {{classes, NULL}, {heap, NULL}};
    JavaVMInitArgs args = {JNI_VERSION_1_8, 2, options, JNI_FALSE};
    JavaVM *vm = NULL;
    void *env = NULL;
    const char *path = getenv("HOTSTACK_TEST_LIBJVM"), *where = getenv("HOTSTACK_TEST_CLASSES");
    void *library = path == NULL ? NULL : dlopen(path, RTLD_NOW);
    create_fn create = NULL;
    if (library != NULL) /* as dlopen(3) shows: ISO C has no cast from an object to a function */
        *(void **)&create = dlsym(library, "JNI_CreateJavaVM");
    (void)snprintf(classes, sizeof(classes), "-Djava.class.path=%s", where == NULL ? "." : where);
    for (int i = 1; i < argc && args.nOptions < OPTIONS_MAX; i++)
        if (strncmp(argv[i], "-XX:", 4) == 0)
            options[args.nOptions++].optionString = argv[i];
    if (create == NULL || create(&vm, &env, &args) != JNI_OK)
        return 1;
    return run_main(env);
}
