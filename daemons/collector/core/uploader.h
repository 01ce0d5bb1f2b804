/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings batches, status reports and heartbeats to the backend, one call at a time. The rules are
 * those of docs/formats/ingest.md: idempotent resends, Retry-After, jittered bounded backoff,
 * need_stacks, splitting, and a stop when the token is refused, until it changes.
 *
 * One thread calls uploader_step; the snapshot functions may be called from any.
 */
#ifndef COLLECTOR_CORE_UPLOADER_H
#define COLLECTOR_CORE_UPLOADER_H

#include "queue.h"
#include "report.h"

#include <catalogue/profile_type.h>

enum upload_call { UPLOAD_PROFILES, UPLOAD_STATUS, UPLOAD_HEARTBEAT };

enum upload_outcome { /* numbers of the contract's Outcome; 0 = no answer of a backend */
                      UPLOAD_NO_ANSWER = 0,
                      UPLOAD_ACCEPTED = 1,
                      UPLOAD_DUPLICATE = 2,
                      UPLOAD_REJECTED = 3,
                      UPLOAD_RETRY = 4,
                      UPLOAD_NEED_STACKS = 5,
};

/* Why what stands before a backend took no call. */
enum upload_refusal {
    UPLOAD_NOT_REFUSED,
    UPLOAD_UNAUTHORISED, /* the token is not, or no longer, good */
    UPLOAD_TOO_LARGE,    /* no body of this size, however often it comes */
};

/* One answer, or the lack of it. */
typedef struct upload_answer {
    enum upload_refusal refusal; /* with UPLOAD_NO_ANSWER */
    enum upload_outcome outcome;
    char code[64];
    char message[256]; /* the backend's words, or why there was no answer */
    uint64_t retry_after_ms;
    bool has_limits;
    batch_limits limits;
    /* With has_limits; 0 = as it is set here. */
    uint64_t flush_interval_ms, report_interval_ms;
} upload_answer;

/* What a queued entry holds. */
typedef struct entry_sums {
    uint8_t id[BATCH_ID_SIZE];
    uint64_t rows;
    profile_sum of[PROFILE_SOURCE_END];
} entry_sums;

/* How often an entry has been tried. */
typedef struct entry_tries {
    uint32_t attempt;   /* number of this try; more than 1 where the backend may hold a part */
    uint64_t waited_ms; /* since the first try of this process */
} entry_tries;

/* Everything outside. */
typedef struct uploader_ports {
    void *context;
    uint64_t (*now_ms)(void *context);    /* Unix ms, to tell */
    uint64_t (*steady_ms)(void *context); /* ms of a clock that nobody sets, to wait */
    uint64_t (*random)(void *context);
    void (*log)(void *context, const char *message);

    /* Transport: posts encoded bytes; fills *out in every case. */
    void (*post)(void *context, enum upload_call call, const uint8_t *bytes, size_t length,
                 upload_answer *out);
    /* Changes whenever the token did. */
    uint64_t (*token_generation)(void *context);

    /* Wire form. Each *out is malloc'd. 0, or -1. */
    int (*encode)(void *context, const batch *one, uint8_t **out, size_t *length);
    int (*decode)(void *context, const uint8_t *entry, size_t length, batch *out);
    /* The bytes to send of an entry: with all stacks, or only those the backend may not know. */
    int (*pack_entry)(void *context, const uint8_t *entry, size_t length, bool all_stacks,
                      const entry_tries *tries, uint8_t **out, size_t *out_length);
    /* The backend has the entry: its stacks are known from now on. */
    int (*note_stored)(void *context, const uint8_t *entry, size_t length, entry_sums *sums);
    int (*encode_status)(void *context, const status_report *report, uint8_t **out, size_t *length);
    int (*encode_heartbeat)(void *context, const heartbeat *beat, uint8_t **out, size_t *length);
    /* What to report now; the uploader clears it. */
    void (*snapshot)(void *context, status_report *out);
    /* The backend has taken that report. */
    void (*reported)(void *context, const status_report *report);
    /* A batch was acknowledged, or lost for good (code != NULL). May be NULL. */
    void (*settled)(void *context, const entry_sums *sums, const char *code);
} uploader_ports;

typedef struct uploader_options {
    uint64_t backoff_min_ms;
    uint64_t backoff_max_ms;
    uint64_t status_interval_ms;
    uint64_t status_gap_ms; /* least time between two reports on change */
    uint64_t heartbeat_interval_ms;
} uploader_options;

typedef struct uploader uploader;

/* `queued` is borrowed. NULL where memory ran out. */
uploader *uploader_new(const uploader_ports *ports, const uploader_options *options, queue *queued);
void uploader_free(uploader *self);

/* A target's status changed: report soon. Any thread. */
void uploader_status_changed(uploader *self);

/*
 * Makes at most one call. Returns when it wants to be called again, by ports.steady_ms; a time that
 * has passed = at once.
 */
uint64_t uploader_step(uploader *self);

/*
 * True while a batch waits that the backend may take: now, or after the wait that a failed call
 * asks for. For the end: step, each time when the step before said so, while it is true.
 */
bool uploader_has_work(uploader *self);

typedef struct uploader_stats {
    uint64_t accepted, duplicate, rejected, retried, need_stacks, split, failed_calls;
    uint64_t rows;
    profile_sum sent[PROFILE_SOURCE_END];
    bool blocked;             /* the token is refused */
    bool reachable;           /* the last call was answered by a backend */
    uint64_t last_success_ms; /* when a batch was taken last; 0 = never */
    char last_error[384];
    batch_limits limits; /* as the backend said last */
    uint64_t flush_interval_ms;
} uploader_stats;
uploader_stats uploader_get_stats(uploader *self);

#endif
