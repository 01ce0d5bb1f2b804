/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include "adapters/queue/file_queue.h"
#include "program_impl.h"
#include "settings.h"

#include <base/clock.h>
#include <base/log.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static int make_contract(program *self)
{
    const config_section *settings = self->settings;
    const char *node = config_string(settings, "node");
    const char *instance = config_string(settings, "instance");
    if (node[0] != '\0')
        (void)snprintf(self->node, sizeof(self->node), "%s", node);
    else if (gethostname(self->node, sizeof(self->node) - 1) != 0)
        (void)snprintf(self->node, sizeof(self->node), "localhost");
    const wire_sender sender = {
        .cluster = config_string(settings, "cluster"),
        .node = self->node,
        .instance = instance[0] != '\0' ? instance : self->node,
        .version = HOTSTACK_VERSION,
        .run_id = program__random(NULL),
    };
    self->contract = wire_new(&sender);
    return self->contract != NULL ? 0 : -1;
}

static int make_transport(program *self, char *message, size_t size)
{
    const config_section *settings = self->settings;
    const transport_options options = {
        .url = config_string(settings, "backend.url"),
        .token = config_string(settings, "backend.token"),
        .token_file = config_secret_file(settings, "backend.token"),
        .ca_file = config_string(settings, "backend.ca_file"),
        .user_agent = "hotstack-collector/" HOTSTACK_VERSION,
        .timeout_ms = (long)config_duration_ms(settings, "backend.timeout"),
    };
    self->http = transport_new(&options, message, size);
    return self->http != NULL ? 0 : -1;
}

static int make_core(program *self)
{
    const config_section *settings = self->settings;
    self->recordings = (reader){
        .max_stacks = (uint32_t)config_int(settings, "limits.stacks"),
        .max_threads = (uint32_t)config_int(settings, "limits.threads"),
        .max_bytes = config_bytes(settings, "limits.parse_bytes"),
        .max_events = (uint64_t)config_int(settings, "limits.events"),
        .keep_dir = config_string(settings, "debug.keep_recordings"),
        .stop = &self->stop_reading,
    };
    const collector_ports core = program__core_ports(self);
    const uploader_ports uploads = program__upload_ports(self);
    const collector_options core_options = settings_collector(settings);
    const uploader_options upload_options = settings_uploader(settings);
    self->uploads = uploader_new(&uploads, &upload_options, self->queued);
    self->core = collector_new(&core, &core_options, self->rules, self->queued);
    self->running = jobs_new();
    self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return self->uploads != NULL && self->core != NULL && self->running != NULL && self->wake >= 0
               ? 0
               : -1;
}

static int open_ledger(program *self, char *message, size_t size)
{
    const char *path = config_string(self->settings, "debug.ledger");
    if (path[0] == '\0')
        return 0;
    self->ledger = fopen(path, "ae");
    if (self->ledger == NULL)
        (void)snprintf(message, size, "debug.ledger: cannot open %.200s: %s", path,
                       strerror(errno));
    return self->ledger != NULL ? 0 : -1;
}

static int start_pages(program *self, char *message, size_t size)
{
    int64_t port = config_int(self->settings, "listen.port");
    if (port == 0)
        return 0;
    return web_start(&self->pages, config_string(self->settings, "listen.address"), (uint16_t)port,
                     config_string(self->settings, "listen.token"), &self->shown, message, size);
}

/* Makes the path of the status socket: beside the queue, whose directory only this collector uses,
 * unless a setting names one. */
static void status_path(const program *self, char *out, size_t size)
{
    const char *set = config_string(self->settings, "socket");
    const char *dir = config_string(self->settings, "queue.dir");
    const char *slash = strrchr(dir, '/');
    int above = slash != NULL ? (int)(slash - dir) : 0;
    if (set[0] != '\0')
        (void)snprintf(out, size, "%s", set);
    else
        (void)snprintf(out, size, "%.*s/collector.sock", above, dir);
}

/* Opens the status socket. Without it the collector still works, and the log says why it has
 * none. */
static void start_status(program *self)
{
    char path[512], message[256] = "";
    const char *instance = config_string(self->settings, "instance");
    const status_about about = {.cluster = config_string(self->settings, "cluster"),
                                .node = self->node,
                                .instance = instance[0] != '\0' ? instance : self->node,
                                .version = HOTSTACK_VERSION,
                                .backend_url = config_string(self->settings, "backend.url"),
                                .started_ms = clock_unix_ms(NULL),
                                .lacks = self->sources.lacks,
                                .lack_count = self->sources.lack_count};
    status_path(self, path, sizeof(path));
    if (status_socket_start(&self->status, path, &self->shown, &about, message, sizeof(message)) !=
        0)
        log_line("hotstack collector status cannot ask this collector: %s", message);
}

