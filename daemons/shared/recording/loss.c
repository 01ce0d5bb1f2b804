/* SPDX-License-Identifier: Apache-2.0 */
/* The losses of the inputs, in numbers and in words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

void recording__take_loss(recording *rec, const jfr_file *file)
{
    jfr_loss loss;
    jfr_file_loss(file, &loss);
    rec->info.chunks_whole += loss.chunks_whole;
    rec->info.chunks_partial += loss.chunks_partial;
    rec->info.chunks_lost += loss.chunks_lost;
    rec->info.bytes_lost += loss.bytes_lost;
    rec->info.recorder_samples += loss.recorder_samples;
    rec->info.recorder_bytes += loss.recorder_bytes;
    for (size_t i = 0; i < loss.record_count && rec->loss_count < RECORDING_LOSSES; i++)
        rec->losses[rec->loss_count++] = loss.records[i];
}

void recording_add_dropped(recording *rec, uint64_t events)
{
    rec->info.recorder_events += events;
}

/* A kind of loss other than the loss records, in words. */
typedef struct counted {
    const char *text;
    uint64_t count;
} counted;

enum { COUNTED = 7 };

static void count_losses(const recording *rec, counted lines[COUNTED])
{
    sagg_loss caps = sagg_losses(rec->agg);
    const recording_counts *counts = &rec->info.counts;
    lines[0] = (counted){"events with damaged fields were skipped", counts->bad_events};
    lines[1] =
        (counted){"samples lost their stack, which is damaged or too large", counts->bad_stacks};
    lines[2] = (counted){"constant pools of undefined types were skipped", counts->undefined_pools};
    lines[3] =
        (counted){counts->excess_samples > 0
                      ? "samples were summed into [dropped] by the caps on stacks and samples"
                      : "samples were summed into [dropped] by the cap on stacks",
                  caps.samples_dropped};
    lines[4] = (counted){"threads past the cap were counted with their pool", caps.threads_folded};
    lines[5] = (counted){"or more sums reached 2^64 - 1: they are too small", caps.saturated > 0};
    lines[6] = (counted){"samples have no stack: they lie in chunks whose end was never written",
                         counts->unfinished_stackless};
}

bool recording_is_whole(const recording *rec)
{
    char line[256];
    return !recording_loss_line(rec, 0, line, sizeof(line));
}

void recording_loss_text(const jfr_loss_record *loss, char *line, size_t room)
{
    if (loss->reason == JFR_LOSS_BAD_GZIP)
        (void)snprintf(line, room,
                       "%s: what it unpacks to is right up to byte %" PRIu64
                       " at most; the %" PRIu64 " packed bytes behind the damage are lost",
                       jfr_loss_reason_name(loss->reason), loss->offset, loss->bytes);
    else if (loss->bytes == 0)
        (void)snprintf(line, room,
                       "%s at byte %" PRIu64 ": the end of the chunk at byte %" PRIu64
                       " is missing",
                       jfr_loss_reason_name(loss->reason), loss->offset, loss->chunk);
    else
        (void)snprintf(line, room,
                       "%s at byte %" PRIu64 ": %" PRIu64 " bytes of the chunk at byte %" PRIu64
                       " are lost",
                       jfr_loss_reason_name(loss->reason), loss->offset, loss->bytes, loss->chunk);
}

bool recording_loss_line(const recording *rec, size_t index, char *line, size_t room)
{
    counted lines[COUNTED];
    if (index < rec->loss_count) {
        recording_loss_text(&rec->losses[index], line, room);
        return true;
    }
    size_t left = index - rec->loss_count;
    count_losses(rec, lines);
    for (size_t i = 0; i < COUNTED; i++) {
        if (lines[i].count == 0 || left-- > 0)
            continue;
        int used = snprintf(line, room, "%" PRIu64 " ", lines[i].count);
        if (used >= 0 && (size_t)used < room)
            (void)snprintf(line + used, room - (size_t)used, "%s", lines[i].text);
        return true;
    }
    return false;
}

/* The last row counts all types for which no row is left. */
static recording_unread *find_unread(recording *rec, const jfr_unread *from)
{
    char name[sizeof(rec->unread[0].event)];
    (void)snprintf(name, sizeof(name), "%.*s", (int)from->event.len, from->event.data);
    for (size_t i = 0; i < rec->unread_count; i++)
        if (strcmp(rec->unread[i].event, name) == 0)
            return &rec->unread[i];
    if (rec->unread_count + 1 == RECORDING_MAX_UNREAD)
        (void)snprintf(name, sizeof(name), "others");
    if (rec->unread_count < RECORDING_MAX_UNREAD)
        memcpy(rec->unread[rec->unread_count++].event, name, sizeof(name));
    return &rec->unread[rec->unread_count - 1];
}

