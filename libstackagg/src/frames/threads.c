/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, pools and labels of an aggregate. */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "aggregate/aggregate_impl.h"
#include "fail_impl.h"
#include "frames/utf8_impl.h"

/* A thread by content. */
struct wanted_thread {
    const sagg *agg;
    int64_t os_tid;
    int64_t java_tid;
    sagg_str name;
    sagg_str pool;
};

static bool is_thread(const void *context, uint32_t value)
{
    const struct wanted_thread *wanted = context;
    const sagg__thread *row = SAGG__AT(sagg__thread, wanted->agg->threads.array, value);
    const sagg__names *names = &wanted->agg->names;
    return row->os_tid == wanted->os_tid && row->java_tid == wanted->java_tid &&
           sagg__name_is(names, row->name, wanted->name) &&
           sagg__name_is(names, row->pool, wanted->pool);
}

static uint64_t hash_thread(const struct wanted_thread *wanted)
{
    uint64_t hash =
        XXH3_64bits_withSeed(wanted->name.data, wanted->name.size,
                             (uint64_t)wanted->os_tid * 31 + (uint64_t)wanted->java_tid);
    return hash ^ XXH3_64bits_withSeed(wanted->pool.data, wanted->pool.size, 1);
}

static bool find(const struct wanted_thread *wanted, uint32_t *index)
{
    const sagg *agg = wanted->agg;
    return sagg__index_find(&agg->threads.index, hash_thread(wanted), is_thread, wanted, index);
}

/* Appends a row with its totals; `pool_thread` UINT32_MAX means itself. */
static int append(sagg *agg, const struct wanted_thread *wanted, uint32_t pool_thread,
                  uint32_t *index)
{
    sagg__thread row = {.os_tid = wanted->os_tid, .java_tid = wanted->java_tid};
    size_t rows = ((size_t)agg->threads.count + 1) * agg->type_count;
    int rc = sagg__set_reserve(agg, &agg->threads, sizeof(row));
    if (rc == 0)
        rc = sagg__grow(&agg->mem, &agg->thread_totals, rows, sizeof(sagg_totals));
    if (rc == 0)
        rc = sagg__grow(&agg->mem, &agg->dropped, rows, sizeof(sagg_totals));
    if (rc == 0)
        rc = sagg__name_add(&agg->mem, &agg->names, wanted->name, &row.name);
    if (rc == 0)
        rc = sagg__name_add(&agg->mem, &agg->names, wanted->pool, &row.pool);
    if (rc != 0)
        return rc;
    *index = agg->threads.count++;
    row.pool_thread = pool_thread == UINT32_MAX ? *index : pool_thread;
    *SAGG__AT(sagg__thread, agg->threads.array, *index) = row;
    sagg__index_put(&agg->threads.index, hash_thread(wanted), *index);
    return 0;
}

int sagg__add_first_threads(sagg *agg)
{
    sagg_str empty = {"", 0};
    sagg_str dropped = {"[dropped]", strlen("[dropped]")};
    struct wanted_thread none = {agg, 0, 0, empty, empty};
    struct wanted_thread rest = {agg, 0, 0, dropped, dropped};
    uint32_t index;
    int rc = append(agg, &none, UINT32_MAX, &index);
    return rc != 0 ? rc : append(agg, &rest, UINT32_MAX, &index);
}

/* Gives the pool's thread; SAGG_DROPPED_THREAD past the caps. */
static int add_pool(sagg *agg, sagg_str pool, uint32_t *index)
{
    struct wanted_thread wanted = {agg, 0, 0, {"", 0}, pool};
    if (find(&wanted, index))
        return 0;
    int rc = agg->pool_threads < agg->max_threads ? append(agg, &wanted, UINT32_MAX, index)
                                                  : SAGG_ERR_LIMIT;
    if (rc == 0)
        agg->pool_threads++;
    if (rc != SAGG_ERR_LIMIT)
        return rc;
    *index = SAGG_DROPPED_THREAD;
    return 0;
}

