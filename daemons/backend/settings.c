/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include "reports/reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const store_kinds[] = {"embedded", "clickhouse", NULL};
static const char *const roles[] = {"collector", "user", NULL};

static const config_field token_fields[] = {
    {.key = "name", .type = CONFIG_STRING, .flags = CONFIG_REQUIRED, .help = "Who holds it."},
    {.key = "role",
     .type = CONFIG_STRING,
     .flags = CONFIG_REQUIRED,
     .choices = roles,
     .help = "collector may send data, user may read it."},
    {.key = "token",
     .type = CONFIG_STRING,
     .flags = CONFIG_SECRET | CONFIG_REQUIRED,
     .help = "The token, 16 to 512 characters. Two rules of one name: both tokens are valid."},
    {.key = "clusters", .type = CONFIG_LIST, .help = "Empty: all."},
    {.key = "namespaces", .type = CONFIG_LIST, .help = "Empty: all. For users only."},
    {.key = "workloads", .type = CONFIG_LIST, .help = "Empty: all. For users only."},
};

static const config_field fields[] = {
    {.key = "listen",
     .type = CONFIG_STRING,
     .fallback = "127.0.0.1:7700",
     .help = "Address and port to serve on; port 0 takes a free one. IPv6 in brackets."},
    {.key = "port_file",
     .type = CONFIG_STRING,
     .help = "File that gets the port's number once calls are taken."},
    {.key = "data_dir",
     .type = CONFIG_STRING,
     .fallback = "/var/lib/hotstack",
     .help = "Directory of the embedded store."},
    {.key = "store.kind",
     .type = CONFIG_STRING,
     .fallback = "embedded",
     .choices = store_kinds,
     .help = "embedded: ClickHouse's engine in this process, from libchdb.so. clickhouse: a server "
             "at store.url."},
    {.key = "store.url",
     .type = CONFIG_STRING,
     .help = "http://host:8123 or https, with store.kind clickhouse."},
    {.key = "store.user", .type = CONFIG_STRING, .help = "User of the ClickHouse server."},
    {.key = "store.password",
     .type = CONFIG_STRING,
     .flags = CONFIG_SECRET,
     .help = "Its password."},
    {.key = "store.ca_file",
     .type = CONFIG_STRING,
     .help = "PEM file of authorities for https; empty: the system's."},
    {.key = "store.database",
     .type = CONFIG_STRING,
     .fallback = "hotstack",
     .help = "Database to use; made where it is absent. Letters, digits and underscores."},
    {.key = "store.library",
     .type = CONFIG_STRING,
     .help = "Path of libchdb.so; empty: HOTSTACK_LIBCHDB, then the install directory."},
    {.key = "store.memory",
     .type = CONFIG_BYTES,
     .fallback = "1g",
     .min = 256 << 20,
     .help = "Most memory that the embedded engine takes for itself."},
    {.key = "store.timeout",
     .type = CONFIG_DURATION,
     .fallback = "30s",
     .min = 100,
     .max = 600000,
     .help = "How long the store may take for one insert, or for a question behind one. Then the "
             "batch is put off."},
    {.key = "retention",
     .type = CONFIG_DURATION,
     .fallback = "7d",
     .min = 86400000,
     .max = 7 * 86400000,
     .help = "How long profiles are kept: whole days."},
    {.key = "ui.dir",
     .type = CONFIG_STRING,
     .help = "Directory of the page's files; empty: share/hotstack/ui where the program is "
             "installed, and no page when that is absent."},
    {.key = "ui.https",
     .type = CONFIG_BOOL,
     .help = "The page is reached by https: mark its cookie Secure."},
    {.key = "auth.collector_token",
     .type = CONFIG_STRING,
     .flags = CONFIG_SECRET,
     .help = "Token of collectors, for all clusters."},
    {.key = "auth.collector_token_previous",
     .type = CONFIG_STRING,
     .flags = CONFIG_SECRET,
     .help = "The token before it, valid as well while collectors are given the new one."},
    {.key = "auth.user_token",
     .type = CONFIG_STRING,
     .flags = CONFIG_SECRET,
     .help = "Token of users, for everything."},
    {.key = "auth.user_token_previous",
     .type = CONFIG_STRING,
     .flags = CONFIG_SECRET,
     .help = "The token before it, valid as well while users are given the new one."},
    {.key = "auth.kept",
     .type = CONFIG_INT,
     .fallback = "1000",
     .min = 0,
     .max = 1000000,
     .help = "Tokens whose holder is remembered, of about 100 bytes each; 0: none."},
    {.key = "auth.kept_for",
     .type = CONFIG_DURATION,
     .fallback = "1m",
     .min = 0,
     .max = 3600000,
     .help = "How long the holder of a token is remembered; a token that is taken out of the "
             "settings is forgotten at once."},
    {.key = "one_time_code_file",
     .type = CONFIG_STRING,
     .help = "File with a code that opens one session, once, in the first ten minutes."},
    {.key = "tokens",
     .type = CONFIG_RULES,
     .items = token_fields,
     .item_count = sizeof(token_fields) / sizeof(token_fields[0]),
     .help = "Tokens with a scope."},
    {.key = "http.connections",
     .type = CONFIG_INT,
     .fallback = "1024",
     .min = 4,
     .max = 20000,
     .help = "Most connections at once."},
    {.key = "http.connections_per_address",
     .type = CONFIG_INT,
     .fallback = "256",
     .min = 1,
     .max = 20000,
     .help = "Most connections of one client address."},
    {.key = "http.admitters",
     .type = CONFIG_INT,
     .fallback = "8",
     .min = 2,
     .max = 64,
     .help =
         "Threads that find out who calls. One of them is never used for tokens that take time."},
    {.key = "http.workers",
     .type = CONFIG_INT,
     .fallback = "32",
     .min = 2,
     .max = 64,
     .help = "Threads that handle calls. More than ingest.queue and query.queue together, so that "
             "heartbeats find one when the store does not answer."},
    {.key = "http.body_bytes",
     .type = CONFIG_BYTES,
     .fallback = "64m",
     .min = 1 << 20,
     .help = "Most bytes of request bodies held at once."},
    {.key = "limits.compressed_bytes",
     .type = CONFIG_BYTES,
     .fallback = "16m",
     .min = 65536,
     .max = 256 << 20,
     .help = "Most bytes of one payload as sent."},
    {.key = "limits.payload_bytes",
     .type = CONFIG_BYTES,
     .fallback = "32m",
     .min = 65536,
     .max = 256 << 20,
     .help = "Most bytes of one payload once decompressed."},
    {.key = "limits.rows_per_batch",
     .type = CONFIG_INT,
     .fallback = "100000",
     .min = 1000,
     .max = 100000,
     .help = "Most sample rows of one batch."},
    {.key = "limits.frames_per_stack",
     .type = CONFIG_INT,
     .fallback = "2048",
     .min = 2048,
     .max = 4096,
     .help = "Most frames of one stack; collectors cut deeper ones at 2048."},
    {.key = "ingest.queue",
     .type = CONFIG_INT,
     .fallback = "8",
     .min = 1,
     .max = 63,
     .help =
         "Batches that may be in work or wait for the store; beyond them collectors are told to "
         "retry."},
    {.key = "ingest.flush_interval",
     .type = CONFIG_DURATION,
     .fallback = "60s",
     .min = 100,
     .max = 300000,
     .help =
         "Time in which a collector cuts one batch of all its JVMs, at least. It is told with the "
         "answer to each heartbeat."},
    {.key = "ingest.batches_per_second",
     .type = CONFIG_INT,
     .fallback = "5",
     .min = 1,
     .max = 1000,
     .help = "Batches of all collectors together that the store is to get in a second. Where there "
             "are too many collectors for it, their interval grows, up to five minutes."},
    {.key = "ingest.reports_every",
     .type = CONFIG_DURATION,
     .fallback = "2s",
     .min = 100,
     .max = 60000,
     .help = "Status reports, heartbeats and the ledger's rows of refused batches are written so "
             "often, those of all collectors together. A backend that is killed loses as much."},
    {.key = "ingest.report_bytes",
     .type = CONFIG_BYTES,
     .fallback = "32m",
     .min = 1 << 20,
     .max = 256 << 20,
     .help = "Most memory for reports that wait to be written; beyond it collectors are told to "
             "retry."},
    {.key = "ingest.refused_rows",
     .type = CONFIG_INT,
     .fallback = "200",
     .min = REFUSED_ROWS_MIN,
     .max = 10000,
     .help = "Most rows about refused batches that the ledger gets in ingest.reports_every; the "
             "rest is summed."},
    {.key = "ingest.writers",
     .type = CONFIG_INT,
     .fallback = "2",
     .min = 1,
     .max = 16,
     .help =
         "Batches that are written to the store side by side, each on a connection of its own."},
    {.key = "ingest.known_stacks",
     .type = CONFIG_INT,
     .fallback = "400000",
     .min = 0,
     .max = 100000000,
     .help = "Stacks that the backend remembers the store to hold, of 32 to 64 bytes each; 0: the "
             "store is asked for every stack of every window."},
    {.key = "ingest.known_stacks_for",
     .type = CONFIG_DURATION,
     .fallback = "10m",
     .min = 1000,
     .max = 3600000,
     .help = "How long the backend remembers that; stacks that somebody deletes from the store are "
             "missed for up to twice as long."},
    {.key = "rollups.every",
     .type = CONFIG_DURATION,
     .fallback = "1m",
     .min = 100,
     .max = 3600000,
     .help = "Pause between two looks for hours that have closed and whose sums are to be made."},
    {.key = "rollups.grace",
     .type = CONFIG_DURATION,
     .fallback = "5m",
     .min = 0,
     .max = 3600000,
     .help = "Time after an hour's end in which its last batches may still come."},
    {.key = "rollups.hours",
     .type = CONFIG_INT,
     .fallback = "100",
     .min = 1,
     .max = 100000,
     .help = "Most hours of services that are summed in one go."},
    {.key = "status.silent_after",
     .type = CONFIG_DURATION,
     .fallback = "3m",
     .min = 10000,
     .help = "A JVM whose collector has said nothing for so long shows as collector_silent. "
             "Collectors are told to report three times as often."},
    {.key = "query.timeout",
     .type = CONFIG_DURATION,
     .fallback = "10s",
     .min = 100,
     .max = 120000,
     .help = "Budget of one query."},
    {.key = "query.stacks",
     .type = CONFIG_BYTES,
     .fallback = "64m",
     .min = 0,
     .max = 4ll << 30,
     .help =
         "Most memory for the frames of stacks that queries have read, of about 4k each; 0: every "
         "query reads its frames from the store."},
    {.key = "query.connections",
     .type = CONFIG_INT,
     .fallback = "4",
     .min = 1,
     .max = 16,
     .help = "Queries that run at once."},
    {.key = "query.queue",
     .type = CONFIG_INT,
     .fallback = "20",
     .min = 1,
     .max = 62,
     .help = "Queries that may run or wait for the store; beyond them callers are told to try "
             "again (503)."},
};

