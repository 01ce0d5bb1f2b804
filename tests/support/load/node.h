/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load/node.h: decides when the collector of a simulated node makes its next call, and handles the
 * answers, by the rules of docs/formats/ingest.md, like the real collector. It makes one call at a
 * time, and sends batches in the order of their windows, each until it is acknowledged or rejected.
 */
#ifndef LOAD_NODE_H
#define LOAD_NODE_H

#include "payload.h"

typedef enum call { CALL_NONE, CALL_BATCH, CALL_HEARTBEAT, CALL_STATUS, CALLS } call;

/* Numbers of the contract's Outcome; 0 = no answer of a backend. */
typedef enum outcome {
    ANSWER_NONE,
    ANSWER_ACCEPTED,
    ANSWER_DUPLICATE,
    ANSWER_REJECTED,
    ANSWER_RETRY,
    ANSWER_NEED_STACKS,
    ANSWERS
} outcome;

typedef struct answer {
    long http;
    outcome outcome;
    uint32_t retry_after_ms;
    char code[64];
} answer;

/* The behaviour of a fleet's collectors. Times in ms. */
typedef struct pace {
    double speed;      /* simulated time relative to real time; 0 = everything is due at once */
    bool newest_first; /* batches in the reverse order of their windows */
    uint64_t backoff_min, backoff_max;
    uint64_t heartbeat_every; /* real time; 0 = no heartbeats */
    uint64_t status_every;
} pace;

typedef struct node_state {
    uint32_t number;
    uint32_t settled; /* batches that were acknowledged or rejected */
    uint32_t attempt; /* of the next batch */
    uint64_t first_try_ms;
    bool all_stacks; /* the next batch must contain all of its stacks */
    uint64_t not_before_ms, backoff_ms;
    uint64_t next_heartbeat_ms, next_status_ms;
    key_table known; /* stacks that the backend knows, by payload.h's keys */
} node_state;

void node_begin(node_state *n, uint32_t number);
/* Makes the first calls due from begun_ms on, spread over the fleet. */
void node_start(node_state *n, const fleet *f, const pace *p, uint64_t begun_ms);
void node_end(node_state *n);

bool node_is_done(const node_state *n, const fleet *f);

/* Return the next batch, and when it is due by the real clock. */
batch_name node_batch(const node_state *n, const fleet *f, const pace *p);
uint64_t node_batch_due(const node_state *n, const fleet *f, const pace *p, uint64_t begun_ms);

/* Returns the call to make now, or CALL_NONE with the time to ask again. */
call node_next(const node_state *n, const fleet *f, const pace *p, uint64_t begun_ms,
               uint64_t now_ms, uint64_t *wake_ms);

/* Handles an answer to a call that ended at now_ms. `random` spreads waits. */
void node_take(node_state *n, const pace *p, call made, const answer *a, uint64_t now_ms,
               uint64_t random);

#endif
