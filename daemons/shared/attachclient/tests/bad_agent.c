/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JVM TI agent for tests that misbehaves as its options say: "exit" ends the JVM at once, "hang"
 * never returns from its attach thread, "objects" takes the sampling of allocations, which only one
 * agent can have, and keeps it. It answers a session's command as async-profiler does in a JVM that
 * is still starting.
 */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jint take_objects(JavaVM *vm)
{
    jvmtiEnv *jvmti = NULL;
    jvmtiCapabilities wanted = {.can_generate_sampled_object_alloc_events = 1};
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
        return JNI_ERR;
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}

/* The session's command ends with log=FILE. */
static jint refuse_command(const char *log)
{
    FILE *to = fopen(log, "w");
    if (to == NULL)
        return JNI_ERR;
    (void)fprintf(to, "[ERROR] JVM does not support Tool Interface\n");
    (void)fclose(to);
    return 200;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    if (options != NULL && strcmp(options, "exit") == 0)
        _exit(3);
    while (options != NULL && strcmp(options, "hang") == 0)
        (void)pause();
    const char *log = options != NULL ? strstr(options, ",log=") : NULL;
    if (log != NULL)
        return refuse_command(log + strlen(",log="));
    return options != NULL && strcmp(options, "objects") == 0 ? take_objects(vm) : JNI_OK;
}
