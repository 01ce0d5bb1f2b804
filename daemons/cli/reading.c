/* SPDX-License-Identifier: Apache-2.0 */
#include "reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"

/* A recording from standard input must fit into memory. */
#define STDIN_LIMIT (UINT64_C(4) << 30)

static int add_stdin(recording *rec, recording_error *err)
{
    bytes input;
    int error = read_all(&input, "-", STDIN_LIMIT);
    if (error != 0) {
        *err = (recording_error){.code = RECORDING_E_IO};
        (void)snprintf(err->message, sizeof(err->message), "cannot read it: %s", strerror(error));
        return err->code;
    }
    int rc = recording_add_mem(rec, input.data, input.size, err);
    free(input.data);
    return rc;
}

static void complain_input(const char *path, const recording_error *err)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (err->code == RECORDING_E_FORMAT)
        complain("%s at byte %" PRIu64 ": %s", name, err->offset, err->message);
    else
        complain("%s: %s", name, err->message);
}

bool reading_add(recording *rec, const char *path)
{
    recording_error err = {0};
    int rc = strcmp(path, "-") == 0 ? add_stdin(rec, &err) : recording_add_file(rec, path, &err);
    if (rc != 0)
        complain_input(path, &err);
    return rc == 0;
}

void reading_report(const recording *rec)
{
    recording_info info;
    char line[256];
    recording_get_info(rec, &info);
    for (size_t i = 0; recording_loss_line(rec, i, line, sizeof(line)); i++)
        complain("missing: %s", line);
    if (info.counts.unmeasured_events > 0)
        complain("note: %" PRIu64 " samples of an event that measures no time were left out",
                 info.counts.unmeasured_events);
}
