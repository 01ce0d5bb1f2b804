/* What the writer asks before it writes: the ledger, and which stacks are known. */
#include <stdlib.h>
#include <string.h>

#include "read.h"

enum { ASK_MS = 15000, IDS_PER_QUERY = 5000 };

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
    statement s;
    int rc = clickhouse__check_ready(c, err);

    if (rc != 0)
        return rc;
    sql_begin(&s);
    sql_add(&s, "SELECT digest FROM ingestion_batches WHERE batch_id = {id:FixedString(16)} "
                "LIMIT 1");
    sql_text(&s, "id", (text){(const char *)batch_id, 16});
    rc = sql_query(&s, c->writer, ASK_MS, on_digest, out, err);
    sql_end(&s);
    return rc;
}

/* Ids in their order, to find an answer's again. */
typedef struct asked {
    const uint8_t *const *ids;
    size_t *order;
    size_t count;
    bool *known;
} asked;

static int compare_ids(const void *a, const void *b, void *ids)
{
    const uint8_t *const *all = ids;

    return memcmp(all[*(const size_t *)a], all[*(const size_t *)b], STACK_ID_BYTES);
}

static void mark_known(asked *a, const char *id)
{
    size_t low = 0, high = a->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(a->ids[a->order[middle]], id, STACK_ID_BYTES);
        if (order == 0) {
            a->known[a->order[middle]] = true;
            return;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
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

static int ask(clickhouse *c, const service_key *service, uint32_t day, asked *a, size_t first,
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
    int rc = sql_query(&s, c->writer, ASK_MS, on_known, a, err);
    sql_end(&s);
    return rc;
}

int clickhouse__find_stacks(void *self, const service_key *service, uint32_t day,
                            const uint8_t *const *ids, size_t count, bool *known, store_error *err)
{
    clickhouse *c = self;
    asked a = {ids, malloc((count + 1) * sizeof(*a.order)), count, known};
    int rc = clickhouse__check_ready(c, err);

    if (rc == 0 && a.order == NULL)
        rc = sql_fail(err, STORE_ERR_UNAVAILABLE, "No memory to ask for stacks.");
    for (size_t i = 0; i < count && rc == 0; i++)
        a.order[i] = i;
    if (rc == 0)
        qsort_r(a.order, count, sizeof(*a.order), compare_ids, (void *)(uintptr_t)ids);
    for (size_t first = 0; first < count && rc == 0; first += IDS_PER_QUERY)
        rc = ask(c, service, day, &a, first, err);
    free(a.order);
    return rc;
}
