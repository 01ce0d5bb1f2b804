/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/threads_native_impl.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASKS_MAX   131072u
#define COMM_LENGTH 15 /* bytes of a name that the kernel keeps */
/* The kernel updates sum_exec_runtime of a running task at each tick; HZ is at least 100. */
#define TICK_NS 10000000u
/* Below this, two unrelated threads may have used the same time by chance. */
#define TELLING_NS 50000000u

static bool read_number(const attach_target *target, int task_fd, uint32_t tid, uint64_t *out)
{
    char path[32];
    attach__blob text;
    attach__span rest, word;
    (void)target;
    (void)snprintf(path, sizeof(path), "%u/schedstat", tid);
    if (attach__read_proc(&text, task_fd, path, 128) != 0)
        return false;
    rest = attach__blob_span(&text);
    bool good = attach__next_word(&rest, &word) && attach__parse_u64(word, 10, out);
    free(text.p);
    return good;
}

static bool read_name(int task_fd, uint32_t tid, char out[16])
{
    char path[32];
    attach__blob text;
    attach__span rest, line;
    (void)snprintf(path, sizeof(path), "%u/comm", tid);
    if (attach__read_proc(&text, task_fd, path, 64) != 0)
        return false;
    rest = attach__blob_span(&text);
    bool good = attach__next_line(&rest, &line) && attach__copy_exact(out, 16, line);
    free(text.p);
    return good;
}

static bool add(attach__tasks *tasks, size_t *cap, const attach__task *task)
{
    if (tasks->n == *cap) {
        size_t wanted = *cap == 0 ? 64 : *cap * 2;
        attach__task *bigger = realloc(tasks->list, wanted * sizeof(*bigger));
        if (bigger == NULL)
            return false;
        tasks->list = bigger;
        *cap = wanted;
    }
    tasks->list[tasks->n++] = *task;
    return true;
}

static int by_tid(const void *a, const void *b)
{
    const attach__task *left = a, *right = b;
    return left->tid < right->tid ? -1 : left->tid > right->tid;
}

