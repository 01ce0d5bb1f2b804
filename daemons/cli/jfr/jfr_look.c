/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jfr/jfr_look.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <recording/recording.h>

#include "cli/command.h"
#include "cli/commands/input.h"

/* PIPE_LIMIT: a recording from a pipe must fit into memory. PROGRESS_BYTES: shorter files are read
 * before anybody could see a progress bar. */
#define PIPE_LIMIT     (UINT64_C(4) << 30)
#define PROGRESS_BYTES (UINT64_C(16) << 20)

static const char *name_of(const look *l)
{
    return strcmp(l->options->operands[0], "-") == 0 ? "standard input" : l->options->operands[0];
}

static void complain_at(const look *l, const jfr_error *err)
{
    if (err->code == JFR_ERR_FORMAT || err->code == JFR_ERR_LIMIT)
        complain("%s at byte %" PRIu64 ": %s", name_of(l), err->offset, err->message);
    else if (err->code == JFR_ERR_IO) /* the message names the file itself */
        complain("%s", err->message);
    else
        complain("%s: %s", name_of(l), err->message);
}

/* Reads standard input, or another pipe or device. */
static int open_pipe(look *l, const jfr_options *o, jfr_error *err)
{
    bytes input;
    int error = read_all(&input, l->options->operands[0], PIPE_LIMIT);
    if (error != 0) {
        *err = (jfr_error){.code = JFR_ERR_IO};
        (void)snprintf(err->message, sizeof(err->message), "%s: cannot read it: %s", name_of(l),
                       strerror(error));
        return err->code;
    }
    l->input = input.data;
    l->bytes = input.size;
    return jfr_open_mem(&l->file, input.data, input.size, o, err);
}

static int begin_names(look *l, jfr_error *err)
{
    const cli_options *o = l->options;
    if (filter_names_begin(&l->events, o->events, false) &&
        filter_names_begin(&l->categories, o->categories, true))
        return 0;
    *err = (jfr_error){.code = JFR_ERR_NOMEM};
    (void)snprintf(err->message, sizeof(err->message), "there is no memory for the filters");
    return err->code;
}

static void free_input(look *l)
{
    filter_names_free(&l->events);
    filter_names_free(&l->categories);
    jfr_close(l->file);
    free(l->input);
}

/* Computes the times of --from and --to, whose offsets are relative to the recording's start or
 * end. */
static int find_times(look *l, jfr_error *err)
{
    const cli_options *o = l->options;
    jfr_span span = {0};
    int rc = time_is_relative(&o->filter.from) || time_is_relative(&o->filter.to)
                 ? jfr_file_span(l->file, &span, err)
                 : 0;
    l->from_ns = time_option_instant(&o->filter.from, span.start_ns, span.end_ns, INT64_MIN);
    l->to_ns = time_option_instant(&o->filter.to, span.start_ns, span.end_ns, INT64_MAX);
    return rc < 0 ? rc : 0;
}

bool look_open(look *l, const cli_options *options, text *out)
{
    jfr_options o = JFR_OPTIONS_INIT;
    jfr_error err = {.code = 0};
    struct stat st;
    *l = (look){.options = options, .out = out, .percent = -1};
    o.flags = JFR_WALK_UNFINISHED;
    int rc;
    if (input_is_plain(options->operands[0])) {
        rc = jfr_open_file(&l->file, options->operands[0], &o, &err);
        l->bytes = rc == 0 && stat(options->operands[0], &st) == 0 ? (uint64_t)st.st_size : 0;
    } else {
        rc = open_pipe(l, &o, &err);
    }
    l->shows_progress =
        l->bytes >= PROGRESS_BYTES && isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    if (rc == 0)
        rc = find_times(l, &err);
    if (rc == 0)
        rc = begin_names(l, &err);
    if (rc == 0)
        return true;
    complain_at(l, &err);
    free_input(l);
    return false;
}

bool look_survives(look *l, int rc, const jfr_error *err)
{
    if (rc == JFR_ERR_FORMAT || rc == JFR_ERR_LIMIT) {
        if (l->bad_events++ == 0)
            complain_at(l, err);
        return true;
    }
    if (l->out->error == 0)
        complain_at(l, err);
    l->failed = true;
    return false;
}

static void look_for_names(look *l)
{
    jfr_error err = {.code = 0};
    int rc = filter_names_look(&l->events, l->chunk, &err);
    if (rc == 0)
        rc = filter_names_look(&l->categories, l->chunk, &err);
    if (rc < 0)
        (void)look_survives(l, rc, &err);
}

