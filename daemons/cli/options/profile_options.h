/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `hotstack profile`. */
#ifndef HOTSTACK_CLI_PROFILE_OPTIONS_H
#define HOTSTACK_CLI_PROFILE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <attach/attach.h>
#include <catalogue/event.h>

#include "cli/options/options.h"

typedef struct profile_options {
    const char *jvm; /* process id or name */
    bool loop;
    attach_ap_recorder recorder;
    uint32_t seconds;
    const char *output;
    bool keep_jfr;              /* the output is the recording itself */
    enum convert_format format; /* otherwise */
    uint32_t types;             /* as convert_options.types */
    event_intervals events;
    uint32_t rate_limit; /* events of one kind in a second */
} profile_options;

/* As convert_parse: -1 to go on, or an exit code. `out` borrows from argv. */
int profile_parse(profile_options *out, int argc, char **argv);

#endif
