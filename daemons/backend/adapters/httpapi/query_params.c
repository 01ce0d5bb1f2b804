/* SPDX-License-Identifier: Apache-2.0 */
#include "query_params.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <base/hex.h>
#include <base/rfc3339.h>
#include <catalogue/profile_type.h>
#include <diagnosis/busy.h>

static const uint64_t HOUR_MS = 3600000, LATEST_MS = 4102444800000; /* 2100-01-01 */

/* Reads a plain decimal number of at most `most`. */
static int parse_number(uint64_t *out, const char *input, uint64_t most)
{
    char *end;

    errno = 0;
    if (!isdigit((unsigned char)input[0]))
        return -1;
    *out = strtoull(input, &end, 10);
    return *end == '\0' && errno == 0 && *out <= most ? 0 : -1;
}

int query_time_parse(uint64_t *out, const char *input)
{
    if (strchr(input, '-') == NULL)
        return parse_number(out, input, LATEST_MS);
    return rfc3339_parse(out, input) == 0 && *out <= LATEST_MS ? 0 : -1;
}

void query_time_print(char out[25], uint64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm tm;

    gmtime_r(&seconds, &tm);
    size_t used = strftime(out, 25, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + used, 25 - used, ".%03uZ", (unsigned)(unix_ms % 1000));
}

static int fail(http_error *err, const char *format, const char *name, const char *value)
{
    err->code = HTTP_ERR_FORMAT;
    /* The formats are literals of this file. */
    snprintf(err->message, sizeof(err->message), "The parameter %.40s is \"%.60s\"; %.120s", name,
             value, format);
    return -1;
}

static int read_range(query_params *p, uint64_t now_ms, http_error *err)
{
    const char *from = http_query_get(&p->raw, "from"), *to = http_query_get(&p->raw, "to");

    p->filter.to_ms = now_ms;
    if (to != NULL && query_time_parse(&p->filter.to_ms, to) != 0)
        return fail(err, "RFC 3339 or milliseconds since 1970 are allowed.", "to", to);
    p->filter.from_ms = p->filter.to_ms > HOUR_MS ? p->filter.to_ms - HOUR_MS : 0;
    if (from != NULL && query_time_parse(&p->filter.from_ms, from) != 0)
        return fail(err, "RFC 3339 or milliseconds since 1970 are allowed.", "from", from);
    if (p->filter.from_ms >= p->filter.to_ms)
        return fail(err, "it must be before \"to\".", "from", from != NULL ? from : "");
    return 0;
}

static int read_limit(query_params *p, query_kind kind, http_error *err)
{
    static const struct {
        uint64_t usual, most;
        const char *allowed;
    } limits[] = {
        [QUERY_LIST] = {1000, 10000, "1 to 10000 are allowed."},
        [QUERY_STATUS] = {1000, 10000, "1 to 10000 are allowed."},
        [QUERY_INGESTION] = {100, 1000, "1 to 1000 are allowed."},
        [QUERY_RETENTION] = {1, 1, ""}, /* it has no parameters */
        [QUERY_FLAMEGRAPH] = {8192, 200000, "1 to 200000 are allowed."},
        [QUERY_TOP] = {100, 1000, "1 to 1000 are allowed."},
        [QUERY_TIMELINE] = {1, 1, ""}, /* it has no limit */
        [QUERY_THREADS] = {100, 1000, "1 to 1000 are allowed."},
        [QUERY_LANES] = {100, 1000, "1 to 1000 are allowed."},
        [QUERY_THREAD] = {100, 1000, "1 to 1000 are allowed."},
        [QUERY_DEADLOCKS] = {100, 1000, "1 to 1000 are allowed."},
    };
    const char *input = http_query_get(&p->raw, "limit");

    p->filter.limit = limits[kind].usual;
    if (input != NULL &&
        (parse_number(&p->filter.limit, input, limits[kind].most) != 0 || p->filter.limit == 0))
        return fail(err, limits[kind].allowed, "limit", input);
    return 0;
}

