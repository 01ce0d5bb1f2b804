/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a collector lost a batch for good. The contract and the store hold the numbers: they are
 * never reused. Pure functions, any thread.
 */
#ifndef CATALOGUE_DROP_CAUSE_H
#define CATALOGUE_DROP_CAUSE_H

enum drop_cause {
    DROP_NONE = 0,
    DROP_QUEUE_FULL = 1, /* the oldest batches were dropped for new ones */
    DROP_DISK = 2,       /* the disk was full, or could not be written */
    DROP_DAMAGED = 3,    /* the queue's file could not be read back */
    DROP_REJECTED = 4,   /* the backend refused it for good */
    DROP_END
};

typedef struct drop_cause_info {
    const char *name;        /* stable word: "queue_full" */
    const char *explanation; /* one sentence: what happened */
    const char *fix;         /* one sentence: what to do */
} drop_cause_info;

/* Returns the entry of a number, or NULL where it is not in the table (a newer collector's). */
const drop_cause_info *drop_cause_get(unsigned number);

#endif
