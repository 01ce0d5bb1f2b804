/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <import/import.h>

#include "cli/command.h"
#include "cli/commands/input.h"

/* The limit of an input that must fit into memory: standard input. Files are mapped instead. */
#define INPUT_LIMIT (UINT64_C(4) << 30)

/* Threads beyond this number only wait for each other. */
enum { MOST_THREADS = 8 };

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool reading_stdin_once(char *const *paths, int count)
{
    int named = 0;
    for (int i = 0; i < count; i++)
        named += is_stdin(paths[i]);
    if (named > 1)
        complain(
            "standard input can be read only once: give - once, and the other inputs as files");
    return named <= 1;
}

static const char *shown_name(const char *path)
{
    return is_stdin(path) ? "standard input" : path;
}

static void complain_input(const char *path, const recording_error *err)
{
    if (err->code == RECORDING_E_IO) /* the message names the file itself */
        complain("%s", err->message);
    else if (err->code == RECORDING_E_FORMAT)
        complain("%s at byte %" PRIu64 ": %s", shown_name(path), err->offset, err->message);
    else
        complain("%s: %s", shown_name(path), err->message);
}

/* Reads or maps a file. Complains and returns false when it cannot be read. */
static bool read_input(bytes *input, bool *mapped, const char *path)
{
    int error = map_all(input, mapped, path, INPUT_LIMIT);
    if (error != 0)
        complain("%s: cannot read it: %s", shown_name(path), strerror(error));
    return error == 0;
}

uint32_t reading_threads(uint32_t asked)
{
    cpu_set_t cpus;
    if (asked != 0)
        return asked;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
        return 1;
    int count = CPU_COUNT(&cpus);
    return count < 1 ? 1 : count < MOST_THREADS ? (uint32_t)count : MOST_THREADS;
}

static bool add_jfr_mem(recording *rec, const char *path, const bytes *input)
{
    recording_error err = {0};
    int rc = recording_add_mem(rec, input->data, input->size, &err);
    if (rc != 0)
        complain_input(path, &err);
    return rc == 0;
}

static bool add_jfr_file(recording *rec, const char *path)
{
    recording_error err = {0};
    int rc = recording_add_file(rec, path, &err);
    if (rc != 0)
        complain_input(path, &err);
    return rc == 0;
}

bool reading_add(recording *rec, const char *path)
{
    bytes input;
    bool mapped;
    if (input_is_plain(path))
        return add_jfr_file(rec, path);
    if (!read_input(&input, &mapped, path))
        return false;
    bool done = add_jfr_mem(rec, path, &input);
    unmap_all(&input, mapped);
    return done;
}

/* ---- other kinds ---- */

/* Returns the type that a file's name has before its ending, as "app.cpu.collapsed" has; else the
 * only type that was asked for; else none. */
static enum profile_type collapsed_type(const char *path, uint32_t types)
{
    path = input_name(path);
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        const char *name = profile_type_get(type)->name;
        const char *found = strrchr(path, '.');
        size_t size = strlen(name);
        if (found != NULL && (size_t)(found - path) > size && found[-(ptrdiff_t)size - 1] == '.' &&
            memcmp(found - size, name, size) == 0)
            return (enum profile_type)type;
    }
    bool single = types != 0 && (types & (types - 1)) == 0;
    return single ? (enum profile_type)__builtin_ctz(types) : PROFILE_TYPE_NONE;
}

static bool add_collapsed(recording *rec, const char *path, const bytes *input, uint32_t types)
{
    import_options options = IMPORT_OPTIONS_INIT;
    recording_error err = {0};
    options.type = collapsed_type(path, types);
    if (options.type == PROFILE_TYPE_NONE) {
        complain("%s has collapsed stacks, which do not say what their values mean: give one type "
                 "with --type, or name the file like app.cpu.collapsed",
                 shown_name(path));
        return false;
    }
    int rc = import_collapsed(rec, input->data, input->size, &options, &err);
    if (rc != 0)
        complain_input(path, &err);
    return rc == 0;
}

