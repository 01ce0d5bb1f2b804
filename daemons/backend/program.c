/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <base/clock.h>
#include <base/log.h>

#include <config/watch.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.h"
#include "clickhouse.h"
#include "periodic.h"
#include "rollups.h"
#include "settings.h"
#include "writer.h"

enum { GRACE_MS = 10000, PREPARE_EVERY_MS = 2000, DAY = 86400000 };

struct program {
    const config *loaded; /* as read at the start */
    const config_section *values;
    const program_sources *sources;
    config_watch *watch; /* files of the settings in force; NULL: there are none to watch */
    clickhouse *store;
    bool store_complained;
    writer *writer;
    rollups rollups;
    periodic *roller;
    bool rollups_complained, figures_complained;
    reports reports;
    periodic *reporter;
    bool reports_complained;
    in_flight flights;
    known_stacks *known; /* NULL: no stacks are remembered */
    stack_cache *stacks; /* NULL: there is no cache */
    auth *auth;
    admission *admission;
    metrics *metrics;
    http_assets *assets;
    http_server *server;
    api api;
};

static void log_server(void *context, const char *message)
{
    (void)context;
    log_line("http: %s", message);
}

/* ---- the store ---- */

/* Returns a setting, or NULL if it is empty. */
static const char *optional(const config_section *values, const char *key)
{
    const char *value = config_string(values, key);

    return value[0] != '\0' ? value : NULL;
}

static bool is_name(const char *name)
{
    return name[0] != '\0' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_") == strlen(name) &&
           strlen(name) <= 64;
}

static int check_settings(const config_section *values)
{
    bool embedded = strcmp(config_string(values, "store.kind"), "embedded") == 0;

    if (!embedded && optional(values, "store.url") == NULL)
        log_line("store.kind is clickhouse, but store.url is empty: set it to "
                 "http://HOST:8123 (--store-url)");
    else if (!is_name(config_string(values, "store.database")))
        log_line("store.database may hold letters, digits and underscores only");
    else if (config_int(values, "ingest.queue") + config_int(values, "query.queue") >=
             config_int(values, "http.workers"))
        log_line("ingest.queue and query.queue together must be less than http.workers");
    else if (config_duration_ms(values, "retention") % DAY != 0)
        log_line("retention must be whole days: 1d to 7d");
    else
        return 0;
    return -1;
}

static int open_store(program *p)
{
    const config_section *v = p->values;
    bool embedded = strcmp(config_string(v, "store.kind"), "embedded") == 0;
    store_error err = {0};
    clickhouse_options options = {
        .url = embedded ? NULL : config_string(v, "store.url"),
        .user = optional(v, "store.user"),
        .password = optional(v, "store.password"),
        .ca_file = optional(v, "store.ca_file"),
        .database = config_string(v, "store.database"),
        .library = optional(v, "store.library"),
        .path = config_string(v, "data_dir"),
        .memory = config_bytes(v, "store.memory"),
        .retention_days = (unsigned)(config_duration_ms(v, "retention") / DAY),
        .readers = (unsigned)config_int(v, "query.connections"),
        .writers = (unsigned)config_int(v, "ingest.writers"),
        .query_ms = (uint32_t)config_duration_ms(v, "query.timeout"),
        .report_bytes = (size_t)config_bytes(v, "ingest.report_bytes"),
        .call_ms = (uint32_t)config_duration_ms(v, "store.timeout"),
        .metrics = p->metrics,
    };

    if (check_settings(v) != 0)
        return -1;
    if (embedded && mkdir(options.path, 0700) != 0 && errno != EEXIST) {
        log_line("cannot make the data directory %s: %s (--data-dir names another)", options.path,
                 strerror(errno));
        return -1;
    }
    if (clickhouse_open(&p->store, &options, &err) == 0)
        return 0;
    log_line("cannot open the store: %s", err.message);
    if (embedded)
        log_line("to use a ClickHouse server instead, set store.kind to clickhouse and "
                 "store.url to its address (--store-kind clickhouse --store-url "
                 "http://HOST:8123)");
    return -1;
}

/* Prepares a store that was down; called at intervals on the writer's thread. */
static void prepare_store(void *context)
{
    program *p = context;
    store_error err = {0};

    if (clickhouse_is_ready(p->store))
        return;
    if (clickhouse_prepare(p->store, &err) == 0) {
        log_line("the store is ready");
    } else if (!p->store_complained) {
        p->store_complained = true;
        log_line("the store is not ready, trying again: %s", err.message);
    }
}

/* Logs a failure once, until a success. */
static void complain(bool *complained, bool failed, const char *what, const store_error *err)
{
    if (failed && !*complained)
        log_line("%s: %s", what, err->message);
    *complained = failed;
}

