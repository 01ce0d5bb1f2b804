/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack jfr events`: prints one JSON object per line, for pipes. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/jfr/jfr_json.h"
#include "cli/jfr/jfr_look.h"

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

static int jfr_events_run(cli_options *o)
{
    text out = {.fd = 1};
    look l;
    if (!look_open(&l, o, &out))
        return EXIT_UNREADABLE;
    jfr_json *json = jfr_json_new(&out, JFR_JSON_LINE, o->stack_depth);
    if (json == NULL) {
        complain("not enough memory to write events");
        l.failed = true;
    }
    while (look_next_chunk(&l))
        write_chunk(&l, json);
    int rc = look_close(&l);
    jfr_json_free(json);
    return rc;
}

const command jfr_events_command = {
    .name = "jfr events",
    .summary = "Events as JSON, one a line, in the file's order",
    .usage = "FILE [OPTIONS]",
    .about =
        "Writes the events of a recording as JSON, one object a line, in the order in which "
        "they lie in the file: {\"type\":\"jdk.ThreadPark\",\"values\":{...}}. Names and values "
        "are those of `hotstack jfr print --json`. - is standard input.",
    .ending =
        "Exit codes: 0 all was read; 3 written, but a part of the recording is damaged or cut "
        "off, which standard error names; 1 nothing could be read (with the offset); 2 wrong "
        "usage.",
    .bit = OF_JFR_EVENTS,
    .operands = OPERANDS_FILE,
    .run = jfr_events_run,
};