const config_program backend_program = {
    .name = "hotstack-backend",
    .version = BACKEND_VERSION,
    .summary = "Takes profiles from collectors, keeps them, and serves the page and its queries.",
    .default_file = "/etc/hotstack/backend.yaml",
    .fields = fields,
    .count = sizeof(fields) / sizeof(fields[0]),
};

static int fail(config_error *err, const char *format, const char *value)
{
    err->code = CONFIG_ERR_USAGE;
    err->line = 0;
    /* The formats are literals of this file; the value follows them. */
    snprintf(err->message, sizeof(err->message), "%s: \"%.100s\".", format, value);
    return -1;
}

int settings_listen(const config_section *values, char *host, uint16_t *port, config_error *err)
{
    const char *listen = config_string(values, "listen");
    const char *colon = strrchr(listen, ':');
    char *end = NULL;
    unsigned long number = colon != NULL ? strtoul(colon + 1, &end, 10) : 0;
    size_t length = colon != NULL ? (size_t)(colon - listen) : 0;

    if (colon == NULL || colon[1] < '0' || colon[1] > '9' || *end != '\0' || number > 65535 ||
        length == 0 || length >= 64)
        return fail(err, "listen must be ADDRESS:PORT, such as 127.0.0.1:7700 or [::1]:7700",
                    listen);
    bool bracketed = listen[0] == '[' && listen[length - 1] == ']';
    memcpy(host, listen + (bracketed ? 1 : 0), length);
    host[length - (bracketed ? 2 : 0)] = '\0';
    *port = (uint16_t)number;
    return 0;
}