/* Runs on the rollups' thread. */
static void maintain_store(void *context)
{
    program *p = context;
    store_error err = {0};

    if (!clickhouse_is_ready(p->store))
        return;
    complain(&p->rollups_complained, rollups_pass(&p->rollups, &err) != 0,
             "hourly sums are not made, queries read samples instead", &err);
    complain(&p->figures_complained, clickhouse_figures(p->store, &err) != 0,
             "the metrics of the store's tables cannot be read", &err);
}

static uint64_t random_number(void *context)
{
    uint64_t number = 0;

    (void)context;
    (void)!getrandom(&number, sizeof(number), 0);
    return number;
}

static int start_rollups(program *p)
{
    const config_section *v = p->values;
    rollup_options options = {
        .ops = &clickhouse_rollups,
        .self = p->store,
        .retention_ms = (uint64_t)config_duration_ms(v, "retention"),
        .grace_ms = (uint64_t)config_duration_ms(v, "rollups.grace"),
        .hours = (uint64_t)config_int(v, "rollups.hours"),
        .now_ms = clock_unix_ms,
        .random = random_number,
    };

    rollups_init(&p->rollups, &options);
    p->roller = periodic_start(maintain_store, p, (uint64_t)config_duration_ms(v, "rollups.every"));
    if (p->roller == NULL)
        log_line("cannot start the rollups' thread");
    return p->roller != NULL ? 0 : -1;
}

/* Runs on the reports' thread. */
static void flush_reports(void *context)
{
    program *p = context;
    store_error err = {0};

    if (!clickhouse_is_ready(p->store))
        return;
    complain(&p->reports_complained, reports_flush(&p->reports, &err) != 0,
             "reports of collectors wait, they cannot be written", &err);
}

static int start_reports(program *p)
{
    enum { WRITE_MS = 5000 }; /* a write takes milliseconds, except if the store hangs */
    const config_section *v = p->values;
    reports_options options = {
        .store = clickhouse_ports(p->store),
        .refused_rows = (size_t)config_int(v, "ingest.refused_rows"),
        .flush_interval_ms = (uint64_t)config_duration_ms(v, "ingest.flush_interval"),
        .batches_per_second = (uint64_t)config_int(v, "ingest.batches_per_second"),
        .silent_ms = (uint64_t)config_duration_ms(v, "status.silent_after"),
        .late_ms = WRITE_MS,
        .now_ms = clock_unix_ms,
    };

    if (reports_init(&p->reports, &options) == 0)
        p->reporter = periodic_start(flush_reports, p,
                                     (uint64_t)config_duration_ms(v, "ingest.reports_every"));
    if (p->reporter == NULL)
        log_line("cannot start the reports' thread");
    return p->reporter != NULL ? 0 : -1;
}

static bool store_ready(void *context)
{
    return clickhouse_is_ready(((program *)context)->store);
}

/* ---- the rest ---- */

static int make_auth(program *p, principals *tokens, const char *code)
{
    const config_section *v = p->values;
    auth_options who = {tokens, code, clock_unix_ms, NULL};

    p->auth = auth_new(&who);
    admission_options options = {
        .ops = &auth_authenticator,
        .self = p->auth,
        .kept = (size_t)config_int(v, "auth.kept"),
        .keep_ms = (uint64_t)config_duration_ms(v, "auth.kept_for"),
        .asking = (unsigned)config_int(v, "http.admitters") - 1,
        .now_ms = clock_unix_ms,
    };
    if (p->auth != NULL)
        p->admission = admission_new(&options);
    return p->admission != NULL ? 0 : -1;
}

static int read_tokens(program *p)
{
    config_error err = {0};
    char *code = NULL;
    principals *tokens = settings_tokens(p->values, &err);
    int rc = tokens != NULL ? settings_code(&code, p->values, &err) : -1;

    if (rc != 0)
        log_line("%s", err.message);
    else
        rc = make_auth(p, tokens, code);
    principals_release(tokens);
    if (code != NULL)
        explicit_bzero(code, strlen(code));
    free(code);
    p->watch = config_watch_open(p->loaded, true);
    return rc;
}

static void note_reload(program *p, bool applied)
{
    metrics_add(p->metrics, METRIC_RELOADS, applied ? "applied" : "refused", NULL, 1);
    metrics_set(p->metrics, METRIC_RELOAD_GOOD, NULL, applied);
}