static int start_listeners(program *self, char *message, size_t size)
{
    self->shown = (shown_sources){.node = self->node,
                                  .core = self->core,
                                  .uploads = self->uploads,
                                  .queued = self->queued,
                                  .http = self->http,
                                  .kubernetes = self->pods};
    int rc = start_pages(self, message, size);
    if (rc == 0)
        start_status(self);
    return rc;
}

static void policy_changed(void *context)
{
    const program *self = context;
    collector_policy_changed(self->core);
}

static int start_kubernetes(program *self, const config *loaded, char *message, size_t size)
{
    const config_section *settings = self->settings;
    kubernetes_options options = {
        .url = config_string(settings, "kubernetes.api_server"),
        .token_file = config_string(settings, "kubernetes.token_file"),
        .ca_file = config_string(settings, "kubernetes.ca_file"),
        .node = self->node,
        .user_agent = "hotstack-collector/" HOTSTACK_VERSION,
        .state_dir = config_string(settings, "kubernetes.state_dir"),
        .event_bytes = config_bytes(settings, "limits.api_event_bytes"),
        .page_bytes = config_bytes(settings, "limits.api_page_bytes"),
        .backoff_min_ms = 500,
        .backoff_max_ms = 30000,
        .changed = policy_changed,
        .context = self,
    };
    if (!config_bool(settings, "kubernetes.enabled"))
        return 0;
    if (settings_pods(loaded, &options.pods, message, size) != 0)
        return -1;
    self->pods = kubernetes_start(&options, message, size);
    return self->pods != NULL ? 0 : -1;
}

program *program_new(const config *loaded, const program_sources *sources, char *message,
                     size_t size)
{
    program *self = calloc(1, sizeof(*self));
    (void)snprintf(message, size, "out of memory, or no more threads");
    if (self == NULL)
        return NULL;
    self->loaded = loaded;
    self->sources = *sources;
    self->files = config_watch_open(loaded, true);
    self->settings = config_values(loaded);
    self->wake = -1;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&self->upload_wake, &steady);
    pthread_condattr_destroy(&steady);
    sem_init(&self->parsers, 0, (unsigned)config_int(self->settings, "workers"));
    localrpc_error err = {0};
    self->rules = settings_rules(loaded, message, size);
    int rc = self->rules != NULL ? 0 : -1;
    if (rc == 0)
        rc = file_queue_open(&self->queued, config_string(self->settings, "queue.dir"),
                             config_bytes(self->settings, "limits.queue_bytes"),
                             (uint64_t)config_int(self->settings, "limits.queue_batches"), message,
                             size);
    if (rc == 0) {
        rc = localrpc_client_open(&self->attachd, config_string(self->settings, "attachd.socket"),
                                  LOCALRPC_ATTACHD, &err);
        if (rc != 0)
            (void)snprintf(message, size, "attachd.socket: %s", err.message);
    }
    if (rc == 0)
        rc = make_contract(self);
    if (rc == 0)
        rc = make_transport(self, message, size);
    if (rc == 0)
        rc = open_ledger(self, message, size);
    if (rc == 0)
        rc = make_core(self);
    if (rc == 0)
        rc = start_kubernetes(self, loaded, message, size);
    if (rc == 0)
        rc = start_listeners(self, message, size);
    if (rc == 0)
        return self;
    program_free(self);
    return NULL;
}

void program_free(program *self)
{
    if (self == NULL)
        return;
    status_socket_stop(self->status);
    web_stop(self->pages);
    kubernetes_stop(self->pods);
    jobs_free(self->running);
    collector_free(self->core);
    uploader_free(self->uploads);
    transport_free(self->http);
    wire_free(self->contract);
    localrpc_client_close(self->attachd);
    file_queue_close(self->queued);
    rule_set_free(self->rules);
    if (self->ledger != NULL)
        (void)fclose(self->ledger);
    config_watch_close(self->files);
    if (self->wake >= 0)
        close(self->wake);
    sem_destroy(&self->parsers);
    pthread_cond_destroy(&self->upload_wake);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Waits until `until_ms` of the monotonic clock, or until an upload is asked for. Returns false at
 * the end, when the queue is empty or time is up. */
static bool wait_for_upload(program *self, uint64_t until_ms)
{
    struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                             .tv_nsec = (long)(until_ms % 1000) * 1000000};
    int rc = 0;
    pthread_mutex_lock(&self->lock);
    bool more = !self->ending || uploader_has_work(self->uploads);
    while (more && !self->upload_asked && !self->ended && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&self->upload_wake, &self->lock, &until);
    self->upload_asked = false;
    bool ended = self->ended;
    pthread_mutex_unlock(&self->lock);
    return more && !ended;
}

static void *upload(void *argument)
{
    program *self = argument;
    uint64_t next = 0;
    do
        next = uploader_step(self->uploads);
    while (wait_for_upload(self, next));
    return NULL;
}

