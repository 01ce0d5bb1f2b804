/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest_plan.h"

#include <base/seeded_hash.h>
#include <stdlib.h>
#include <string.h>

#include <base/index_set.h>

typedef struct planner {
    const profile_batch *batch;
    ingest_plan *plan;
    stack_use *uses; /* unique (service, stack of the body), in the order of first use */
    size_t use_count;
    index_set seen;
} planner;

/* ---- services ---- */

static service_key key_of(const profile_batch *b, uint32_t target)
{
    return (service_key){b->collector.cluster,
                         string_at(&b->strings, b->targets.namespace_name.at[target]),
                         string_at(&b->strings, b->targets.workload.at[target])};
}

static bool equal_target_service(const void *context, uint32_t a, uint32_t b)
{
    service_key left = key_of(context, a), right = key_of(context, b);

    return text_equal(left.namespace_name, right.namespace_name) &&
           text_equal(left.workload, right.workload);
}

static uint64_t hash_service(service_key key)
{
    uint64_t parts[] = {seeded_hash(key.namespace_name.data, key.namespace_name.length),
                        seeded_hash(key.workload.data, key.workload.length)};

    return seeded_hash(parts, sizeof(parts));
}

static int find_services(planner *p)
{
    size_t targets = p->batch->targets.workload.count;
    ingest_plan *plan = p->plan;
    index_set set;

    plan->services = malloc((targets + 1) * sizeof(*plan->services));
    plan->service_of_target = malloc((targets + 1) * sizeof(*plan->service_of_target));
    if (index_set_init(&set, targets, equal_target_service, p->batch) != 0 ||
        plan->services == NULL || plan->service_of_target == NULL) {
        index_set_free(&set);
        return -1;
    }
    for (uint32_t i = 0; i < targets; i++) {
        service_key key = key_of(p->batch, i);
        uint32_t same = index_set_add(&set, hash_service(key), i);
        if (same == INDEX_SET_NONE) {
            plan->service_of_target[i] = (uint32_t)plan->service_count;
            plan->services[plan->service_count++] = key;
        } else {
            plan->service_of_target[i] = plan->service_of_target[same];
        }
    }
    index_set_free(&set);
    return 0;
}

/* ---- stacks ---- */

static bool equal_use(const void *context, uint32_t a, uint32_t b)
{
    const planner *p = context;

    return p->uses[a].service == p->uses[b].service && p->uses[a].stack == p->uses[b].stack;
}

static void add_use(planner *p, uint32_t target, uint32_t stack)
{
    stack_use use = {p->plan->service_of_target[target], stack};

    p->uses[p->use_count] = use;
    if (index_set_add(&p->seen, seeded_hash(&use, sizeof(use)), (uint32_t)p->use_count) ==
        INDEX_SET_NONE)
        p->use_count++;
}

static int find_uses(planner *p)
{
    const profile_batch *b = p->batch;
    size_t most = b->samples.window.count + b->states.snapshot.count;

    p->uses = malloc((most + 1) * sizeof(*p->uses));
    if (p->uses == NULL || index_set_init(&p->seen, most, equal_use, p) != 0)
        return -1;
    for (size_t i = 0; i < b->samples.window.count; i++)
        add_use(p, b->windows.target.at[b->samples.window.at[i]], b->samples.stack.at[i]);
    for (size_t i = 0; i < b->states.snapshot.count; i++) {
        if (b->states.stack.at[i] > 0)
            add_use(p, b->snapshots.target.at[b->states.snapshot.at[i]], b->states.stack.at[i] - 1);
    }
    return 0;
}

/* Returns an id by its index; the indexes of the body's ids come first, those of the dictionary
 * follow. */
static const char *id_at(const profile_batch *b, uint32_t index)
{
    size_t body = b->stack_ids.length / STACK_ID_BYTES;

    return index < body ? b->stack_ids.data + (size_t)index * STACK_ID_BYTES
                        : b->stacks.stack_ids.data + (index - body) * STACK_ID_BYTES;
}

static bool equal_id(const void *context, uint32_t a, uint32_t b)
{
    return memcmp(id_at(context, a), id_at(context, b), STACK_ID_BYTES) == 0;
}

/* Sets in_dictionary[i] to the index of the body's stack i in the dictionary, or INDEX_SET_NONE. */
static int match_dictionary(const profile_batch *b, uint32_t *in_dictionary)
{
    size_t body = b->stack_ids.length / STACK_ID_BYTES;
    size_t brought = b->stacks.stack_ids.length / STACK_ID_BYTES;
    index_set set;

    if (index_set_init(&set, body + brought, equal_id, b) != 0)
        return -1;
    for (uint32_t i = 0; i < body; i++) {
        in_dictionary[i] = INDEX_SET_NONE;
        index_set_add(&set, seeded_hash(id_at(b, i), STACK_ID_BYTES), i);
    }
    for (uint32_t i = 0; i < brought; i++) {
        uint32_t index = (uint32_t)(body + i);
        uint32_t same = index_set_add(&set, seeded_hash(id_at(b, index), STACK_ID_BYTES), index);
        if (same < body && in_dictionary[same] == INDEX_SET_NONE)
            in_dictionary[same] = i;
    }
    index_set_free(&set);
    return 0;
}

static int split_uses(planner *p)
{
    ingest_plan *plan = p->plan;
    size_t body = p->batch->stack_ids.length / STACK_ID_BYTES;
    uint32_t *in_dictionary = malloc((body + 1) * sizeof(*in_dictionary));

    plan->brought = malloc((p->use_count + 1) * sizeof(*plan->brought));
    plan->missing = malloc((p->use_count + 1) * sizeof(*plan->missing));
    if (in_dictionary == NULL || plan->brought == NULL || plan->missing == NULL ||
        match_dictionary(p->batch, in_dictionary) != 0) {
        free(in_dictionary);
        return -1;
    }
    for (size_t i = 0; i < p->use_count; i++) {
        stack_use use = p->uses[i];
        uint32_t entry = in_dictionary[use.stack];
        if (entry == INDEX_SET_NONE)
            plan->missing[plan->missing_count++] = use;
        else
            plan->brought[plan->brought_count++] = (stack_use){use.service, entry};
    }
    free(in_dictionary);
    return 0;
}

int ingest_plan_make(ingest_plan *plan, const profile_batch *batch)
{
    planner p = {.batch = batch, .plan = plan};

    memset(plan, 0, sizeof(*plan));
    int rc = find_services(&p) != 0 || find_uses(&p) != 0 || split_uses(&p) != 0 ? -1 : 0;
    index_set_free(&p.seen);
    free(p.uses);
    return rc;
}

void ingest_plan_free(ingest_plan *plan)
{
    free(plan->services);
    free(plan->service_of_target);
    free(plan->brought);
    free(plan->missing);
    memset(plan, 0, sizeof(*plan));
}
