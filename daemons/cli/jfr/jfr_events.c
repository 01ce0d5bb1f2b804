/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack jfr events`: one JSON object a line, for pipes. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/jfr/jfr.h"
#include "cli/jfr/jfr_json.h"
#include "cli/jfr/jfr_look.h"

static const char help[] =
    "usage: hotstack jfr events FILE [OPTIONS]\n"
    "\n"
    "Writes the events of a recording as JSON, one object a line, in the order in which they lie "
    "in\n"
    "the file: {\"type\":\"jdk.ThreadPark\",\"values\":{...}}. Names and values are those of\n"
    "`hotstack jfr print --json`. - is standard input.\n"
    "\n"
    "      --events FILTER      only these events: names with or without their package, separated\n"
    "                           by commas; * and ? stand for any text and any character\n"
    "      --categories FILTER  only events of these categories, or of their initials\n"
    "      --from TIME, --to TIME\n"
    "                           only events that end at or after --from and start before --to:\n"
    "                           2026-11-21T10:00:00Z (no zone is UTC), Unix seconds, +30s\n"
    "                           after the recording's start, -30s before its end\n"
    "      --stack-depth N      frames of a stack trace that are shown (default 5)\n"
    "      --json               taken for granted\n"
    "  -h, --help               this text\n"
    "\n"
    "Exit codes: 0 all was read; 3 written, but a part of the recording is damaged or cut off,\n"
    "named on standard error; 1 nothing could be read (with the offset); 2 wrong usage.\n";

static void write_chunk(look *l, jfr_json *json)
{
    jfr_error err = {.code = 0};
    jfr_event event;
    int rc = jfr_json_begin_chunk(json, l->chunk, &err);
    if (rc < 0) {
        (void)look_survives(l, rc, &err);
        return;
    }
    if (!look_begin_events(l, 0))
        return;
    while (look_next_event(l, &event)) {
        rc = jfr_json_event(json, &event, 0, &err);
        if (rc == 0)
            text_char(l->out, '\n');
        else if (!look_survives(l, rc, &err))
            return;
        if (l->out->len >= TEXT_PIECE)
            text_flush(l->out);
    }
}

int jfr_events_run(int argc, char **argv)
{
    look_options o;
    text out = {.fd = 1};
    look l;
    int rc = look_parse(&o, argc, argv, LOOK_JSON | LOOK_FILTER | LOOK_TIMES | LOOK_STACKS, help);
    if (rc >= 0)
        return rc;
    if (!look_open(&l, &o, &out))
        return EXIT_UNREADABLE;
    jfr_json *json = jfr_json_new(&out, JFR_JSON_LINE, o.stack_depth);
    if (json == NULL) {
        complain("there is no memory to write events");
        l.failed = true;
    }
    while (look_next_chunk(&l))
        write_chunk(&l, json);
    rc = look_close(&l);
    jfr_json_free(json);
    return rc;
}
