/* SPDX-License-Identifier: Apache-2.0 */
/* One recording that a subcommand of `hotstack jfr` looks into, event by event. */
#ifndef HOTSTACK_CLI_JFR_LOOK_H
#define HOTSTACK_CLI_JFR_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jfr/jfr.h>

#include "cli/jfr/jfr_filter.h"
#include "cli/options/options.h"
#include "cli/output/text.h"

typedef struct look {
    const cli_options *options;
    text *out; /* what is written to standard output; a broken pipe there ends the walk */
    jfr_file *file;
    char *input; /* a pipe's bytes */
    jfr_chunk *chunk;
    jfr_events *walk;
    filter_names events; /* of the options: whether the recording has them */
    filter_names categories;
    uint64_t bytes;      /* of the recording, as it lies in the file; 0 = not known */
    uint64_t chunks;     /* delivered */
    uint64_t shown;      /* events, or types of the metadata, that the filters left */
    uint64_t bad_events; /* whose bytes do not fit their type */
    int64_t from_ns;     /* what the options ask for, of this recording */
    int64_t to_ns;
    bool failed; /* out of memory or past a limit: it was complained about */
    bool shows_progress;
    int percent; /* shown last */
} look;

/* Opens the recording. Complains and returns false when it cannot be read at all. */
bool look_open(look *l, const cli_options *options, text *out);

/* The next chunk in l->chunk. Returns false at the end. */
bool look_next_chunk(look *l);

/* Begins walking the chunk's chosen events. `flags`: of jfr_events_flags. */
bool look_begin_events(look *l, uint32_t flags);
/* The next one. Returns false at the chunk's end. */
bool look_next_event(look *l, jfr_event *event);

/* Shows how far the walk is, on a terminal. */
void look_progress(look *l, uint64_t offset);

/* Notes what went wrong with one event. Returns false when there is no going on. */
bool look_survives(look *l, int rc, const jfr_error *err);

/*
 * Ends it: writes the rest of `out`, says on standard error what is missing, closes everything.
 * Returns the exit code.
 */
int look_close(look *l);

#endif
