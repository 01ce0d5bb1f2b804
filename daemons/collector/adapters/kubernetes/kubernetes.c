/* SPDX-License-Identifier: Apache-2.0 */
#include "kubernetes.h"

#include "client.h"
#include "sights_file.h"

#include <base/clock.h>
#include <base/log.h>
#include <base/thread.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { WATCH_SECONDS = 240 };

/* The connection and the thread for one kind of object. */
typedef struct follower {
    struct kubernetes *owner;
    client *http;
    watch *watch;
    pthread_t thread;
    bool is_running;
} follower;

struct kubernetes {
    char *state_dir;
    void (*changed)(void *context);
    void *context;
    pods *pods;
    follower followers[POD_KIND_END];
    atomic_bool is_ending;
    pthread_mutex_t lock; /* used with `end`, so that a wait ends at once */
    pthread_cond_t end;
};

/* ---- ports --------------------------------------------------------------------------------- */

static void get(void *context, const watch_request *request, watch_answer *out)
{
    const follower *self = context;
    client_get(self->http, request, out);
}

static bool wait_ms(void *context, uint64_t ms)
{
    const follower *from = context;
    kubernetes *self = from->owner;
    struct timespec until = thread_deadline(ms);
    int rc = 0;
    pthread_mutex_lock(&self->lock);
    while (!atomic_load(&self->is_ending) && ms > 0 && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&self->end, &self->lock, &until);
    pthread_mutex_unlock(&self->lock);
    return !atomic_load(&self->is_ending);
}

static uint64_t random_number(void *context)
{
    (void)context;
    uint64_t number = 0;
    while (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        continue;
    return number;
}

static bool is_ending(void *context)
{
    const follower *self = context;
    return atomic_load(&self->owner->is_ending);
}

static void note_changed(void *context)
{
    const kubernetes *self = context;
    self->changed(self->context);
}

static int save(void *context, const char *text, size_t length)
{
    const kubernetes *self = context;
    char message[512] = "";
    int rc = sights_file_write(self->state_dir, text, length, message, sizeof(message));
    if (rc != 0)
        log_line("kubernetes.state_dir: %s: a profile-for may run anew after a restart", message);
    return rc;
}

/* ---- start and stop ------------------------------------------------------------------------ */

static int make_url(char *out, size_t size, const char *given, char *message, size_t message_size)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    if (given[0] != '\0') {
        size_t length = strlen(given);
        (void)snprintf(out, size, "%.*s", (int)(length - (given[length - 1] == '/')), given);
        return 0;
    }
    if (host == NULL || port == NULL) {
        (void)snprintf(message, message_size,
                       "kubernetes.api_server is empty, and the environment lacks "
                       "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: not in a pod?");
        return -1;
    }
    bool is_v6 = strchr(host, ':') != NULL;
    (void)snprintf(out, size, "https://%s%s%s:%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
    return 0;
}

/* Loads the memory of an earlier run. A file that cannot be used is treated as missing, and the log
 * says so. */
static void remember(kubernetes *self)
{
    char *text = NULL;
    size_t length = 0;
    char message[512] = "";
    int rc = sights_file_read(self->state_dir, &text, &length, message, sizeof(message));
    if (rc == 0)
        rc = pods_remember(self->pods, text, length, message, sizeof(message));
    if (rc < 0)
        log_line("kubernetes.state_dir: %s: each profile-for that is there now counts as ended",
                 message);
    free(text);
}

static int make_follower(kubernetes *self, const kubernetes_options *options, enum pod_kind kind,
                         char *message, size_t size)
{
    follower *one = &self->followers[kind];
    char url[512] = "";
    if (make_url(url, sizeof(url), options->url, message, size) != 0)
        return -1;
    const client_options http = {.url = url,
                                 .token_file = options->token_file,
                                 .ca_file = options->ca_file,
                                 .user_agent = options->user_agent,
                                 .is_ending = is_ending,
                                 .context = one};
    const watch_ports ports = {
        .context = one, .get = get, .wait = wait_ms, .random = random_number, .log = log_message};
    watch_options following = {.kind = kind,
                               .event_bytes = options->event_bytes,
                               .page_bytes = options->page_bytes,
                               .backoff_min_ms = options->backoff_min_ms,
                               .backoff_max_ms = options->backoff_max_ms,
                               .watch_seconds = WATCH_SECONDS};
    (void)snprintf(following.node, sizeof(following.node), "%s", options->node);
    one->owner = self;
    one->http = client_new(&http, message, size);
    one->watch = one->http != NULL ? watch_new(&ports, &following, self->pods) : NULL;
    return one->watch != NULL ? 0 : -1;
}

static void *run(void *argument)
{
    const follower *self = argument;
    watch_run(self->watch);
    return NULL;
}

static int start_all(kubernetes *self, const kubernetes_options *options, char *message,
                     size_t size)
{
    for (enum pod_kind kind = 0; kind < POD_KIND_END; kind++) {
        if (kind == POD_KIND_NAMESPACE && options->pods.max_namespaces == 0)
            continue;
        if (make_follower(self, options, kind, message, size) != 0)
            return -1;
    }
    for (enum pod_kind kind = 0; kind < POD_KIND_END; kind++) {
        follower *one = &self->followers[kind];
        one->is_running = one->watch != NULL && pthread_create(&one->thread, NULL, run, one) == 0;
        if (one->watch != NULL && !one->is_running) {
            (void)snprintf(message, size, "cannot start a thread for the API server");
            return -1;
        }
    }
    return 0;
}

kubernetes *kubernetes_start(const kubernetes_options *options, char *message, size_t size)
{
    kubernetes *self = calloc(1, sizeof(*self));
    (void)snprintf(message, size, "out of memory");
    if (self == NULL)
        return NULL;
    pthread_mutex_init(&self->lock, NULL);
    thread_condition_init(&self->end);
    const pods_ports ports = {.context = self,
                              .now_ms = clock_unix_ms,
                              .log = log_message,
                              .changed = note_changed,
                              .save = save};
    self->changed = options->changed;
    self->context = options->context;
    self->state_dir = strdup(options->state_dir);
    self->pods = pods_new(&ports, &options->pods);
    if (self->state_dir != NULL && self->pods != NULL) {
        remember(self);
        if (start_all(self, options, message, size) == 0)
            return self;
    }
    kubernetes_stop(self);
    return NULL;
}

void kubernetes_stop(kubernetes *self)
{
    if (self == NULL)
        return;
    pthread_mutex_lock(&self->lock);
    atomic_store(&self->is_ending, true);
    pthread_cond_broadcast(&self->end);
    pthread_mutex_unlock(&self->lock);
    for (enum pod_kind kind = 0; kind < POD_KIND_END; kind++) {
        follower *one = &self->followers[kind];
        if (one->is_running)
            pthread_join(one->thread, NULL);
        watch_free(one->watch);
        client_free(one->http);
    }
    pods_free(self->pods);
    free(self->state_dir);
    pthread_cond_destroy(&self->end);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

pods *kubernetes_pods(const kubernetes *self)
{
    return self->pods;
}

watch_stats kubernetes_watch_stats(const kubernetes *self, enum pod_kind kind)
{
    const watch *of = self->followers[kind].watch;
    return of != NULL ? watch_get_stats(of) : (watch_stats){0};
}