bool look_next_chunk(look *l)
{
    jfr_error err = {.code = 0};
    int rc = JFR_ERR_LIMIT;
    while (!l->failed && l->out->error == 0 && rc == JFR_ERR_LIMIT) {
        rc = jfr_next_chunk(l->file, &l->chunk, &err);
        if (rc == JFR_ERR_LIMIT) /* that chunk is lost, but the next may be readable */
            complain_at(l, &err);
    }
    l->chunks += rc == 1;
    if (rc == 1)
        look_for_names(l);
    if (rc < 0 && rc != JFR_ERR_LIMIT)
        (void)look_survives(l, rc, &err);
    return rc == 1;
}

bool look_begin_events(look *l, uint32_t flags)
{
    jfr_events_options o = JFR_EVENTS_OPTIONS_INIT;
    jfr_error err = {.code = 0};
    o.events = l->options->events;
    o.categories = l->options->categories;
    o.from_ns = l->from_ns;
    o.to_ns = l->to_ns;
    o.flags = flags;
    int rc = jfr_events_open(&l->walk, l->chunk, &o, &err);
    return rc == 0 || look_survives(l, rc, &err) ? rc == 0 : false;
}

static void end_events(look *l)
{
    l->bad_events += jfr_events_bad(l->walk);
    jfr_events_close(l->walk);
    l->walk = NULL;
}

bool look_next_event(look *l, jfr_event *event)
{
    jfr_error err = {.code = 0};
    int rc = l->out->error == 0 ? jfr_events_next(l->walk, event, &err) : 0;
    if (rc == 1) {
        l->shown++;
        look_progress(l, event->offset);
        return true;
    }
    if (rc < 0)
        (void)look_survives(l, rc, &err);
    end_events(l);
    return false;
}

/* Shows the progress. A gzip file unpacks to more than its size: the bar then stays at its end. */
void look_progress(look *l, uint64_t offset)
{
    if (!l->shows_progress)
        return;
    int percent = offset >= l->bytes ? 100 : (int)(offset * 100 / l->bytes);
    if (percent == l->percent)
        return;
    char bar[21];
    for (int i = 0; i < 20; i++)
        bar[i] = i * 5 < percent ? '#' : '.';
    bar[20] = '\0';
    (void)fprintf(stderr, "\r%s %3d %%", bar, percent);
    l->percent = percent;
}

static void report_losses(const look *l)
{
    jfr_loss loss;
    jfr_file_loss(l->file, &loss);
    for (size_t i = 0; i < loss.record_count; i++) {
        char line[256];
        recording_loss_text(&loss.records[i], line, sizeof(line));
        complain("missing: %s", line);
    }
    if (l->bad_events > 0)
        complain("missing: %" PRIu64 " events whose bytes do not fit their type", l->bad_events);
    complain_of_recorder(loss.recorder_samples, loss.recorder_bytes);
}

static void note_nothing_left(const look *l)
{
    const cli_options *o = l->options;
    if (l->shown == 0 &&
        (o->events != NULL || o->categories != NULL || o->filter.from.base != TIME_NOT_GIVEN ||
         o->filter.to.base != TIME_NOT_GIVEN))
        complain("note: no event of the recording passes the filters");
}

static int exit_code(const look *l)
{
    jfr_loss loss;
    jfr_file_loss(l->file, &loss);
    if (l->out->error == EPIPE)
        return EXIT_WHOLE; /* the reader of the pipe has closed it */
    if (l->out->error != 0) {
        complain("cannot write standard output: %s", strerror(l->out->error));
        return EXIT_UNREADABLE;
    }
    report_losses(l);
    if (l->failed)
        return EXIT_UNREADABLE;
    if (l->chunks == 0) {
        complain("%s: no chunk can be read", name_of(l));
        return EXIT_UNREADABLE;
    }
    size_t missing = filter_names_report(&l->events, name_of(l)) +
                     filter_names_report(&l->categories, name_of(l));
    if (missing > 0 && loss.chunks_lost == 0) /* else a lost chunk may have had the name */
        return EXIT_USAGE;
    note_nothing_left(l);
    return loss.record_count > 0 || l->bad_events > 0 ? EXIT_SALVAGED : EXIT_WHOLE;
}

int look_close(look *l)
{
    if (l->walk != NULL)
        end_events(l);
    if (l->percent >= 0)
        (void)fputs("\r                          \r", stderr);
    text_flush(l->out);
    int code = exit_code(l);
    text_free(l->out);
    free_input(l);
    return code;
}