/* Puts the tokens of new settings in force. Other settings need a restart. */
static void apply(program *p, const config *fresh, principals *tokens)
{
    const char *other = config_difference(p->loaded, fresh, "tokens");

    auth_replace(p->auth, tokens);
    admission_forget(p->admission);
    log_line("read the settings again: %zu tokens are in force", principals_count(tokens));
    if (other != NULL)
        log_line("the setting %s has changed, which takes a restart of hotstack-backend; of a "
                 "running one only the tokens change",
                 other);
}

/* Reads the settings again. Returns true when a file has changed since the last call. */
static bool reload(program *p)
{
    config *fresh = NULL;
    config_error err = {0};
    principals *tokens = NULL;
    bool again = false;

    if (config_load(&fresh, &backend_program, p->sources->argc, p->sources->argv, p->sources->envp,
                    &err) == 0)
        tokens = settings_tokens(config_values(fresh), &err);
    note_reload(p, tokens != NULL);
    if (tokens != NULL) {
        config_watch *before = p->watch;
        apply(p, fresh, tokens);
        p->watch = config_watch_open(fresh, true);
        again = config_watch_changed(before);
        config_watch_close(before);
    } else {
        log_line("the settings cannot be used, and the tokens before stay in force: %s",
                 err.message);
    }
    principals_release(tokens);
    config_free(fresh);
    return again;
}

/* Handles a signal. Returns true when the program must end. */
static bool take_signal(program *p, int signals)
{
    struct signalfd_siginfo got;

    if (read(signals, &got, sizeof(got)) != (ssize_t)sizeof(got))
        return false;
    if (got.ssi_signo != SIGHUP)
        return true;
    while (reload(p))
        continue;
    return false;
}

void program_run(program *p, int signals)
{
    bool ends = false;

    while (!ends) {
        struct pollfd on[] = {{.fd = signals, .events = POLLIN},
                              {.fd = config_watch_fd(p->watch), .events = POLLIN}};
        if (poll(on, 2, -1) <= 0)
            continue;
        if ((on[0].revents & POLLIN) != 0)
            ends = take_signal(p, signals);
        else if (config_watch_changed(p->watch))
            while (reload(p))
                continue;
    }
}

static int load_assets(program *p)
{
    const char *chosen = optional(p->values, "ui.dir");
    const char *directory = chosen != NULL ? chosen : BACKEND_UI_DIR;
    http_error err = {0};

    if (chosen == NULL && access(directory, F_OK) != 0) {
        log_line("no page is served: %s is absent (--ui-dir names another)", directory);
        return 0;
    }
    if (http_assets_load(&p->assets, directory, &err) == 0)
        return 0;
    log_line("%s", err.message);
    return -1;
}

static void fill_api(program *p)
{
    /* A collector is not silent if only one or two reports are late. */
    enum { REPORTS_PER_SILENCE = 3 };
    const config_section *v = p->values;
    store port = clickhouse_ports(p->store);
    ingest_limits limits = LIMITS_INIT;

    limits.compressed_bytes = config_bytes(v, "limits.compressed_bytes");
    limits.payload_bytes = config_bytes(v, "limits.payload_bytes");
    limits.rows_per_batch = (uint64_t)config_int(v, "limits.rows_per_batch");
    limits.frames_per_stack = (uint64_t)config_int(v, "limits.frames_per_stack");
    limits.flush_interval_ms = (uint64_t)config_duration_ms(v, "ingest.flush_interval");
    limits.report_interval_ms =
        (uint64_t)config_duration_ms(v, "status.silent_after") / REPORTS_PER_SILENCE;
    limits.retention_ms = (uint64_t)config_duration_ms(v, "retention");
    p->api = (api){
        .ingest = {.store = port,
                   .writer = &writer_port,
                   .writer_self = p->writer,
                   .known = p->known,
                   .flights = &p->flights,
                   .reports = &p->reports,
                   .limits = limits,
                   .now_ms = clock_unix_ms},
        .query = {.store = port,
                  .stacks = p->stacks,
                  .retention_ms = limits.retention_ms,
                  .silent_ms = (uint64_t)config_duration_ms(v, "status.silent_after"),
                  .now_ms = clock_unix_ms},
        .auth = p->auth,
        .admission = p->admission,
        .metrics = p->metrics,
        .assets = p->assets,
        .rollups = &p->rollups,
        .secure_cookie = config_bool(v, "ui.https"),
        .store_ready = store_ready,
        .store_context = p,
        .batches = {.most = (size_t)config_int(v, "ingest.queue")},
        .queries = {.most = (size_t)config_int(v, "query.queue")},
    };
    api_init(&p->api);
}