void attach__tasks_read(attach__tasks *out, const attach_target *target)
{
    size_t cap = 0;
    const struct dirent *entry;
    *out = (attach__tasks){NULL, 0};
    int task_fd = openat(target->proc_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *tasks = task_fd < 0 ? NULL : fdopendir(task_fd);
    if (tasks == NULL) {
        if (task_fd >= 0)
            (void)close(task_fd);
        return;
    }
    while (out->n < TASKS_MAX && (entry = readdir(tasks)) != NULL) {
        attach__task task = {0};
        attach__span name = attach__span_of(entry->d_name, strlen(entry->d_name));
        if (attach__parse_u32(name, &task.tid) && read_name(task_fd, task.tid, task.name) &&
            read_number(target, task_fd, task.tid, &task.before_ns) && !add(out, &cap, &task))
            break;
    }
    (void)closedir(tasks);
    if (out->n > 0)
        qsort(out->list, out->n, sizeof(*out->list), by_tid);
}

void attach__tasks_read_again(attach__tasks *tasks, const attach_target *target)
{
    size_t kept = 0;
    int task_fd = openat(target->proc_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; task_fd >= 0 && i < tasks->n; i++) {
        attach__task task = tasks->list[i];
        if (read_number(target, task_fd, task.tid, &task.after_ns) &&
            task.after_ns >= task.before_ns)
            tasks->list[kept++] = task;
    }
    tasks->n = kept;
    if (task_fd >= 0)
        (void)close(task_fd);
}

/* ---- joining ---- */

/*
 * Returns whether comm may be the kernel's form of the name. HotSpot sets the first 15 bytes of a
 * name, and newer versions "%.7s..%.6s" of a longer one. Source: os_linux.cpp,
 * set_native_thread_name.
 */
static bool fits(const char *name, const char *comm)
{
    char shortened[16];
    size_t n = strlen(name);
    if (strncmp(name, comm, COMM_LENGTH) == 0)
        return true;
    if (n <= COMM_LENGTH)
        return false;
    (void)snprintf(shortened, sizeof(shortened), "%.7s..%.6s", name, name + n - 6);
    return strcmp(shortened, comm) == 0;
}

static bool is_exact(const attach__task *task, uint64_t cpu_ns)
{
    return task->before_ns == cpu_ns && task->after_ns == cpu_ns;
}

static bool is_within(const attach__task *task, uint64_t cpu_ns)
{
    return task->before_ns <= cpu_ns && cpu_ns <= task->after_ns + TICK_NS;
}

/* Returns whether a task may be the thread. */
typedef bool (*match_fn)(const attach__task *task, const attach_thread *thread);

static bool exact_and_named(const attach__task *task, const attach_thread *thread)
{
    return is_exact(task, thread->cpu_ns) && fits(thread->name, task->name);
}

static bool within_and_named(const attach__task *task, const attach_thread *thread)
{
    return is_within(task, thread->cpu_ns) && fits(thread->name, task->name);
}

/* Matches by time alone: the main thread and threads attached by native code have other names in
 * the kernel. */
static bool telling_time(const attach__task *task, const attach_thread *thread)
{
    return thread->cpu_ns >= TELLING_NS && is_within(task, thread->cpu_ns);
}

static int by_cpu(const void *a, const void *b)
{
    const attach__task *left = a, *right = b;
    if (left->before_ns != right->before_ns)
        return left->before_ns < right->before_ns ? -1 : 1;
    return by_tid(a, b);
}

/* Returns the first task (sorted by before_ns) that has used at least that much. */
static size_t first_at(const attach__tasks *tasks, uint64_t cpu_ns)
{
    size_t low = 0, high = tasks->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (tasks->list[middle].before_ns < cpu_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the only task that matches, or NULL. Exact matches are adjacent; other matches may have
 * any lower time. */
static attach__task *only_task(attach__tasks *tasks, const attach_thread *thread, match_fn match,
                               bool exact)
{
    attach__task *found = NULL;
    for (size_t i = exact ? first_at(tasks, thread->cpu_ns) : 0; i < tasks->n; i++) {
        attach__task *task = &tasks->list[i];
        if (task->before_ns > thread->cpu_ns)
            break;
        if (task->taken || !match(task, thread))
            continue;
        if (found != NULL)
            return NULL;
        found = task;
    }
    return found;
}

static bool is_only_thread(const attach_threads *threads, const uint32_t *os_tids,
                           const attach__task *task, match_fn match, size_t self)
{
    for (size_t i = 0; i < attach_threads_count(threads); i++) {
        const attach_thread *thread = attach_threads_at(threads, i);
        if (i != self && os_tids[i] == 0 && thread->cpu_ns != ATTACH_THREADS_UNKNOWN &&
            match(task, thread))
            return false;
    }
    return true;
}

/* Joins by one rule. All pairs are found before any is assigned, so that their order does not
 * matter. */
static void join_by(uint32_t *os_tids, attach__tasks *tasks, const attach_threads *threads,
                    match_fn match, bool exact)
{
    size_t n = attach_threads_count(threads);
    attach__task **pairs = calloc(n + 1, sizeof(*pairs));
    for (size_t i = 0; pairs != NULL && i < n; i++) {
        const attach_thread *thread = attach_threads_at(threads, i);
        if (os_tids[i] != 0 || thread->cpu_ns == ATTACH_THREADS_UNKNOWN)
            continue;
        attach__task *task = only_task(tasks, thread, match, exact);
        if (task != NULL && is_only_thread(threads, os_tids, task, match, i))
            pairs[i] = task;
    }
    for (size_t i = 0; pairs != NULL && i < n; i++) {
        if (pairs[i] == NULL)
            continue;
        os_tids[i] = pairs[i]->tid;
        pairs[i]->taken = true;
    }
    free(pairs);
}

void attach__tasks_join(uint32_t *os_tids, attach__tasks *tasks, const attach_threads *threads)
{
    memset(os_tids, 0, attach_threads_count(threads) * sizeof(*os_tids));
    if (tasks->n == 0)
        return;
    qsort(tasks->list, tasks->n, sizeof(*tasks->list), by_cpu);
    join_by(os_tids, tasks, threads, exact_and_named, true);
    join_by(os_tids, tasks, threads, within_and_named, false);
    join_by(os_tids, tasks, threads, telling_time, false);
}
