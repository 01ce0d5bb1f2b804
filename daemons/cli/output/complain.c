/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/output/json_text.h"

static const char *complainer;

void complain_as(const char *name)
{
    complainer = name;
}

void complain(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    defuse_text(text); /* names of files and methods come from others and may control a terminal */
    if (complainer != NULL)
        (void)fprintf(stderr, "hotstack %s: %s\n", complainer, text);
    else
        (void)fprintf(stderr, "hotstack: %s\n", text);
}

void complain_of_recorder(uint64_t samples, uint64_t bytes)
{
    if (samples > 0)
        complain("note: the recorder lost %" PRIu64 " cpu samples itself (jdk.CPUTimeSamplesLost)",
                 samples);
    if (bytes > 0)
        complain("note: the recorder lost %" PRIu64 " bytes of events itself (jdk.DataLoss)",
                 bytes);
}
