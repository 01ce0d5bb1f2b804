/* SPDX-License-Identifier: Apache-2.0 */
/* One recording that a subcommand of `hotstack jfr` reads event by event. */
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
    text *out; /* text for standard output; a broken pipe there ends the walk */
    jfr_file *file;
    char *input; /* the bytes read from a pipe */
    jfr_chunk *chunk;
    jfr_events *walk;
    filter_names events; /* filters of the options; tell whether the recording has them */
    filter_names categories;
    uint64_t bytes;      /* size of the recording as it is in the file; 0 = unknown */
    uint64_t chunks;     /* chunks that were delivered */
    uint64_t shown;      /* events, or types of the metadata, that pass the filters */
    uint64_t bad_events; /* events whose bytes do not fit their type */
    int64_t from_ns;     /* the range that the options ask for, in this recording */
    int64_t to_ns;
    bool failed; /* out of memory or over a limit; the complaint has been printed */
    bool shows_progress;
    int percent; /* the percentage shown last */
} look;

/* Opens the recording. Complains and returns false when it cannot be read at all. */
bool look_open(look *l, const cli_options *options, text *out);

/* Moves to the next chunk, l->chunk. Returns false at the end. */
bool look_next_chunk(look *l);

/* Begins a walk over the chunk's chosen events. `flags`: of jfr_events_flags. */
bool look_begin_events(look *l, uint32_t flags);
/* Reads the next event. Returns false at the chunk's end. */
bool look_next_event(look *l, jfr_event *event);

/* Shows on a terminal how far the walk is. */
void look_progress(look *l, uint64_t offset);

/* Records an error of one event. Returns false when the walk cannot go on. */
bool look_survives(look *l, int rc, const jfr_error *err);

/*
 * Ends the walk: writes the rest of `out`, reports on standard error what is missing, and closes
 * everything. Returns the exit code.
 */
int look_close(look *l);

#endif