static void apply(program *self, const config *fresh, const rule_set *rules)
{
    char message[128] = "";
    const config_section *values = config_values(fresh);
    collector_set_rules(self->core, rules);
    log_line("read the configuration again: %zu rules", config_rule_count(values, "rules"));
    if (self->pages != NULL && web_set_token(self->pages, config_string(values, "listen.token"),
                                             message, sizeof(message)) != 0)
        log_line("%s; the one before stays in force", message);
    const char *other = config_difference(self->loaded, fresh, "rules");
    if (other != NULL)
        log_line("the setting %s has changed, which takes a restart of hotstack-collector; of a "
                 "running one only the rules and the tokens change",
                 other);
}

/* Reads the configuration again. The rules and the listener's token apply at once; the transport
 * reads the backend's token itself; other settings need a restart. Returns true if a file has
 * changed during the call. */
static bool read_again(program *self)
{
    config *fresh = NULL;
    config_error err = {0};
    rule_set *rules = NULL;
    if (config_load(&fresh, &collector_program, self->sources.argc, self->sources.argv,
                    self->sources.envp, &err) == 0)
        rules = settings_rules(fresh, err.message, sizeof(err.message));
    if (rules == NULL) {
        log_line("the configuration cannot be used, and the one before stays in force: %s",
                 err.message);
        config_free(fresh);
        return false;
    }
    apply(self, fresh, rules);
    rule_set_free(self->rules);
    self->rules = rules;
    config_watch *before = self->files;
    self->files = config_watch_open(fresh, true);
    bool again = config_watch_changed(before);
    config_watch_close(before);
    config_free(fresh);
    return again;
}

static void reload(program *self)
{
    while (read_again(self))
        continue;
}

/* Whether the signal asks the program to end. */
static bool is_end(program *self, int signals)
{
    struct signalfd_siginfo got;
    if (read(signals, &got, sizeof(got)) != (ssize_t)sizeof(got))
        return false;
    if (got.ssi_signo != SIGHUP)
        return true;
    reload(self);
    return false;
}

/* Ticks until a signal asks for the end. */
static void schedule(program *self, int signals)
{
    for (;;) {
        uint64_t next = collector_tick(self->core);
        uint64_t now = clock_unix_ms(NULL);
        int wait = next > now ? (int)(next - now < 60000 ? next - now : 60000) : 0;
        struct pollfd on[] = {{.fd = signals, .events = POLLIN},
                              {.fd = self->wake, .events = POLLIN},
                              {.fd = config_watch_fd(self->files), .events = POLLIN}};
        eventfd_t ignored;
        int ready = poll(on, 3, wait);
        if (ready > 0 && (on[0].revents & POLLIN) != 0 && is_end(self, signals))
            return;
        if (ready > 0 && (on[2].revents & POLLIN) != 0 && config_watch_changed(self->files))
            reload(self);
        (void)eventfd_read(self->wake, &ignored);
    }
}

/* Waits for jobs at the end. Past a deadline the readers of windows are told to stop. */
static void idle(void *context)
{
    program *self = context;
    enum { NAP_NS = 10000000 };
    const struct timespec nap = {.tv_nsec = NAP_NS};
    if (clock_unix_ms(NULL) >= self->read_until_ms)
        atomic_store(&self->stop_reading, true);
    (void)nanosleep(&nap, NULL);
}

static void set_ending(program *self, bool ended)
{
    pthread_mutex_lock(&self->lock);
    self->ending = true;
    self->ended = ended;
    self->upload_asked = true; /* step at once: the last batches are waiting */
    pthread_cond_signal(&self->upload_wake);
    pthread_mutex_unlock(&self->lock);
}

static void end_uploads(program *self, pthread_t thread)
{
    uint64_t grace = (uint64_t)config_duration_ms(self->settings, "upload.grace");
    uint64_t until = clock_unix_ms(NULL) + grace;
    struct timespec deadline = {.tv_sec = (time_t)(until / 1000),
                                .tv_nsec = (long)(until % 1000) * 1000000};
    set_ending(self, false);
    if (pthread_timedjoin_np(thread, NULL, &deadline) == 0)
        return;
    transport_abort(self->http);
    set_ending(self, true);
    pthread_join(thread, NULL);
}

int program_run(program *self, int signals, char *message, size_t size)
{
    pthread_t uploads;
    int rc = pthread_create(&uploads, NULL, upload, self);
    if (rc != 0) {
        (void)snprintf(message, size, "cannot start a thread: %s", strerror(rc));
        return -1;
    }
    schedule(self, signals);
    self->read_until_ms =
        clock_unix_ms(NULL) + (uint64_t)config_duration_ms(self->settings, "session.read_grace");
    collector_finish(self->core, config_bool(self->settings, "session.leave"), idle, self);
    end_uploads(self, uploads);
    return 0;
}