static int add_exact(sagg *agg, const struct wanted_thread *wanted, uint32_t *index)
{
    uint32_t pool;
    int rc = add_pool(agg, wanted->pool, &pool);
    if (rc != 0)
        return rc;
    bool room = pool != SAGG_DROPPED_THREAD && agg->exact_threads < agg->max_threads;
    rc = room ? append(agg, wanted, pool, index) : SAGG_ERR_LIMIT;
    if (rc == 0)
        agg->exact_threads++;
    if (rc != SAGG_ERR_LIMIT)
        return rc;
    agg->loss.threads_folded++;
    *index = pool;
    return 0;
}

int sagg_add_thread(sagg *agg, uint32_t *index, const sagg_thread *thread, sagg_error *err)
{
    char name[3 * SAGG__THREAD_NAME_MAX], pool[3 * SAGG__THREAD_NAME_MAX];
    struct wanted_thread wanted = {agg, thread->os_tid, thread->java_tid, thread->name,
                                   thread->pool};
    if (wanted.name.size > SAGG__THREAD_NAME_MAX)
        wanted.name.size = SAGG__THREAD_NAME_MAX;
    if (wanted.pool.size > SAGG__THREAD_NAME_MAX)
        wanted.pool.size = SAGG__THREAD_NAME_MAX;
    wanted.name = (sagg_str){name, sagg__clean(name, wanted.name.data, wanted.name.size)};
    size_t pool_size = wanted.pool.size > 0 ? sagg__clean(pool, wanted.pool.data, wanted.pool.size)
                                            : sagg_pool_name(pool, sizeof(pool), thread->name);
    wanted.pool = (sagg_str){pool, pool_size};
    if (find(&wanted, index))
        return 0;
    bool is_pool = wanted.os_tid == 0 && wanted.java_tid == 0 && wanted.name.size == 0;
    int rc = is_pool ? add_pool(agg, wanted.pool, index) : add_exact(agg, &wanted, index);
    return rc != 0 ? sagg__no_memory(err) : 0;
}

sagg_totals *sagg__thread_row(const sagg *agg, uint32_t thread, uint32_t slot)
{
    return SAGG__AT(sagg_totals, agg->thread_totals, (size_t)thread * agg->type_count + slot);
}

sagg_totals *sagg__dropped_row(const sagg *agg, uint32_t thread, uint32_t slot)
{
    return SAGG__AT(sagg_totals, agg->dropped, (size_t)thread * agg->type_count + slot);
}

/* A label's text is cut to this many bytes. */
#define LABEL_MAX 1024u

struct wanted_label {
    const sagg *agg;
    uint32_t tag;
    sagg_str text;
};

static bool is_label(const void *context, uint32_t value)
{
    const struct wanted_label *wanted = context;
    const sagg__label *label = SAGG__AT(sagg__label, wanted->agg->labels.array, value);
    return label->tag == wanted->tag &&
           sagg__name_is(&wanted->agg->names, label->text, wanted->text);
}

/* Returns 0, SAGG_ERR_LIMIT or SAGG_ERR_NOMEM. */
static int append_label(sagg *agg, const struct wanted_label *wanted, uint64_t hash,
                        uint32_t *label)
{
    sagg__label row = {.tag = wanted->tag};
    if (agg->labels.count == SAGG_MAX_LABELS)
        return SAGG_ERR_LIMIT;
    int rc = sagg__set_reserve(agg, &agg->labels, sizeof(row));
    if (rc == 0)
        rc = sagg__name_add(&agg->mem, &agg->names, wanted->text, &row.text);
    if (rc != 0)
        return rc;
    *label = agg->labels.count++;
    *SAGG__AT(sagg__label, agg->labels.array, *label) = row;
    sagg__index_put(&agg->labels.index, hash, *label);
    return 0;
}

int sagg_add_label(sagg *agg, uint32_t *label, uint32_t tag, sagg_str text, sagg_error *err)
{
    char clean[3 * LABEL_MAX];
    size_t given = text.size < LABEL_MAX ? text.size : LABEL_MAX;
    struct wanted_label wanted = {agg, tag, {clean, sagg__clean(clean, text.data, given)}};
    uint64_t hash = XXH3_64bits_withSeed(clean, wanted.text.size, tag);
    if (sagg__index_find(&agg->labels.index, hash, is_label, &wanted, label))
        return 0;
    int rc = append_label(agg, &wanted, hash, label);
    if (rc == SAGG_ERR_LIMIT)
        *label = 0;
    return rc == SAGG_ERR_NOMEM ? sagg__no_memory(err) : 0;
}