/* The facets of each source (ingest.proto, Facet), and the message about a wrong one. */
static const struct facets {
    enum profile_source source;
    const char *allowed;
    struct {
        const char *name;
        unsigned number;
    } all[2];
} facets[] = {
    {PROFILE_SOURCE_LOCK, "monitor and park are allowed.", {{"monitor", 1}, {"park", 2}}},
    {PROFILE_SOURCE_ALLOC,
     "in_tlab and outside_tlab are allowed.",
     {{"in_tlab", 3}, {"outside_tlab", 4}}},
    {PROFILE_SOURCE_WALL, "running and waiting are allowed.", {{"running", 5}, {"waiting", 6}}},
};

static int read_facet(query_params *p, enum profile_source source, http_error *err)
{
    const char *name = http_query_get(&p->raw, "facet");
    const char *allowed = "this type has none.";

    for (size_t i = 0; i < sizeof(facets) / sizeof(facets[0]) && name != NULL; i++) {
        if (facets[i].source != source)
            continue;
        allowed = facets[i].allowed;
        for (size_t k = 0; k < 2; k++) {
            if (strcmp(name, facets[i].all[k].name) == 0)
                p->filter.facet = facets[i].all[k].number;
        }
    }
    return name == NULL || p->filter.facet != 0 ? 0 : fail(err, allowed, "facet", name);
}

static int read_selection(query_params *p, http_error *err)
{
    const char *type = http_query_get(&p->raw, "type");
    const char *lines = http_query_get(&p->raw, "lines");
    const profile_type_info *info = type != NULL ? profile_type_find(type) : NULL;

    if (p->filter.namespace_name == NULL || p->filter.workload == NULL || type == NULL) {
        err->code = HTTP_ERR_FORMAT;
        snprintf(err->message, sizeof(err->message),
                 "The parameters namespace, workload and type are required.");
        return -1;
    }
    if (info == NULL)
        return fail(err,
                    "cpu, alloc_bytes, alloc_objects, lock_delay, lock_count and the like are "
                    "allowed.",
                    "type", type);
    p->filter.type = info->type;
    if (lines != NULL && strcmp(lines, "0") != 0 && strcmp(lines, "1") != 0)
        return fail(err, "0 and 1 are allowed.", "lines", lines);
    p->lines = lines != NULL && lines[0] == '1';
    return read_facet(p, info->source, err);
}

/* Reads 16 hexadecimal digits; 0 is not the id of a target. */
static int read_target(query_params *p, http_error *err)
{
    const char *input = http_query_get(&p->raw, "jvm");

    if (input == NULL)
        return 0;
    if (strlen(input) != 16 || !hex_read_number(&p->filter.target, input))
        return fail(err, "16 hexadecimal digits are allowed.", "jvm", input);
    return 0;
}

/* Reads how many buckets the range is to have, and sets their length. */
static int read_buckets(query_params *p, http_error *err)
{
    const char *buckets = http_query_get(&p->raw, "buckets");
    uint64_t count = 120;

    if (buckets != NULL && (parse_number(&count, buckets, 500) != 0 || count == 0))
        return fail(err, "1 to 500 are allowed.", "buckets", buckets);
    p->filter.bucket_ms = (p->filter.to_ms - p->filter.from_ms + count - 1) / count;
    p->filter.bucket_ms = p->filter.bucket_ms > 0 ? p->filter.bucket_ms : 1;
    return 0;
}

static int read_timeline(query_params *p, http_error *err)
{
    enum { SECOND_MS = 1000 };

    if (read_selection(p, err) != 0 || read_buckets(p, err) != 0)
        return -1;
    /* Values are known by the second: other buckets would have more seconds than their neighbours,
     * or none. */
    p->filter.bucket_ms = (p->filter.bucket_ms + SECOND_MS - 1) / SECOND_MS * SECOND_MS;
    return 0;
}

static int read_threads(query_params *p, query_kind kind, http_error *err)
{
    const char *java_tid = http_query_get(&p->raw, "java_tid");
    const char *busy = http_query_get(&p->raw, "busy");

    if (kind != QUERY_DEADLOCKS &&
        (p->filter.namespace_name == NULL || p->filter.workload == NULL)) {
        err->code = HTTP_ERR_FORMAT;
        snprintf(err->message, sizeof(err->message),
                 "The parameters namespace and workload are required.");
        return -1;
    }
    if (read_buckets(p, err) != 0)
        return -1;
    p->filter.busy_percent = DIAGNOSIS_BUSY_PERCENT;
    if (busy != NULL && parse_number(&p->filter.busy_percent, busy, 100) != 0)
        return fail(err, "0 to 100 are allowed.", "busy", busy);
    if (kind != QUERY_THREAD)
        return 0;
    if (p->filter.target == 0 || java_tid == NULL ||
        parse_number(&p->filter.java_tid, java_tid, UINT64_MAX / 2) != 0 ||
        p->filter.java_tid == 0) {
        err->code = HTTP_ERR_FORMAT;
        snprintf(err->message, sizeof(err->message),
                 "The parameters jvm and java_tid are required, java_tid as a number from 1 on.");
        return -1;
    }
    return 0;
}