/* ---- tokens ---- */

static int add_token(principals *set, const principal *from, config_error *err)
{
    size_t length = strlen(from->token);

    if (length < AUTH_TOKEN_MIN || length > AUTH_TOKEN_MAX)
        return fail(err, "A token must have 16 to 512 characters; that of this name has not",
                    from->name);
    return principals_add(set, from) == 0 ? 0 : fail(err, "No memory for the token of", from->name);
}

/* Adds the tokens of the settings auth.*_token*; an empty setting adds none. */
static int add_settings(principals *set, const config_section *values, config_error *err)
{
    static const struct {
        const char *key;
        role who;
    } keys[] = {
        {"auth.collector_token", ROLE_COLLECTOR},
        {"auth.collector_token_previous", ROLE_COLLECTOR},
        {"auth.user_token", ROLE_USER},
        {"auth.user_token_previous", ROLE_USER},
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *token = config_string(values, keys[i].key);
        const principal one = {.name = keys[i].key, .role = keys[i].who, .token = token};
        if (token[0] != '\0' && add_token(set, &one, err) != 0)
            return -1;
    }
    return 0;
}

/* Collects the items of a list of the settings; false without memory. The caller frees *out. */
static bool gather_list(const char *const **out, size_t *count, const config_section *rule,
                        const char *key)
{
    *count = config_list_count(rule, key);
    const char **items = malloc((*count + 1) * sizeof(*items));
    for (size_t i = 0; i < *count && items != NULL; i++)
        items[i] = config_list_item(rule, key, i);
    *out = items;
    return items != NULL;
}

