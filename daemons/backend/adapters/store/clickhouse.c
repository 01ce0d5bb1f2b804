/* SPDX-License-Identifier: Apache-2.0 */
#include "clickhouse_impl.h"

#include <base/thread.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "migrate.h"
#include "read.h"

store clickhouse_ports(clickhouse *c)
{
    static const batch_port batches = {
        .find_batch = clickhouse__find_batch,
        .find_stacks = clickhouse__find_stacks,
        .write_batch = clickhouse__write_batch,
    };
    static const profile_port profiles = {
        .read_services = clickhouse__read_services,
        .read_types = clickhouse__read_types,
        .read_pools = clickhouse__read_pools,
        .read_sums = clickhouse__read_sums,
        .read_timeline = clickhouse__read_timeline,
        .read_fresh = clickhouse__read_fresh,
        .read_frames = clickhouse__read_frames,
    };
    static const status_port status = {
        .read_targets = clickhouse__read_targets,
        .read_history = clickhouse__read_history,
    };
    static const thread_port threads = {
        .read_sources = clickhouse__read_sources,
        .read_threads = clickhouse__read_threads,
        .read_sightings = clickhouse__read_sightings,
    };

    return (store){.batches = &batches,
                   .reports = &clickhouse_reports,
                   .profiles = &profiles,
                   .status = &status,
                   .threads = &threads,
                   .ingestion = &clickhouse_ingestion,
                   .self = c};
}

/* Limits of every read, besides its time: a query must not slow down other users of the server. */
static const chs_setting read_settings[] = {
    {"max_threads", "4"},
    {"max_memory_usage", "2147483648"},
};

/* A server's profile may have disabled insert tokens. The second setting overrides the first; it is
 * new in ClickHouse 26.2, and a server that does not know it refuses it. */
static const chs_setting write_settings[] = {
    {"insert_deduplicate", "1"},
    {"deduplicate_insert", "enable"},
};

typedef struct purpose {
    bool readonly;
    const chs_setting *settings;
    size_t setting_count;
} purpose;

static const purpose to_prepare = {.readonly = false};
static const purpose to_read = {true, read_settings,
                                sizeof(read_settings) / sizeof(read_settings[0])};

static int open_http(chs_transport **out, const clickhouse_options *o, const char *database,
                     const purpose *to, chs_error *err)
{
    chs_http_options http = CHS_HTTP_OPTIONS_INIT;

    http.url = o->url;
    http.database = database;
    http.user = o->user;
    http.password = o->password;
    http.ca_file = o->ca_file;
    http.timeout_ms = o->call_ms;
    http.settings = to->settings;
    http.setting_count = to->setting_count;
    return chs_http_open(out, &http, err);
}

static int open_embedded(chs_transport **out, const clickhouse_options *o, const char *database,
                         const purpose *to, chs_error *err)
{
    chs_embedded_options embedded = CHS_EMBEDDED_OPTIONS_INIT;

    embedded.library = o->library;
    embedded.path = o->path;
    embedded.database = database;
    embedded.readonly = to->readonly ? 1 : 0;
    embedded.max_server_memory_usage = o->memory;
    embedded.timeout_ms = o->call_ms;
    embedded.settings = to->settings;
    embedded.setting_count = to->setting_count;
    return chs_embedded_open(out, &embedded, err);
}

static int open_transport(chs_transport **out, const clickhouse_options *o, const char *database,
                          const purpose *to, store_error *err)
{
    chs_error failure = {0};
    int rc = o->url != NULL ? open_http(out, o, database, to, &failure)
                            : open_embedded(out, o, database, to, &failure);

    if (rc == 0)
        return 0;
    failure.code = rc;
    return sql_error(err, &failure);
}