int query_params_parse(query_params *out, query_kind kind, const char *input, uint64_t now_ms,
                       http_error *err)
{
    static const char *const list[] = {"from", "to", "cluster", "limit", NULL};
    static const char *const status[] = {"from",      "to",       "cluster", "limit",
                                         "namespace", "workload", "jvm",     NULL};
    static const char *const ingestion[] = {"from", "to", "cluster", "limit", "buckets", NULL};
    static const char *const retention[] = {"from", "to", NULL};
    static const char *const profile[] = {
        "from", "to",        "cluster", "limit", "namespace", "workload", "type",   "lines",
        "pod",  "container", "version", "jvm",   "pool",      "facet",    "object", NULL};
    static const char *const timeline[] = {"from",     "to",   "cluster", "buckets",   "namespace",
                                           "workload", "type", "pod",     "container", "version",
                                           "jvm",      "pool", NULL};
    static const char *const threads[] = {"from",     "to",   "cluster",   "limit",   "namespace",
                                          "workload", "pod",  "container", "version", "jvm",
                                          "pool",     "busy", NULL};
    static const char *const lanes[] = {"from",      "to",       "cluster", "limit",     "buckets",
                                        "namespace", "workload", "pod",     "container", "version",
                                        "jvm",       "pool",     NULL};
    static const char *const thread[] = {"from",     "to",  "cluster",  "limit", "namespace",
                                         "workload", "jvm", "java_tid", NULL};
    static const char *const deadlocks[] = {"from",      "to",       "cluster", "limit",
                                            "namespace", "workload", "pod",     "container",
                                            "version",   "jvm",      NULL};
    static const char *const *const allowed[] = {
        [QUERY_LIST] = list,           [QUERY_STATUS] = status,      [QUERY_INGESTION] = ingestion,
        [QUERY_RETENTION] = retention, [QUERY_FLAMEGRAPH] = profile, [QUERY_TOP] = profile,
        [QUERY_TIMELINE] = timeline,   [QUERY_THREADS] = threads,    [QUERY_LANES] = lanes,
        [QUERY_THREAD] = thread,       [QUERY_DEADLOCKS] = deadlocks};

    memset(out, 0, sizeof(*out));
    if (http_query_parse(&out->raw, input, err) != 0)
        return -1;
    const char *unknown = http_query_unknown(&out->raw, allowed[kind]);
    if (unknown != NULL)
        return fail(err, "there is no such parameter here.", unknown,
                    http_query_get(&out->raw, unknown));
    out->filter.cluster = http_query_get(&out->raw, "cluster");
    out->filter.namespace_name = http_query_get(&out->raw, "namespace");
    out->filter.workload = http_query_get(&out->raw, "workload");
    out->filter.pod = http_query_get(&out->raw, "pod");
    out->filter.container = http_query_get(&out->raw, "container");
    out->filter.version = http_query_get(&out->raw, "version");
    out->filter.pool = http_query_get(&out->raw, "pool");
    out->filter.object = http_query_get(&out->raw, "object");
    if (read_range(out, now_ms, err) != 0 || read_limit(out, kind, err) != 0 ||
        read_target(out, err) != 0)
        return -1;
    if (kind == QUERY_FLAMEGRAPH || kind == QUERY_TOP)
        return read_selection(out, err);
    if (kind == QUERY_TIMELINE)
        return read_timeline(out, err);
    if (kind == QUERY_INGESTION)
        return read_buckets(out, err);
    return kind >= QUERY_THREADS ? read_threads(out, kind, err) : 0;
}

void query_params_clear(query_params *params)
{
    http_query_clear(&params->raw);
}