static bool add_pprof(recording *rec, const char *path, const bytes *input)
{
    import_report report;
    recording_error err = {0};
    int rc = import_pprof(rec, input->data, input->size, NULL, &report, &err);
    if (rc != 0)
        complain_input(path, &err);
    else if (report.left_out[0] != '\0')
        complain("note: %s: sample types without a profile type were left out: %s",
                 shown_name(path), report.left_out);
    return rc == 0;
}

static bool add_by_kind(recording *rec, const char *path, const bytes *input,
                        const reading_wish *wish)
{
    enum import_kind kind = import_kind_of(input->data, input->size);
    if (kind == IMPORT_JFR)
        return add_jfr_mem(rec, path, input);
    if (kind == IMPORT_TEXT) {
        complain("%s is text, but not collapsed stacks: hotstack reads JFR recordings, pprof "
                 "profiles and collapsed stacks, which are lines \"root;...;leaf value\"",
                 shown_name(path));
        return false;
    }
    if (kind == IMPORT_DOCUMENT) {
        complain("%s is a JSON, HTML or XML document: hotstack reads JFR recordings, pprof "
                 "profiles and collapsed stacks",
                 shown_name(path));
        return false;
    }
    if (wish->times) {
        complain("%s: --from, --to, --state and heatmaps need a JFR recording; other inputs do not "
                 "have the time and state of each sample",
                 shown_name(path));
        return false;
    }
    return kind == IMPORT_PPROF ? add_pprof(rec, path, input)
                                : add_collapsed(rec, path, input, wish->types);
}

/* Whether a file is a recording, by its name or its first bytes. A recording is mapped, not
 * read. */
static bool is_jfr(const char *path)
{
    char head[IMPORT_SNIFF];
    size_t size = strlen(path);
    bytes begin = {.data = head};
    if (size > 4 && strcmp(path + size - 4, ".jfr") == 0)
        return true;
    /* The caller's read fails again, with its message. */
    int error = read_head(&begin, path, sizeof(head));
    return error != 0 || import_kind_of(head, begin.size) == IMPORT_JFR;
}

bool reading_add_any(recording *rec, const char *path, const reading_wish *wish)
{
    bytes input;
    bool mapped;
    if (input_is_plain(path) && is_jfr(path))
        return add_jfr_file(rec, path);
    if (!read_input(&input, &mapped, path))
        return false;
    bool done = add_by_kind(rec, path, &input, wish);
    unmap_all(&input, mapped);
    return done;
}

bool reading_add_all(recording *rec, char *const *paths, int count, const reading_wish *wish)
{
    for (int i = 0; i < count; i++)
        if (!reading_add_any(rec, paths[i], wish))
            return false;
    return true;
}

/* Whether alloc_objects need not be counted: it is not asked for, and alloc_bytes is. Without both,
 * a message that names the types of an input would miss its allocations. */
static bool leaves_objects_out(uint32_t types)
{
    return (types >> PROFILE_TYPE_ALLOC_BYTES & 1) != 0 &&
           (types >> PROFILE_TYPE_ALLOC_OBJECTS & 1) == 0;
}

recording_options reading_recording(const cli_options *o)
{
    recording_options options = RECORDING_OPTIONS_INIT;
    options.normaliser = o->raw_names ? SAGG_NORMALISE_NONE : SAGG_NORMALISE_V1;
    options.max_stacks = o->max_stacks;
    options.max_bytes = (uint64_t)o->max_mib << 20;
    options.walk_unfinished = true; /* a JVM that was killed leaves an unfinished recording */
    options.no_alloc_objects = leaves_objects_out(o->types);
    return options;
}

const sagg *reading_aggregate(recording *rec)
{
    const sagg *agg = recording_aggregate(rec);
    return agg != NULL && recording_name_events(rec) == 0 ? agg : NULL;
}

void reading_report(const recording *rec)
{
    recording_info info;
    char line[256];
    recording_get_info(rec, &info);
    for (size_t i = 0; recording_loss_line(rec, i, line, sizeof(line)); i++)
        complain("missing: %s", line);
    for (size_t i = 0; recording_left_out_line(rec, i, line, sizeof(line)); i++)
        complain("note: %s", line);
    if (recording_cut_stacks_line(rec, line, sizeof(line)))
        complain("note: %s: record with a larger stack depth", line);
    complain_of_recorder(info.recorder_samples, info.recorder_bytes);
}