int clickhouse_open(clickhouse **out, const clickhouse_options *options, store_error *err)
{
    *out = NULL;
    clickhouse *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return sql_fail(err, STORE_ERR_UNAVAILABLE, "No memory for the store.");
    c->options = *options;
    pthread_mutex_init(&c->lock, NULL);
    thread_condition_init(&c->returned);
    c->readers.wait_ms = options->query_ms;
    c->writers.wait_ms = options->call_ms;
    sql_fail(&c->problem, STORE_ERR_UNAVAILABLE, "The store has not answered yet.");
    c->reports = clickhouse__gather(options->report_bytes);
    int rc = c->reports != NULL
                 ? open_transport(&c->maintainer, options, options->database, &to_prepare, err)
                 : sql_fail(err, STORE_ERR_UNAVAILABLE, "No memory for the store.");
    if (rc != 0) {
        clickhouse_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

void clickhouse_close(clickhouse *c)
{
    if (c == NULL)
        return;
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        chs_transport_close(c->readers.all[i]);
        chs_transport_close(c->writers.all[i]);
    }
    chs_transport_close(c->maintainer);
    clickhouse__gathered_free(c->reports);
    pthread_cond_destroy(&c->returned);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* Creates the database over a connection of its own, because a server refuses a connection that
 * names a missing database. */
static int make_database(clickhouse *c, store_error *err)
{
    chs_transport *transport = NULL;
    chs_error failure = {0};
    char sql[256];

    int rc = open_transport(&transport, &c->options, "default", &to_prepare, err);
    if (rc != 0)
        return rc;
    /* The configuration has checked the name: letters, digits and underscores. */
    snprintf(sql, sizeof(sql), "CREATE DATABASE IF NOT EXISTS %s", c->options.database);
    rc = chs_exec(transport, sql, NULL, &failure);
    chs_transport_close(transport);
    failure.code = rc;
    return rc == 0 ? 0 : sql_error(err, &failure);
}

/* Chooses those of write_settings that the server knows. */
static int choose_writers(clickhouse *c, purpose *to, store_error *err)
{
    uint64_t known = 0;
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT count() AS found FROM system.settings WHERE name = 'deduplicate_insert'");
    int rc = sql_query(&s, c->maintainer, 0, read_found, &known, err);
    sql_end(&s);
    *to = (purpose){false, write_settings, known > 0 ? 2 : 1};
    return rc;
}

static int open_all(clickhouse *c, connections *to, unsigned count, const purpose *what,
                    store_error *err)
{
    int rc = 0;

    count = count < CONNECTIONS_MAX ? count : CONNECTIONS_MAX;
    for (unsigned i = 0; i < count && rc == 0; i++) {
        if (to->all[i] == NULL)
            rc = open_transport(&to->all[i], &c->options, c->options.database, what, err);
    }
    return rc;
}

/* Migrates, and tells a user whose store is refused how to empty it. */
static int bring_to_schema(clickhouse *c, store_error *err)
{
    const clickhouse_options *o = &c->options;
    char emptying[256];

    if (o->url != NULL)
        snprintf(emptying, sizeof(emptying), "clickhouse-client --query 'DROP DATABASE %s'",
                 o->database);
    else
        snprintf(emptying, sizeof(emptying), "rm -r '%s'", o->path);
    return migrate(c->maintainer, o->retention_days, emptying, err);
}

int clickhouse_prepare(clickhouse *c, store_error *err)
{
    purpose to_write;

    if (atomic_load(&c->ready))
        return 0;
    int rc = make_database(c, err);
    if (rc == 0)
        rc = bring_to_schema(c, err);
    if (rc == 0)
        rc = choose_writers(c, &to_write, err);
    pthread_mutex_lock(&c->lock);
    if (rc == 0)
        rc = open_all(c, &c->readers, c->options.readers, &to_read, err);
    if (rc == 0)
        rc = open_all(c, &c->writers, c->options.writers, &to_write, err);
    if (rc != 0)
        c->problem = *err;
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->ready, rc == 0);
    return rc;
}

bool clickhouse_is_ready(const clickhouse *c)
{
    return atomic_load(&c->ready);
}

int clickhouse__check_ready(clickhouse *c, store_error *err)
{
    if (atomic_load(&c->ready))
        return 0;
    pthread_mutex_lock(&c->lock);
    *err = c->problem;
    pthread_mutex_unlock(&c->lock);
    err->code = STORE_ERR_UNAVAILABLE;
    return STORE_ERR_UNAVAILABLE;
}

/* Returns a free connection; NULL: there is none. With the lock held. */
static chs_transport *find_free(connections *from)
{
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        if (from->all[i] != NULL && !from->taken[i]) {
            from->taken[i] = true;
            return from->all[i];
        }
    }
    return NULL;
}

chs_transport *clickhouse__take(clickhouse *c, connections *from, store_error *err)
{
    const struct timespec deadline = thread_deadline(from->wait_ms);
    int rc = 0;

    if (clickhouse__check_ready(c, err) != 0)
        return NULL;
    pthread_mutex_lock(&c->lock);
    chs_transport *found = find_free(from);
    while (found == NULL && rc == 0) {
        rc = pthread_cond_timedwait(&c->returned, &c->lock, &deadline);
        found = find_free(from);
    }
    pthread_mutex_unlock(&c->lock);
    err->code = 0;
    if (found == NULL)
        sql_fail(err, STORE_ERR_BUSY, "All connections to the store are waiting for its answers.");
    return found;
}

void clickhouse__give(clickhouse *c, connections *to, const chs_transport *one)
{
    pthread_mutex_lock(&c->lock);
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        if (to->all[i] == one)
            to->taken[i] = false;
    }
    pthread_cond_broadcast(&c->returned);
    pthread_mutex_unlock(&c->lock);
}
