/* SPDX-License-Identifier: Apache-2.0 */
#include "threads_ask.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *threads_version(int i)
{
    static const char *const versions[THREADS_VERSIONS] = {"11", "17", "21", "25"};
    return versions[i % THREADS_VERSIONS];
}

const char *threads_java(int i)
{
    return jvm_fixture_java(threads_version(i));
}

void threads_run(jvm_fixture *out, int version, const char *kind, const char *first,
                 const char *second)
{
    const char *const program[] = {"Threads", kind, first, second, NULL};
    jvm_fixture_run(out, threads_java(version), NULL, NULL, program);
}

uint32_t threads_task_called(const jvm_fixture *jvm, const char *name)
{
    char command[128];
    unsigned tid = 0;
    (void)snprintf(command, sizeof(command), "grep -lx '%s' /proc/%d/task/*/comm", name,
                   jvm->identity.pid);
    FILE *found = popen(command, "r");
    ck_assert_ptr_nonnull(found);
    ck_assert_int_eq(fscanf(found, "/proc/%*d/task/%u/comm", &tid), 1);
    (void)pclose(found);
    return tid;
}

attach_request *threads_request(const jvm_fixture *jvm)
{
    attach_request *r = calloc(1, sizeof(*r));
    ck_assert_ptr_nonnull(r);
    r->op = ATTACH_OP_THREADS;
    r->identity = jvm->identity;
    r->timeout_ms = 60000;
    r->threads_flags = ATTACH_THREADS_MONITORS | ATTACH_THREADS_NATIVE_IDS;
    /* The test does not depend on how long a busy machine takes. */
    r->pause_ms = ATTACH_PAUSE_MS_MAX;
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "%s", operation_installation());
    (void)snprintf(r->library, sizeof(r->library), "%s", jvm_fixture_thread_agent());
    return r;
}

attach_result threads_send(attach_threads **out, attach_request *r)
{
    attach_result result;
    attach_error err = {0};
    operation_bytes bytes = {0};
    *out = NULL;
    ck_assert_int_eq(attachclient_run(&result, r, operation_collect, &bytes, NULL, NULL),
                     result.code);
    if (result.code == ATTACH_OK)
        ck_assert_msg(attach_threads_decode(out, bytes.bytes, bytes.n, &err) == ATTACH_OK,
                      "%s at byte %llu", err.message, (unsigned long long)err.offset);
    free(bytes.bytes);
    free(r);
    return result;
}

attach_threads *threads_take(const jvm_fixture *jvm, uint32_t flags, uint32_t max_stacks)
{
    attach_threads *threads = NULL;
    attach_request *r = threads_request(jvm);
    r->threads_flags = flags;
    r->max_stacks = max_stacks;
    attach_result result = threads_send(&threads, r);
    ck_assert_msg(result.code == ATTACH_OK, "%s: %s", attach_reason_name(result.reason),
                  result.message);
    return threads;
}

void threads_end(const jvm_fixture *jvm)
{
    attach_request *r = threads_request(jvm);
    r->op = ATTACH_OP_THREADS_CLOSE;
    attach_result result;
    ck_assert_int_eq(attachclient_run(&result, r, NULL, NULL, NULL, NULL), ATTACH_OK);
    free(r);
}

const attach_thread *threads_named(const attach_threads *threads, const char *name)
{
    const attach_thread *found = NULL;
    for (size_t i = 0; i < attach_threads_count(threads); i++) {
        const attach_thread *thread = attach_threads_at(threads, i);
        if (strcmp(thread->name, name) != 0)
            continue;
        ck_assert_msg(found == NULL, "two threads are called %s", name);
        found = thread;
    }
    ck_assert_msg(found != NULL, "no thread is called %s", name);
    return found;
}

bool threads_has_frame(const attach_threads *threads, const attach_thread *thread,
                       const char *method)
{
    for (size_t i = 0; i < thread->n_frames; i++) {
        const attach_thread_frame *frame = attach_threads_frame(threads, thread->frames[i]);
        if (strcmp(frame->class_name, "Threads") == 0 && strcmp(frame->method, method) == 0)
            return true;
    }
    return false;
}

int threads_leftovers(void)
{
    char prefix[64];
    (void)snprintf(prefix, sizeof(prefix), "hotstack-threads-%s-", operation_installation());
    return jvm_fixture_entries("/tmp", prefix);
}
