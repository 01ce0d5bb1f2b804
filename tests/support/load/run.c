/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "client.h"
#include "control.h"

#include <inttypes.h>
#include <stdlib.h>

#include <base/clock.h>

enum { PROGRESS_MS = 10000, WAIT_MAX_MS = 1000 };

/* A node with its current call. */
typedef struct caller {
    node_state node;
    call made; /* CALL_NONE = there is none */
    payload sent;
    payload *prepared; /* of its batches, in order; NULL = made when they are sent */
} caller;

typedef struct run {
    const fleet *f;
    const run_options *o;
    client *client;
    caller *callers;
    tallies *out;
    uint64_t begun_ms, told_ms;
    uint64_t settled, all;
    unsigned seed; /* for the spread of waits */
} run;

static int fail(const char *what)
{
    (void)fprintf(stderr, "hotstack-load: %s\n", what);
    return -1;
}

static void tell_progress(run *r, const char *what, uint64_t done, uint64_t of)
{
    uint64_t now_ms = clock_monotonic_ms(NULL);

    if (now_ms - r->told_ms < PROGRESS_MS)
        return;
    r->told_ms = now_ms;
    const uint64_t *batches = r->out->outcomes[CALL_BATCH];
    (void)fprintf(stderr,
                  "hotstack-load: %" PRIu64 " s: %s %" PRIu64 " of %" PRIu64
                  " batches; put off %" PRIu64 ", no answer %" PRIu64 ", rejected %" PRIu64 "\n",
                  (now_ms - r->begun_ms) / 1000, what, done, of, batches[ANSWER_RETRY],
                  batches[ANSWER_NONE], batches[ANSWER_REJECTED]);
}

/* ---- payloads ---- */

/* Makes all payloads of a node, as if each were acknowledged before the next. Returns 0 or -1. */
static int prepare_node(run *r, caller *c)
{
    uint32_t count = r->f->windows * fleet_parts(r->f);
    int rc = 0;

    c->prepared = calloc(count, sizeof(*c->prepared));
    if (c->prepared == NULL)
        return -1;
    for (; c->node.settled < count && rc == 0; c->node.settled++) {
        payload *to = &c->prepared[c->node.settled];
        const payload_try first = {.known = &c->node.known, .attempt = 1};
        rc = payload_make(r->f, node_batch(&c->node, r->f, &r->o->pace), &first, to);
        if (rc == 0)
            rc = payload_note_stored(to, &c->node.known);
        free(to->uses);
        to->uses = NULL;
        to->use_count = 0;
    }
    c->node.settled = 0;
    key_table_clear(&c->node.known);
    return rc;
}

static int prepare_all(run *r)
{
    for (uint32_t i = 0; i < r->f->nodes; i++) {
        tell_progress(r, "prepared", (uint64_t)i * r->f->windows * fleet_parts(r->f), r->all);
        if (prepare_node(r, &r->callers[i]) != 0)
            return fail("out of memory");
    }
    return 0;
}

/* Gets the payload of a node's next batch. Returns 0 or -1. */
static int take_payload(run *r, caller *c, uint64_t now_ms)
{
    node_state *n = &c->node;

    if (n->attempt == 1)
        n->first_try_ms = now_ms;
    if (c->prepared != NULL && n->attempt == 1 && !n->all_stacks) {
        c->sent = c->prepared[n->settled];
        c->prepared[n->settled] = (payload){0};
        return 0;
    }
    /* A prepared run has no list of known stacks: every try but the first contains all stacks. */
    bool all = n->all_stacks || c->prepared != NULL;
    const payload_try how = {.known = all ? NULL : &n->known,
                             .attempt = n->attempt,
                             .waited_ms = now_ms - n->first_try_ms};
    return payload_make(r->f, node_batch(n, r->f, &r->o->pace), &how, &c->sent);
}

/* ---- calls ---- */

static control_queue queue_of(const run *r, const node_state *n, uint64_t now_ms)
{
    control_queue queue = {.cut = n->settled};

    queue.waiting =
        !node_is_done(n, r->f) && node_batch_due(n, r->f, &r->o->pace, r->begun_ms) <= now_ms;
    queue.cut += queue.waiting;
    return queue;
}

static int make_payload(run *r, caller *c, call made, uint64_t now_ms)
{
    const control_queue queue = queue_of(r, &c->node, now_ms);

    switch (made) {
    case CALL_HEARTBEAT:
        return control_heartbeat(r->f, c->node.number, &queue, clock_unix_ms(NULL), &c->sent);
    case CALL_STATUS:
        return control_status(r->f, c->node.number, clock_unix_ms(NULL), &c->sent);
    default:
        return take_payload(r, c, now_ms);
    }
}

static int begin_call(run *r, caller *c, call made, uint64_t now_ms)
{
    if (make_payload(r, c, made, now_ms) != 0)
        return fail("out of memory");
    c->made = made;
    if (made == CALL_BATCH)
        r->out->sent_bytes += c->sent.length;
    client_begin(r->client, c->node.number, made, c->sent.bytes, c->sent.length);
    return 0;
}

