/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends batches, status reports and heartbeats to the backend, one call at a time, by the rules of
 * docs/formats/ingest.md: idempotent resends, Retry-After, bounded backoff with jitter,
 * need_stacks, splitting, and a pause after the token was refused, until it changes.
 *
 * One thread calls uploader_step; any thread may call the snapshot functions.
 */
#ifndef COLLECTOR_CORE_UPLOADER_H
#define COLLECTOR_CORE_UPLOADER_H

#include "queue.h"
#include "report.h"

#include <catalogue/profile_type.h>

enum upload_call { UPLOAD_PROFILES, UPLOAD_STATUS, UPLOAD_HEARTBEAT };

enum upload_outcome { /* numbers of the contract's Outcome; 0 = no backend answered */
                      UPLOAD_NO_ANSWER = 0,
                      UPLOAD_ACCEPTED = 1,
                      UPLOAD_DUPLICATE = 2,
                      UPLOAD_REJECTED = 3,
                      UPLOAD_RETRY = 4,
                      UPLOAD_NEED_STACKS = 5,
};

/* Why a call was refused before the backend's ingest saw it. */
enum upload_refusal {
    UPLOAD_NOT_REFUSED,
    UPLOAD_UNAUTHORISED, /* the token is not valid, or no longer */
    UPLOAD_TOO_LARGE,    /* it never accepts a body of this size */
};

/* An answer, or its absence. */
typedef struct upload_answer {
    enum upload_refusal refusal; /* with UPLOAD_NO_ANSWER */
    enum upload_outcome outcome;
    char code[64];
    char message[256]; /* the backend's message, or why there was no answer */
    uint64_t retry_after_ms;
    bool has_limits;
    batch_limits limits;
    /* With has_limits; 0 = as set here. */
    uint64_t flush_interval_ms, report_interval_ms;
} upload_answer;

/* The content of a queued entry. */
typedef struct entry_sums {
    uint8_t id[BATCH_ID_SIZE];
    uint64_t rows;
    profile_sum of[PROFILE_SOURCE_END];
} entry_sums;

/* How often an entry has been tried. */
typedef struct entry_tries {
    uint32_t attempt; /* number of this try; more than 1 where the backend may have stored a part */
    uint64_t waited_ms; /* since the first try of this process */
} entry_tries;

/* Everything outside of the uploader. */
typedef struct uploader_ports {
    void *context;
    uint64_t (*now_ms)(void *context);    /* Unix ms, for reports */
    uint64_t (*steady_ms)(void *context); /* ms of a clock that cannot be set, for waits */
    uint64_t (*random)(void *context);
    void (*log)(void *context, const char *message);

    /* Transport: posts encoded bytes, and fills *out in every case. */
    void (*post)(void *context, enum upload_call call, const uint8_t *bytes, size_t length,
                 upload_answer *out);
    /* Returns a number that changes with the token. */
    uint64_t (*token_generation)(void *context);

    /* Wire form. Each *out is malloc'd. 0, or -1. */
    int (*encode)(void *context, const batch *one, uint8_t **out, size_t *length);
    int (*decode)(void *context, const uint8_t *entry, size_t length, batch *out);
    /* Makes the bytes to send for an entry: with all stacks, or only those that the backend may not
     * know. */
    int (*pack_entry)(void *context, const uint8_t *entry, size_t length, bool all_stacks,
                      const entry_tries *tries, uint8_t **out, size_t *out_length);
    /* Called when the backend has the entry: its stacks are known from then on. */
    int (*note_stored)(void *context, const uint8_t *entry, size_t length, entry_sums *sums);
    int (*encode_status)(void *context, const status_report *report, uint8_t **out, size_t *length);
    int (*encode_heartbeat)(void *context, const heartbeat *beat, uint8_t **out, size_t *length);
    /* Fills the next status report; the uploader clears it. */
    void (*snapshot)(void *context, status_report *out);
    /* Called when the backend has taken that report. */
    void (*reported)(void *context, const status_report *report);
    /* Called when a batch was acknowledged, or lost for good (code != NULL). May be NULL. */
    void (*settled)(void *context, const entry_sums *sums, const char *code);
} uploader_ports;

typedef struct uploader_options {
    uint64_t backoff_min_ms;
    uint64_t backoff_max_ms;
    uint64_t status_interval_ms;
    uint64_t status_gap_ms; /* least time between two reports about changes */
    uint64_t heartbeat_interval_ms;
} uploader_options;

typedef struct uploader uploader;

/* Borrows `queued`. Returns NULL without memory. */
uploader *uploader_new(const uploader_ports *ports, const uploader_options *options, queue *queued);
void uploader_free(uploader *self);

/* Says that a target's status changed, so that a report follows soon. Any thread. */
void uploader_status_changed(uploader *self);

/*
 * Makes at most one call. Returns when it must be called again, by ports.steady_ms; a time in the
 * past = at once.
 */
uint64_t uploader_step(uploader *self);

/*
 * Whether a batch is waiting that the backend may take, now or after the wait that follows a failed
 * call. For the end of the program: while it is true, call uploader_step at the times that it
 * returns.
 */
bool uploader_has_work(uploader *self);

typedef struct uploader_stats {
    uint64_t accepted, duplicate, rejected, retried, need_stacks, split, failed_calls;
    uint64_t rows;
    profile_sum sent[PROFILE_SOURCE_END];
    bool blocked;             /* the backend refused the token */
    bool reachable;           /* a backend answered the last call */
    uint64_t last_success_ms; /* when a batch was last taken; 0 = never */
    char last_error[384];
    batch_limits limits; /* as the backend last sent them */
    uint64_t flush_interval_ms;
} uploader_stats;
uploader_stats uploader_get_stats(uploader *self);

#endif