static int start_server(program *p)
{
    const config_section *v = p->values;
    http_server_options options = HTTP_SERVER_OPTIONS_INIT;
    config_error problem = {0};
    http_error err = {0};
    char host[64];

    if (settings_listen(v, host, &options.port, &problem) != 0) {
        log_line("%s", problem.message);
        return -1;
    }
    options.address = host;
    options.routes = p->api.routes;
    options.route_count = p->api.route_count;
    options.connections = (uint32_t)config_int(v, "http.connections");
    options.connections_per_address = (uint32_t)config_int(v, "http.connections_per_address");
    options.admitters = (uint32_t)config_int(v, "http.admitters");
    options.workers = (uint32_t)config_int(v, "http.workers");
    options.body_bytes_total = config_bytes(v, "http.body_bytes");
    options.chunked_bytes = 2 * config_bytes(v, "limits.compressed_bytes");
    options.log = log_server;
    if (http_server_start(&p->server, &options, &err) != 0) {
        log_line("%s (--listen names another address)", err.message);
        return -1;
    }
    atomic_store(&p->api.server, p->server);
    log_line("serving on %s port %u", host, http_server_port(p->server));
    return 0;
}

/* Writes the port to a temporary file and renames it, so that a reader never sees half a number. */
static int write_port_file(const program *p)
{
    const char *path = config_string(p->values, "port_file");
    char beside[4096];

    if (path[0] == '\0')
        return 0;
    snprintf(beside, sizeof(beside), "%s.new", path);
    FILE *to = fopen(beside, "we");
    bool good = to != NULL && fprintf(to, "%u\n", http_server_port(p->server)) > 0;
    good = to != NULL && fclose(to) == 0 && good && rename(beside, path) == 0;
    if (!good)
        log_line("cannot write the port file %s: %s", path, strerror(errno));
    return good ? 0 : -1;
}

static int make_known_stacks(program *p)
{
    int64_t most = config_int(p->values, "ingest.known_stacks");

    if (most == 0)
        return 0;
    p->known = known_stacks_new((size_t)most,
                                (uint64_t)config_duration_ms(p->values, "ingest.known_stacks_for"));
    if (p->known == NULL)
        log_line("no memory for ingest.known_stacks");
    return p->known != NULL ? 0 : -1;
}

static int make_stack_cache(program *p)
{
    uint64_t bytes = config_bytes(p->values, "query.stacks");

    if (bytes == 0)
        return 0;
    p->stacks = stack_cache_new((size_t)bytes);
    if (p->stacks == NULL)
        log_line("no memory for query.stacks");
    return p->stacks != NULL ? 0 : -1;
}

static int start_writer(program *p)
{
    p->writer = writer_start((int)config_int(p->values, "ingest.queue"),
                             (unsigned)config_int(p->values, "ingest.writers"), prepare_store, p,
                             PREPARE_EVERY_MS);
    if (p->writer == NULL)
        log_line("cannot start the writer's threads");
    return p->writer != NULL ? 0 : -1;
}

static metrics *make_metrics(void)
{
    metrics *made = metrics_new();

    if (made != NULL) {
        metrics_set(made, METRIC_BUILD_INFO, BACKEND_VERSION, 1);
        metrics_set(made, METRIC_RELOAD_GOOD, NULL, 1);
    }
    return made;
}

program *program_start(const config *settings, const program_sources *sources)
{
    program *p = calloc(1, sizeof(*p));

    if (p == NULL)
        return NULL;
    pthread_mutex_init(&p->flights.lock, NULL);
    p->loaded = settings;
    p->sources = sources;
    p->values = config_values(settings);
    p->metrics = make_metrics();
    if (p->metrics == NULL || read_tokens(p) != 0 || load_assets(p) != 0 || open_store(p) != 0 ||
        make_known_stacks(p) != 0 || make_stack_cache(p) != 0 || start_writer(p) != 0 ||
        start_rollups(p) != 0 || start_reports(p) != 0) {
        program_stop(p);
        return NULL;
    }
    fill_api(p);
    if (start_server(p) != 0 || write_port_file(p) != 0) {
        program_stop(p);
        return NULL;
    }
    return p;
}

void program_stop(program *p)
{
    if (p == NULL)
        return;
    http_server_stop(p->server, GRACE_MS);
    periodic_stop(p->roller);
    periodic_stop(p->reporter);
    if (p->reporter != NULL)
        flush_reports(p);
    reports_destroy(&p->reports);
    writer_stop(p->writer);
    clickhouse_close(p->store);
    known_stacks_free(p->known);
    stack_cache_free(p->stacks);
    pthread_mutex_destroy(&p->flights.lock);
    http_assets_free(p->assets);
    admission_free(p->admission);
    auth_free(p->auth);
    config_watch_close(p->watch);
    metrics_free(p->metrics);
    free(p);
}