static int add_rule(principals *set, const config_section *rule, config_error *err)
{
    scope s = {0};
    bool gathered = gather_list(&s.clusters, &s.cluster_count, rule, "clusters");
    gathered = gather_list(&s.namespaces, &s.namespace_count, rule, "namespaces") && gathered;
    gathered = gather_list(&s.workloads, &s.workload_count, rule, "workloads") && gathered;
    const principal one = {
        .name = config_string(rule, "name"),
        .role = strcmp(config_string(rule, "role"), "user") == 0 ? ROLE_USER : ROLE_COLLECTOR,
        .token = config_string(rule, "token"),
        .scope = s,
    };
    int rc =
        gathered ? add_token(set, &one, err) : fail(err, "No memory for the token of", one.name);

    free((void *)(uintptr_t)s.clusters);
    free((void *)(uintptr_t)s.namespaces);
    free((void *)(uintptr_t)s.workloads);
    return rc;
}

static int add_all(principals *set, const config_section *values, config_error *err)
{
    int rc = add_settings(set, values, err);

    for (size_t i = 0; i < config_rule_count(values, "tokens") && rc == 0; i++)
        rc = add_rule(set, config_rule(values, "tokens", i), err);
    if (rc == 0 && principals_count(set) == 0)
        return fail(err,
                    "Nobody could call: set auth.collector_token_file and auth.user_token_file "
                    "(flags --auth-collector-token-file, --auth-user-token-file), or tokens in "
                    "the file. Tokens set",
                    "none");
    return rc;
}

principals *settings_tokens(const config_section *values, config_error *err)
{
    principals *set = principals_new();

    if (set == NULL) {
        (void)fail(err, "No memory for the tokens of", "auth");
        return NULL;
    }
    if (add_all(set, values, err) == 0)
        return set;
    principals_release(set);
    return NULL;
}

int settings_code(char **out, const config_section *values, config_error *err)
{
    const char *path = config_string(values, "one_time_code_file");

    *out = NULL;
    if (path[0] == '\0')
        return 0;
    if (config_read_secret(out, path, err) != 0)
        return -1;
    size_t length = strlen(*out);
    if (length >= AUTH_TOKEN_MIN && length <= AUTH_TOKEN_MAX)
        return 0;
    free(*out);
    *out = NULL;
    return fail(err, "The one-time code must have 16 to 512 characters; see the file", path);
}
