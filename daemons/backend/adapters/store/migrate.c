/* SPDX-License-Identifier: Apache-2.0 */
#include "migrate.h"

#include <base/hex.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "clickhouse_impl.h"
#include "sql.h"

enum { CHECKSUM_CHARS = 33, QUERY_MS = 30000 };

static const char create_ledger[] =
    "CREATE TABLE IF NOT EXISTS schema_migrations (version UInt32, name String, checksum String, "
    "applied DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY version";

/* The migrations that schema_migrations records. */
typedef struct applied {
    bool *known; /* by version - 1 */
    const char *emptying;
    int rc; /* our own refusal, which says more than the transport's "the caller stopped" */
    store_error refusal;
} applied;

static void checksum_of(const migration *m, char out[CHECKSUM_CHARS])
{
    XXH128_canonical_t hash;

    XXH128_canonicalFromHash(&hash, XXH3_128bits(m->sql, strlen(m->sql)));
    (void)hex_write(out, hash.digest, sizeof(hash.digest));
}

/* Compares a recorded migration with our own. */
static int compare(applied *a, uint64_t version, chs_bytes checksum)
{
    char ours[CHECKSUM_CHARS];

    if (version > migration_count)
        return sql_fail(&a->refusal, STORE_ERR_FAILED,
                        "The store has schema version %llu, this program knows up to %zu: use a "
                        "newer backend.",
                        (unsigned long long)version, migration_count);
    checksum_of(&migrations[version - 1], ours);
    if (checksum.length != strlen(ours) || memcmp(checksum.data, ours, checksum.length) != 0)
        return sql_fail(&a->refusal, STORE_ERR_FAILED,
                        "The store has the tables of another build (migration %llu differs): use "
                        "that build, or delete the store with all its profiles: %s",
                        (unsigned long long)version, a->emptying);
    a->known[version - 1] = true;
    return 0;
}

static int read_applied(void *context, const chs_result *block)
{
    applied *a = context;
    chs_uints versions;
    chs_strings checksums;

    if (chs_result_rows(block) == 0)
        return 0;
    if (chs_result_uints(&versions, block, "version", NULL) != 0 ||
        chs_result_strings(&checksums, block, "checksum", NULL) != 0)
        return -1;
    for (uint64_t i = 0; i < versions.rows && a->rc == 0; i++) {
        if (versions.values[i] > 0)
            a->rc = compare(a, versions.values[i], checksums.values[i]);
    }
    return a->rc;
}

static int execute(chs_transport *transport, const char *sql, store_error *err)
{
    chs_error failure = {0};
    int rc = chs_exec(transport, sql, NULL, &failure);

    if (rc == 0)
        return 0;
    failure.code = rc;
    return sql_error(err, &failure);
}

/* Returns a statement of length bytes with {retention_days} replaced. NULL: no memory. */
static char *with_retention(const char *sql, size_t length, unsigned days)
{
    static const char mark[] = "{retention_days}";
    char *out = malloc(length + 1);
    size_t used = 0;

    for (size_t i = 0; out != NULL && i < length;) {
        if (length - i >= sizeof(mark) - 1 && memcmp(sql + i, mark, sizeof(mark) - 1) == 0) {
            out[used++] = (char)('0' + days);
            i += sizeof(mark) - 1;
        } else {
            out[used++] = sql[i++];
        }
    }
    if (out != NULL)
        out[used] = '\0';
    return out;
}

static int apply_statements(chs_transport *transport, const migration *m, unsigned days,
                            store_error *err)
{
    for (const char *at = m->sql, *end; (end = strstr(at, "\n;\n")) != NULL; at = end + 3) {
        char *sql = with_retention(at, (size_t)(end - at), days);
        int rc = sql != NULL ? execute(transport, sql, err)
                             : sql_fail(err, STORE_ERR_UNAVAILABLE, "No memory for a migration.");
        free(sql);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int record(chs_transport *transport, const migration *m, store_error *err)
{
    char sql[512], checksum[CHECKSUM_CHARS];

    checksum_of(m, checksum);
    /* All four values are ours: no text from outside enters the statement. */
    snprintf(sql, sizeof(sql),
             "INSERT INTO schema_migrations SELECT %u, '%s', '%s', now64(3, 'UTC')", m->version,
             m->name, checksum);
    return execute(transport, sql, err);
}

static int apply(chs_transport *transport, const migration *m, unsigned days, store_error *err)
{
    int rc = apply_statements(transport, m, days, err);

    return rc == 0 ? record(transport, m, err) : rc;
}

/* ---- retention ---- */

static int read_differs(void *context, const chs_result *block)
{
    chs_uints count;

    if (chs_result_rows(block) == 0)
        return 0;
    if (chs_result_uints(&count, block, "others", NULL) != 0)
        return -1;
    *(bool *)context = count.values[0] > 0;
    return 0;
}

/* Sets the TTL of all tables, unless all have the right one. */
static int set_retention(chs_transport *transport, unsigned days, store_error *err)
{
    char sql[256];
    bool differs = false;
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT count() AS others FROM system.tables WHERE database = currentDatabase() "
                "AND engine LIKE '%MergeTree' AND name != 'schema_migrations' AND position("
                "create_table_query, concat('toIntervalDay(', {days:String}, ')')) = 0");
    sql_number(&s, "days", days);
    int rc = sql_query(&s, transport, QUERY_MS, read_differs, &differs, err);
    sql_end(&s);
    for (size_t i = 0; rc == 0 && differs && i < KEPT_TABLES; i++) {
        snprintf(sql, sizeof(sql),
                 "ALTER TABLE %s MODIFY TTL toStartOfDay(%s) + INTERVAL %u DAY SETTINGS "
                 "materialize_ttl_after_modify = 0",
                 clickhouse__kept[i].name, clickhouse__kept[i].time, days);
        rc = execute(transport, sql, err);
    }
    return rc;
}

static int apply_missing(chs_transport *transport, const bool *known, unsigned days,
                         store_error *err)
{
    for (size_t i = 0; i < migration_count; i++) {
        int rc = known[i] ? 0 : apply(transport, &migrations[i], days, err);
        if (rc != 0)
            return rc;
    }
    return set_retention(transport, days, err);
}

int migrate(chs_transport *transport, unsigned retention_days, const char *emptying,
            store_error *err)
{
    statement s;
    int rc = execute(transport, create_ledger, err);

    if (rc != 0)
        return rc;
    applied a = {.known = calloc(migration_count, sizeof(bool)), .emptying = emptying};
    if (a.known == NULL)
        return sql_fail(err, STORE_ERR_UNAVAILABLE, "No memory for the migrations.");
    sql_begin(&s);
    sql_add(&s, "SELECT version, checksum FROM schema_migrations ORDER BY version");
    rc = sql_query(&s, transport, QUERY_MS, read_applied, &a, err);
    sql_end(&s);
    if (a.rc != 0) {
        *err = a.refusal;
        rc = a.rc;
    }
    if (rc == 0)
        rc = apply_missing(transport, a.known, retention_days, err);
    free(a.known);
    return rc;
}
