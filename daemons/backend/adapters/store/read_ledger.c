/* SPDX-License-Identifier: Apache-2.0 */
/* The writer's queries before it writes: the ledger, and the known stacks. */
#include <base/seeded_hash.h>
#include <string.h>

#include "read.h"
#include <base/index_set.h>

enum { IDS_PER_QUERY = 5000 };

static int on_digest(void *context, const chs_result *block)
{
    ledger_entry *out = context;
    chs_strings digests;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_strings(&digests, block, "digest") != 0 || digests.values[0].length != 16)
        return -1;
    out->found = true;
    memcpy(out->digest, digests.values[0].data, 16);
    return 0;
}

int clickhouse__find_batch(void *self, const uint8_t batch_id[16], ledger_entry *out,
                           store_error *err)
{
    clickhouse *c = self;
    chs_transport *to = clickhouse__take(c, &c->writers, err);
    statement s;

    if (to == NULL)
        return err->code;
    sql_begin(&s);
    sql_add(&s, "SELECT digest FROM ingestion_batches WHERE batch_id = {id:FixedString(16)} "
                "AND status = 'accepted' LIMIT 1");
    sql_text(&s, "id", (text){(const char *)batch_id, 16});
    int rc = sql_query(&s, to, 0, on_digest, out, err);
    sql_end(&s);
    clickhouse__give(c, &c->writers, to);
    return rc;
}

/* Distinct ids, and an index to find the ids of an answer among them. */
typedef struct asked {
    const uint8_t *const *ids;
    size_t count;
    index_set set;
    const uint8_t *wanted; /* the id of index `count`, which serves lookups only */
    bool *known;
} asked;

static bool equal_ids(const void *context, uint32_t a, uint32_t b)
{
    const asked *all = context;
    const uint8_t *left = a < all->count ? all->ids[a] : all->wanted;
    const uint8_t *right = b < all->count ? all->ids[b] : all->wanted;

    return memcmp(left, right, STACK_ID_BYTES) == 0;
}

static uint64_t hash_stack_id(const uint8_t *id)
{
    return seeded_hash(id, STACK_ID_BYTES);
}

static int asked_init(asked *a)
{
    if (a->count >= INDEX_SET_NONE || index_set_init(&a->set, a->count, equal_ids, a) != 0)
        return -1;
    for (size_t i = 0; i < a->count; i++)
        (void)index_set_add(&a->set, hash_stack_id(a->ids[i]), (uint32_t)i);
    return 0;
}

static void mark_known(asked *a, const char *id)
{
    a->wanted = (const uint8_t *)id;
    uint32_t found = index_set_find(&a->set, hash_stack_id(a->wanted), (uint32_t)a->count);
    if (found != INDEX_SET_NONE)
        a->known[found] = true;
}

static int on_known(void *context, const chs_result *block)
{
    asked *a = context;
    chs_strings ids;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_strings(&ids, block, "stack_id") != 0)
        return -1;
    for (uint64_t i = 0; i < ids.rows; i++) {
        if (ids.values[i].length == STACK_ID_BYTES)
            mark_known(a, ids.values[i].data);
    }
    return 0;
}

static int ask(chs_transport *to, const service_key *service, uint32_t day, asked *a, size_t first,
               store_error *err)
{
    size_t count = a->count - first < IDS_PER_QUERY ? a->count - first : IDS_PER_QUERY;
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT DISTINCT stack_id FROM profile_stacks WHERE cluster = {cluster:String} AND "
                "namespace = {namespace:String} AND workload = {workload:String} AND "
                "toUInt32(day) = {day:UInt32} AND stack_id IN {ids:Array(FixedString(16))}");
    sql_text(&s, "cluster", service->cluster);
    sql_text(&s, "namespace", service->namespace_name);
    sql_text(&s, "workload", service->workload);
    sql_number(&s, "day", day);
    sql_ids(&s, "ids", a->ids + first, count);
    int rc = sql_query(&s, to, 0, on_known, a, err);
    sql_end(&s);
    return rc;
}

int clickhouse__find_stacks(void *self, const service_key *service, uint32_t day,
                            const uint8_t *const *ids, size_t count, bool *known, store_error *err)
{
    clickhouse *c = self;
    chs_transport *to = clickhouse__take(c, &c->writers, err);
    asked a = {.ids = ids, .count = count, .known = known};
    int rc = err->code;

    if (to == NULL)
        return rc;
    if (asked_init(&a) != 0)
        rc = sql_fail(err, STORE_ERR_UNAVAILABLE, "No memory to ask for stacks.");
    for (size_t first = 0; first < count && rc == 0; first += IDS_PER_QUERY)
        rc = ask(to, service, day, &a, first, err);
    index_set_free(&a.set);
    clickhouse__give(c, &c->writers, to);
    return rc;
}
