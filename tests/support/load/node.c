/* SPDX-License-Identifier: Apache-2.0 */
#include "node.h"

static uint64_t phase_of(const fleet *f, uint32_t number, uint64_t span_ms)
{
    return span_ms * number / f->nodes;
}

void node_begin(node_state *n, uint32_t number)
{
    *n = (node_state){.number = number, .attempt = 1, .known.key_size = sizeof(uint64_t)};
}

void node_start(node_state *n, const fleet *f, const pace *p, uint64_t begun_ms)
{
    n->next_heartbeat_ms = begun_ms + phase_of(f, n->number, p->heartbeat_every);
    n->next_status_ms = begun_ms + phase_of(f, n->number, p->status_every);
}

void node_end(node_state *n)
{
    key_table_clear(&n->known);
}

bool node_is_done(const node_state *n, const fleet *f)
{
    return n->settled == f->windows * fleet_parts(f);
}

batch_name node_batch(const node_state *n, const fleet *f, const pace *p)
{
    uint32_t window = n->settled / fleet_parts(f);

    return (batch_name){n->number, p->newest_first ? f->windows - 1 - window : window,
                        n->settled % fleet_parts(f)};
}

uint64_t node_batch_due(const node_state *n, const fleet *f, const pace *p, uint64_t begun_ms)
{
    uint64_t after_ms = (uint64_t)(n->settled / fleet_parts(f)) * WINDOW_MS;

    if (p->speed <= 0)
        return begun_ms;
    return begun_ms + (uint64_t)((double)(after_ms + phase_of(f, n->number, WINDOW_MS)) / p->speed);
}

call node_next(const node_state *n, const fleet *f, const pace *p, uint64_t begun_ms,
               uint64_t now_ms, uint64_t *wake_ms)
{
    const struct {
        call call;
        bool wanted;
        uint64_t due_ms;
    } calls[] = {
        {CALL_HEARTBEAT, p->heartbeat_every > 0, n->next_heartbeat_ms},
        {CALL_STATUS, p->status_every > 0, n->next_status_ms},
        {CALL_BATCH, !node_is_done(n, f), node_batch_due(n, f, p, begun_ms)},
    };

    *wake_ms = UINT64_MAX;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        uint64_t due_ms = calls[i].due_ms > n->not_before_ms ? calls[i].due_ms : n->not_before_ms;
        if (!calls[i].wanted)
            continue;
        if (due_ms <= now_ms)
            return calls[i].call;
        *wake_ms = due_ms < *wake_ms ? due_ms : *wake_ms;
    }
    return CALL_NONE;
}

/* Doubles the wait up to its bound; a wait that the backend asks for takes precedence. */
static void back_off(node_state *n, const pace *p, uint64_t asked_ms, uint64_t now_ms,
                     uint64_t random)
{
    uint64_t wait_ms = n->backoff_ms == 0 ? p->backoff_min : 2 * n->backoff_ms;

    n->backoff_ms = wait_ms < p->backoff_max ? wait_ms : p->backoff_max;
    wait_ms = n->backoff_ms / 2 + random % (n->backoff_ms / 2 + 1);
    if (asked_ms > 0)
        wait_ms = asked_ms + random % (asked_ms / 8 + 1);
    n->not_before_ms = now_ms + wait_ms;
}

static void settle(node_state *n)
{
    n->settled++;
    n->attempt = 1;
    n->all_stacks = false;
}

void node_take(node_state *n, const pace *p, call made, const answer *a, uint64_t now_ms,
               uint64_t random)
{
    bool failed = a->outcome == ANSWER_NONE || a->outcome == ANSWER_RETRY;
    bool asked_again = a->outcome == ANSWER_NEED_STACKS && n->all_stacks;

    if (failed || asked_again) {
        back_off(n, p, a->retry_after_ms, now_ms, random);
    } else {
        n->backoff_ms = n->not_before_ms = 0;
    }
    if (made == CALL_HEARTBEAT && !failed)
        n->next_heartbeat_ms = now_ms + p->heartbeat_every;
    if (made == CALL_STATUS && !failed)
        n->next_status_ms = now_ms + p->status_every;
    if (made != CALL_BATCH)
        return;
    if (failed)
        n->attempt++; /* the backend may have stored a part of the batch */
    else if (a->outcome == ANSWER_NEED_STACKS)
        n->all_stacks = true;
    else
        settle(n);
}
