/* SPDX-License-Identifier: Apache-2.0 */
/* thread-watch: which threads of a JVM use the CPU, every second, and where; deadlocks at once.
 * usage: thread-watch PID [SECONDS]
 * HOTSTACK_THREAD_AGENT names libhotstackthreads.so; without it the installed one is used. */
#include <attach/attach.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef THREAD_AGENT
#define THREAD_AGENT "/usr/local/lib/hotstack/libhotstackthreads.so"
#endif

#define DEADLINE_MS 10000
#define SHOWN       5

struct bytes {
    unsigned char *p;
    size_t n;
};

static int collect(void *ctx, const uint8_t *piece, size_t n)
{
    struct bytes *bytes = ctx;
    unsigned char *longer = realloc(bytes->p, bytes->n + n);
    if (longer == NULL)
        return -1;
    memcpy(longer + bytes->n, piece, n);
    *bytes = (struct bytes){longer, bytes->n + n};
    return 0;
}

static attach_threads *take(attach_target *target, const attach_threads_options *options)
{
    struct bytes bytes = {NULL, 0};
    attach_threads *threads = NULL;
    attach_error err;
    int rc = attach_threads_take(target, options, collect, &bytes, attach_deadline_in(DEADLINE_MS),
                                 &err);
    if (rc == ATTACH_OK)
        rc = attach_threads_decode(&threads, bytes.p, bytes.n, &err);
    if (rc != ATTACH_OK)
        fprintf(stderr, "%s\n", err.message);
    free(bytes.p);
    return threads;
}

static void show_deadlocks(const attach_threads *threads)
{
    for (size_t i = 0; i < attach_threads_deadlock_count(threads); i++) {
        const attach_deadlock *cycle = attach_threads_deadlock_at(threads, i);
        printf("deadlock:");
        for (size_t j = 0; j < cycle->n; j++)
            printf(" \"%s\" waits for", cycle->threads[j]->name);
        printf(" \"%s\"\n", cycle->threads[0]->name);
    }
}

static int busier(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return *left > *right ? -1 : *left < *right;
}

/* Shows the busiest threads since `before`, each with its current method. */
static void show_busy(const attach_threads *now, const attach_threads *before)
{
    uint64_t list[1024][2]; /* CPU time, index */
    size_t n = 0;
    double ns = (double)(attach_threads_meta_of(now)->cpu_read_ns -
                         attach_threads_meta_of(before)->cpu_read_ns);
    for (size_t i = 0; i < attach_threads_count(now) && n < 1024; i++) {
        uint64_t cpu = attach_thread_cpu_since(attach_threads_at(now, i), before);
        if (cpu != ATTACH_THREADS_UNKNOWN && cpu > 0) {
            list[n][0] = cpu;
            list[n++][1] = i;
        }
    }
    qsort(list, n, sizeof(list[0]), busier);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const attach_thread *thread = attach_threads_at(now, (size_t)list[i][1]);
        printf("%5.1f %% \"%s\"", (double)list[i][0] / ns * 100, thread->name);
        if (thread->n_frames > 0) {
            const attach_thread_frame *leaf = attach_threads_frame(now, thread->frames[0]);
            printf(" in %s.%s", leaf->class_name, leaf->method);
        }
        printf("\n");
    }
}

static int watch(attach_target *target, const attach_threads_options *options, int seconds)
{
    attach_threads *before = take(target, options);
    while (before != NULL && seconds-- > 0) {
        sleep(1);
        attach_threads *now = take(target, options);
        if (now != NULL) {
            printf("%zu threads\n", attach_threads_count(now));
            show_deadlocks(now);
            show_busy(now, before);
        }
        attach_threads_free(before);
        before = now;
    }
    int failed = before == NULL;
    attach_threads_free(before);
    return failed;
}

/* Works for JVMs of the caller's own user. For other JVMs a program becomes their user first, as
 * hotstack-attach-worker does. */
int main(int argc, char **argv)
{
    attach_target *target = NULL;
    attach_error err;
    attach_threads_options options = ATTACH_THREADS_OPTIONS_INIT;
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: thread-watch PID [SECONDS]\n");
        return 2;
    }
    const char *agent = getenv("HOTSTACK_THREAD_AGENT");
    attach_identity identity = {.pid = (int)strtol(argv[1], NULL, 10)};
    options.installation_id = "threadwatch";
    options.flags = ATTACH_THREADS_MONITORS;
    options.library_fd = open(agent != NULL ? agent : THREAD_AGENT, O_RDONLY | O_CLOEXEC);
    int rc = attach_target_open(&target, &identity, NULL, &err);
    if (rc != ATTACH_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    int failed = watch(target, &options, argc == 3 ? (int)strtol(argv[2], NULL, 10) : 10);
    rc = attach_threads_close(target, &options, attach_deadline_in(DEADLINE_MS), &err);
    if (rc != ATTACH_OK)
        fprintf(stderr, "%s\n", err.message);
    attach_target_close(target);
    if (options.library_fd >= 0)
        close(options.library_fd);
    return failed || rc != ATTACH_OK;
}