void recording__take_unread(recording *rec, const jfr_chunk *chunk)
{
    size_t count;
    const jfr_unread *rows = jfr_chunk_unread(chunk, &count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].count > 0)
            find_unread(rec, &rows[i])->count += rows[i].count;
}

size_t recording_unread_events(const recording *rec, const recording_unread **out)
{
    *out = rec->unread;
    return rec->unread_count;
}

/* ---- notes ---- */

typedef struct notes {
    const recording *rec;
    recording_note_fn take;
    void *ctx;
} notes;

/* Takes the note "COUNTbeforeEVENTafter", unless the count is 0. */
static void note(const notes *to, recording_severity severity, uint64_t count, const char *before,
                 const char *event, const char *after)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "%" PRIu64 "%s%s%s", count, before, event, after);
    if (count > 0)
        to->take(to->ctx, severity, text);
}

static void note_losses(const notes *to)
{
    char line[256];
    for (size_t i = 0; recording_loss_line(to->rec, i, line, sizeof(line)); i++)
        to->take(to->ctx, RECORDING_MISSING, line);
}

static void note_uncounted(const notes *to)
{
    const recording_info *info = &to->rec->info;
    const char *why =
        info->bytes_lost > 0
            ? " were left out: the setting that tells their interval was lost with the bytes that "
              "are missing"
            : " were left out: the setting that tells their interval is not in the recording";
    for (unsigned i = 0; i < JFR_SOURCE_COUNT; i++)
        note(to, RECORDING_UNCOUNTED, info->counts.unmeasured[i], " events of ",
             recording_source_event(i), why);
    for (size_t i = 0; i < to->rec->unread_count; i++)
        note(to, RECORDING_UNCOUNTED, to->rec->unread[i].count, " events of ",
             to->rec->unread[i].event, " have a stack as samples do, but are in no profile");
}

/* Stacks that the recorder, or max_frames, cut at their root, with the share of each type. Returns
 * false when there are none. */
static bool describe_cut_stacks(const recording *rec, char *line, size_t room)
{
    static const char begin[] = "stacks were cut at their root in";
    size_t used = 0;
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        const profile_type_info *info = profile_type_get(type);
        uint64_t cut = rec->info.truncated_raw[type];
        if (info == NULL || cut == 0)
            continue;
        double percent = 100 * (double)cut / (double)sagg_type_totals(rec->agg, type).raw_value;
        int size =
            snprintf(line + used, room - used, "%s %s%.1f %% of %s", used > 0 ? "," : begin,
                     percent < 0.1 ? "under " : "", percent < 0.1 ? 0.1 : percent, info->name);
        if (size < 0 || (size_t)size >= room - used)
            break;
        used += (size_t)size;
    }
    if (used > 0)
        (void)snprintf(line + used, room - used, ": record with a larger stack depth");
    return used > 0;
}

static void note_recorder(const notes *to)
{
    const recording_info *info = &to->rec->info;
    char line[256];
    if (describe_cut_stacks(to->rec, line, sizeof(line)))
        to->take(to->ctx, RECORDING_INCOMPLETE, line);
    note(to, RECORDING_INCOMPLETE, info->recorder_samples,
         " cpu samples were lost by the recorder itself (", "jdk.CPUTimeSamplesLost", ")");
    note(to, RECORDING_INCOMPLETE, info->recorder_bytes,
         " bytes of events were lost by the recorder itself (", "jdk.DataLoss", ")");
}

static void note_by_design(const notes *to)
{
    const recording_counts *counts = &to->rec->info.counts;
    for (unsigned i = 0; i < JFR_SOURCE_COUNT; i++) {
        const char *event = recording_source_event(i);
        note(to, RECORDING_BY_DESIGN, counts->rivals[i], " ", event,
             " (a better event counts the same)");
        note(to, RECORDING_BY_DESIGN, counts->idle_waits[i], " ", event, " (idle waits)");
    }
    note(to, RECORDING_BY_DESIGN, counts->native_samples, " ",
         recording_source_event(JFR_SOURCE_NATIVE_METHOD), " (in native code, mostly waiting)");
}

void recording_notes(const recording *rec, recording_note_fn take, void *ctx)
{
    const notes to = {rec, take, ctx};
    note_losses(&to);
    note_uncounted(&to);
    note_recorder(&to);
    note_by_design(&to);
}