/* Begins the calls that are due; *wake_ms: when the next one is due. Returns 0 or -1. */
static int begin_calls(run *r, uint64_t *wake_ms)
{
    uint64_t now_ms = clock_monotonic_ms(NULL);

    *wake_ms = now_ms + WAIT_MAX_MS;
    for (uint32_t i = 0; i < r->f->nodes; i++) {
        caller *c = &r->callers[i];
        uint64_t due_ms = UINT64_MAX;
        if (c->made != CALL_NONE)
            continue;
        call next = node_next(&c->node, r->f, &r->o->pace, r->begun_ms, now_ms, &due_ms);
        if (next != CALL_NONE && begin_call(r, c, next, now_ms) != 0)
            return -1;
        *wake_ms = due_ms < *wake_ms ? due_ms : *wake_ms;
    }
    return 0;
}

static int print_acknowledged(run *r, batch_name name, outcome how)
{
    FILE *to = r->o->acknowledged;
    uint8_t id[BATCH_ID_SIZE];

    if (to == NULL)
        return 0;
    fleet_batch_id(r->f, name, id);
    for (size_t i = 0; i < BATCH_ID_SIZE; i++)
        (void)fprintf(to, "%02x", id[i]);
    (void)fprintf(to, " %u %u %u %s\n", name.node, name.window, name.part,
                  how == ANSWER_DUPLICATE ? "duplicate" : "accepted");
    return fflush(to) == 0 ? 0 : fail("the list of acknowledged batches cannot be written");
}

static int take_batch(run *r, caller *c, const answer *a, uint64_t now_ms)
{
    bool stored = a->outcome == ANSWER_ACCEPTED || a->outcome == ANSWER_DUPLICATE;
    uint64_t due_ms = node_batch_due(&c->node, r->f, &r->o->pace, r->begun_ms);

    if (!stored)
        return 0;
    if (now_ms > due_ms && now_ms - due_ms > r->out->late_ms)
        r->out->late_ms = now_ms - due_ms;
    if (c->prepared == NULL && payload_note_stored(&c->sent, &c->node.known) != 0)
        return fail("out of memory");
    return print_acknowledged(r, node_batch(&c->node, r->f, &r->o->pace), a->outcome);
}

static int take_call(run *r, caller *c, const answer *a, uint64_t took_us)
{
    uint64_t now_ms = clock_monotonic_ms(NULL);
    uint32_t settled = c->node.settled;

    if (a->http == 401 || a->http == 403)
        return fail("the backend refuses the token");
    if (tallies_add(r->out, c->made, a, took_us) != 0)
        return fail("out of memory");
    if (c->made == CALL_BATCH && take_batch(r, c, a, now_ms) != 0)
        return -1;
    node_take(&c->node, &r->o->pace, c->made, a, now_ms, (uint64_t)rand_r(&r->seed));
    r->settled += c->node.settled - settled;
    payload_clear(&c->sent);
    c->made = CALL_NONE;
    return 0;
}

static int call_until_settled(run *r)
{
    while (r->settled < r->all) {
        uint64_t wake_ms = 0, took_us = 0;
        uint32_t node = 0;
        answer a;
        if (begin_calls(r, &wake_ms) != 0)
            return -1;
        uint64_t now_ms = clock_monotonic_ms(NULL);
        client_wait(r->client, wake_ms > now_ms ? wake_ms - now_ms : 0);
        while (client_take(r->client, &node, &a, &took_us)) {
            if (take_call(r, &r->callers[node], &a, took_us) != 0)
                return -1;
        }
        tell_progress(r, "acknowledged", r->settled, r->all);
    }
    return 0;
}

/* ---- the whole ---- */

static void end_callers(run *r)
{
    uint32_t count = r->f->windows * fleet_parts(r->f);

    for (uint32_t i = 0; r->callers != NULL && i < r->f->nodes; i++) {
        caller *c = &r->callers[i];
        for (uint32_t k = 0; c->prepared != NULL && k < count; k++)
            payload_clear(&c->prepared[k]);
        free(c->prepared);
        payload_clear(&c->sent);
        node_end(&c->node);
    }
    free(r->callers);
}

int run_fleet(const fleet *f, const run_options *o, tallies *out)
{
    run r = {.f = f, .o = o, .out = out, .seed = (unsigned)f->seed};

    *out = (tallies){0};
    r.all = (uint64_t)f->nodes * f->windows * fleet_parts(f);
    r.begun_ms = r.told_ms = clock_monotonic_ms(NULL);
    r.client = client_new(o->urls, o->url_count, o->token, f->nodes, o->timeout_ms);
    r.callers = calloc(f->nodes, sizeof(*r.callers));
    int rc = r.client != NULL && r.callers != NULL ? 0 : fail("out of memory");
    for (uint32_t i = 0; i < f->nodes && rc == 0; i++)
        node_begin(&r.callers[i].node, i);
    if (rc == 0 && o->prepare)
        rc = prepare_all(&r);
    r.begun_ms = clock_monotonic_ms(NULL);
    for (uint32_t i = 0; i < f->nodes && rc == 0; i++)
        node_start(&r.callers[i].node, f, &o->pace, r.begun_ms);
    if (rc == 0)
        rc = call_until_settled(&r);
    out->wall_ms = clock_monotonic_ms(NULL) - r.begun_ms;
    client_free(r.client);
    end_callers(&r);
    return rc;
}
