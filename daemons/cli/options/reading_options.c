/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/reading_options.h"

#include <stdio.h>

#include "cli/command.h"
#include "cli/options/option_values.h"

int reading_option(reading_options *o, int option, const char *name, const char *help)
{
    switch (option) {
    case 't':
        return option_types(&o->types, optarg);
    case READING_OPT_RAW_NAMES:
        o->raw_names = true;
        return -1;
    case READING_OPT_MAX_STACKS:
        return option_number(&o->max_stacks, "--max-stacks", optarg, 1);
    case READING_OPT_MAX_MEMORY:
        return option_number(&o->max_mib, "--max-memory", optarg, 1);
    case 'j':
        return option_jobs(&o->jobs, "--jobs", optarg);
    case 'h':
        (void)fputs(help, stdout);
        return EXIT_WHOLE;
    default:
        (void)fprintf(stderr, "`hotstack %s --help` lists the options.\n", name);
        return EXIT_USAGE;
    }
}

/* Whether alloc_objects is not asked for. Only where alloc_bytes is, which stands for it when the
 * types that are there instead of those asked for are named. */
static bool leaves_objects_out(uint32_t types)
{
    return (types >> PROFILE_TYPE_ALLOC_BYTES & 1) != 0 &&
           (types >> PROFILE_TYPE_ALLOC_OBJECTS & 1) == 0;
}

recording_options reading_recording(const reading_options *o)
{
    recording_options options = RECORDING_OPTIONS_INIT;
    options.normaliser = o->raw_names ? SAGG_NORMALISE_NONE : SAGG_NORMALISE_V1;
    options.max_stacks = o->max_stacks;
    options.max_bytes = (uint64_t)o->max_mib << 20;
    options.walk_unfinished = true; /* the recording of a JVM that was killed */
    options.no_alloc_objects = leaves_objects_out(o->types);
    return options;
}
