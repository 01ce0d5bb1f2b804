/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/option.h"

#include <attach/attach.h>

#include "cli/formats/format_table.h"
#include "cli/options/option_values.h"

#define FIELD(name)     offsetof(cli_options, name)
#define LOOKS_AT_EVENTS (OF_JFR_PRINT | OF_JFR_EVENTS)
#define HAS_SAMPLES     (OF_CONVERT | OF_TOP)
#define READS_PROFILES  (HAS_SAMPLES | OF_DIFF)
#define PRINTS_JSON                                                                                \
    (OF_ATTACH_STATUS | OF_COLLECTOR_STATUS | OF_DOCTOR | OF_JCMD | OF_JFR_METADATA |              \
     OF_JFR_SUMMARY | OF_JFR_TOTALS | OF_PS | OF_TOP)

/* clang-format off */
const option_row option_table[] = {
    /* ---- what is written */
    {.name = "output", .letter = 'o', .commands = OF_CONVERT, .value = "FILE",
     .take = take_text, .field = FIELD(output),
     .help = "where to write; the ending of its name chooses the format"},
    {.name = "output", .letter = 'o', .commands = OF_DIFF, .value = "FILE",
     .take = take_text, .field = FIELD(output), .fallback = "-",
     .help = "where to write, - being standard output; the ending .txt, .html or .json chooses "
             "the format"},
    {.name = "format", .letter = 'f', .commands = OF_CONVERT, .value = "FORMAT",
     .take = take_word, .field = FIELD(format), .words = format_words, .noun = "format", .least = 1,
     .help = "the format, where the name of the output does not say it:"},
    {.name = "format", .letter = 'f', .commands = OF_DIFF, .value = "FORMAT",
     .take = take_word, .field = FIELD(format), .words = diff_format_words, .noun = "format",
     .least = 1, .help = "the format, where the name of the output does not say it:"},
    {.name = "rows", .letter = 'n', .commands = OF_TOP | OF_DIFF, .value = "N",
     .take = take_number, .field = FIELD(rows), .fallback = "20",
     .help = "print at most N methods of each type; 0 = all"},
    {.name = "by", .commands = OF_TOP, .value = "COLUMN",
     .take = take_word, .field = FIELD(sort_by), .words = sort_words,
     .noun = "column to sort by", .fallback = "self", .help = "sort the methods by:"},
    {.name = "json", .commands = PRINTS_JSON, .take = take_flag, .field = FIELD(json),
     .help = "print one JSON object, which docs/reference/cli-json.md describes"},
    {.name = "json", .commands = OF_JFR_PRINT, .take = take_flag, .field = FIELD(json),
     .help = "print JSON, byte for byte as the tool of JDK 25 does"},
    {.name = "json", .commands = OF_JFR_EVENTS, .take = take_flag, .field = FIELD(json),
     .help = "accepted for symmetry: the output is JSON in any case"},

    /* ---- which samples */
    {.name = "type", .letter = 't', .commands = READS_PROFILES | OF_PROFILE, .value = "TYPE,...",
     .take = take_words, .field = FIELD(types), .words = type_words, .noun = "profile type",
     .least = 1, .help = "only these profile types:"},
    {.name = "thread", .commands = HAS_SAMPLES, .value = "NAME",
     .take = take_text, .field = FIELD(filter.thread),
     .help = "only samples of threads with exactly this name"},
    {.name = "thread-pattern", .commands = HAS_SAMPLES, .value = "REGEX",
     .take = filter_take_pattern, .field = FIELD(filter),
     .help = "only samples of threads whose name contains a match of this extended regular "
             "expression of up to 4096 bytes"},
    {.name = "from", .commands = HAS_SAMPLES | LOOKS_AT_EVENTS, .value = "TIME",
     .take = time_option_take, .field = FIELD(filter.from),
     .help = "only from this time on: 2026-01-31T09:15:00Z (UTC if it names no zone), Unix "
             "seconds, +2s after the start of each recording, or -2s before its end (units ms, "
             "s, m, h, d)"},
    {.name = "to", .commands = HAS_SAMPLES | LOOKS_AT_EVENTS, .value = "TIME",
     .take = time_option_take, .field = FIELD(filter.to), .help = "only before this time"},
    {.name = "state", .commands = HAS_SAMPLES, .value = "STATE,...",
     .take = take_words, .field = FIELD(filter.states), .words = state_words,
     .noun = "thread state", .help = "only samples in these thread states:"},

    /* ---- which events */
    {.name = "events", .commands = LOOKS_AT_EVENTS | OF_JFR_METADATA, .value = "FILTER",
     .take = take_text, .field = FIELD(events),
     .help = "only these event types: names with or without their package, separated by commas; "
             "* stands for any text and ? for any character"},
    {.name = "categories", .commands = LOOKS_AT_EVENTS | OF_JFR_METADATA, .value = "FILTER",
     .take = take_text, .field = FIELD(categories),
     .help = "only event types of these categories, which may be given by their initials, as in "
             "GC or Java*; together with --events both must match"},
    {.name = "stack-depth", .commands = LOOKS_AT_EVENTS, .value = "N",
     .take = take_number, .field = FIELD(stack_depth), .most = INT32_MAX, .fallback = "5",
     .help = "show at most N frames of a stack trace"},

    /* ---- how stacks look */
    {.name = "inverted", .commands = OF_CONVERT, .take = take_flag, .field = FIELD(inverted),
     .changes = CHANGED_BY_INVERTED,
     .help = "html, json: start from the leaves (on the page of a heatmap, press r instead)"},
    {.name = "threads", .commands = OF_CONVERT, .take = take_flag, .field = FIELD(threads),
     .changes = CHANGED_BY_THREADS,
     .help = "separate threads: add a frame with the thread's name above each stack"},
    {.name = "lines", .commands = OF_CONVERT | OF_DIFF, .take = take_flag, .field = FIELD(lines),
     .changes = CHANGED_BY_LINES, .help = "separate the lines of a method"},
    {.name = "wall-states", .commands = OF_CONVERT, .take = take_flag, .field = FIELD(states),
     .help = "in wall time, separate running from waiting threads: add a frame [running] or "
             "[waiting] above each stack, where the recording says which"},
    {.name = "raw-names", .commands = READS_PROFILES, .take = take_flag, .field = FIELD(raw_names),
     .help = "keep the names of hidden classes, lambdas, generated accessors and proxies as "
             "recorded, with their numbers"},

    /* ---- limits */
    {.name = "max-nodes", .commands = OF_CONVERT | OF_DIFF, .value = "N",
     .take = take_number, .field = FIELD(max_nodes), .fallback = "200000",
     .changes = CHANGED_BY_NODES,
     .help = "html, heatmap, json: keep the N heaviest nodes of each type; 0 = all. The output "
             "says how many nodes were cut away; totals stay exact"},
    {.name = "min-width", .commands = OF_CONVERT | OF_DIFF, .value = "P",
     .take = take_width, .field = FIELD(min_width), .changes = CHANGED_BY_NODES,
     .help = "html, heatmap, json: keep the nodes with at least P percent of their type's total"},
    {.name = "max-cells", .commands = OF_CONVERT, .value = "N",
     .take = take_number, .field = FIELD(max_cells), .least = 1000, .changes = CHANGED_BY_CELLS,
     .help = "heatmap: keep at most N values of (time, stack) of each type, each of up to 56 "
             "bytes of memory (default 1000000, least 1000). Beyond that the heatmap becomes "
             "coarser: first in time, from 20 ms to 2 s, then by summing the lightest stacks. "
             "Totals stay exact"},
    {.name = "max-stacks", .commands = READS_PROFILES, .value = "N",
     .take = take_number, .field = FIELD(max_stacks), .least = 1, .fallback = "2000000",
     .help = "keep at most N distinct stacks. Beyond this limit or that of --max-memory the "
             "lightest stacks are summed into [dropped]: totals stay exact, standard error names "
             "the loss, and the exit status is 3"},
    {.name = "max-memory", .commands = READS_PROFILES, .value = "MIB",
     .take = take_number, .field = FIELD(max_mib), .least = 1, .fallback = "4096",
     .help = "use at most this much memory for stacks, in MiB"},
    {.name = "jobs", .letter = 'j', .commands = HAS_SAMPLES | OF_JFR_TOTALS, .value = "N",
     .take = take_number, .field = FIELD(jobs), .least = 1, .most = RECORDING_MAX_THREADS,
     .help = "read large recordings with N threads, 1 to 64 (default: one for each CPU that the "
             "program may use, up to 8). The output does not depend on N. Only one thread reads "
             "when samples are filtered by time, state or thread"},
    {.name = "jobs", .letter = 'j', .commands = OF_DIFF, .value = "N",
     .take = take_number, .field = FIELD(jobs), .least = 1, .most = RECORDING_MAX_THREADS,
     .help = "1: read one recording after the other, not both at the same time; the output is "
             "the same"},
    {.name = "fail-on", .commands = OF_DIFF, .value = "RULE",
     .take = diff_take_rule, .field = FIELD(fail_on),
     .help = "exit with status 4 and name what fails; if nothing fails, the verdict says why. "
             "The rule '+N% self' fails each method whose own share of its type grew by more "
             "than N percentage points, if the whole interval is above zero; without an interval "
             "N alone decides. The rule '+N% total/s' fails each type whose total per second of "
             "recording grew by more than N percent; both inputs must then state their duration, "
             "as JFR and pprof do and collapsed stacks do not. Both rules can be given"},

    {.name = "socket", .commands = OF_COLLECTOR_STATUS, .value = "PATH",
     .take = take_text, .field = FIELD(socket),
     .fallback = "/var/lib/hotstack/collector/collector.sock",
     .help = "the collector's socket: its setting `socket`, by default beside its queue"},

    /* ---- recording a JVM */
    {.name = "duration", .letter = 'd', .commands = OF_PROFILE, .value = "TIME",
     .take = take_time, .field = FIELD(duration_ms), .least = 1000, .most = 86400000,
     .fallback = "10s", .help = "how long to record: 10, 30s, 5m, at most 24h"},
    {.name = "events", .letter = 'e', .commands = OF_PROFILE, .value = "EVENT,...",
     .take = take_events, .field = FIELD(record), .words = event_words, .noun = "event",
     .fallback = "cpu,alloc,lock",
     .help = "what to record. =INTERVAL after an event sets its interval, with a unit (ns, us, "
             "ms, s; k, m, g):"},
    {.name = "file", .letter = 'f', .commands = OF_PROFILE, .value = "FILE",
     .take = take_text, .field = FIELD(output),
     .help = "where to write. The ending of its name chooses the format: .jfr is the recording "
             "itself; `hotstack convert --help` lists all others, such as .html, .heatmap.html, "
             ".collapsed and .pb.gz"},
    {.name = "engine", .commands = OF_PROFILE, .value = "NAME",
     .take = take_word, .field = FIELD(recorder), .words = engine_words, .noun = "engine",
     .fallback = "auto", .help = "the recorder:"},
    {.name = "loop", .commands = OF_PROFILE, .take = take_flag, .field = FIELD(loop),
     .help = "write one file after the other, each of the given duration, until Ctrl-C. The "
             "file's name must contain %t (the UTC time, such as 20261121-144834) or %n (a "
             "number from 1 on)"},
    {.name = "rate-limit", .commands = OF_PROFILE, .value = "N",
     .take = take_number, .field = FIELD(rate_limit), .least = 1, .most = ATTACH_RATE_LIMIT_MAX,
     .fallback = "10000",
     .help = "record at most N events of each kind per second; the unused part of a second adds "
             "to the next. The profiler drops the rest, and standard error and the page say how "
             "many"},

    /* ---- the threads of a JVM */
    {.name = "duration", .letter = 'd', .commands = OF_THREADS, .value = "TIME",
     .take = take_time, .field = FIELD(duration_ms), .most = 600000, .fallback = "1s",
     .help = "measure CPU time for this long: 500ms, 2s, at most 10m; 0 takes one snapshot, with "
             "the CPU time since each thread's start"},
    {.name = "watch", .letter = 'w', .commands = OF_THREADS, .take = take_flag,
     .field = FIELD(watch),
     .help = "print again after each duration, until Ctrl-C"},
    {.name = "json", .commands = OF_THREADS, .take = take_flag, .field = FIELD(json),
     .help = "print JSON, with --watch one object per line; docs/formats/threads-json.md "
             "describes it"},
    {.name = "busy", .commands = OF_THREADS, .value = "PERCENT",
     .take = take_percent, .field = FIELD(busy), .fallback = "2",
     .help = "threads are busy that used at least this share of one core; with --duration 0, "
             "threads that are runnable and not in native code"},
    {.name = "top", .commands = OF_THREADS, .value = "N",
     .take = take_number, .field = FIELD(top), .least = 1, .most = 1000000, .fallback = "10",
     .help = "in text, print at most N rows of each list"},
    {.name = "stacks", .commands = OF_THREADS, .value = "N",
     .take = take_number, .field = FIELD(stacks), .least = 1, .most = 4096, .fallback = "64",
     .help = "read the stacks of at most N threads: the busiest, the blocked, the owners of "
             "their locks, the deadlocked, the runnable that used no CPU, then others"},
    {.name = "depth", .commands = OF_THREADS, .value = "N",
     .take = take_number, .field = FIELD(depth), .least = 1, .most = 2048, .fallback = "256",
     .help = "read at most N frames of a stack"},
    {.name = "pause", .commands = OF_THREADS, .value = "TIME",
     .take = take_time, .field = FIELD(pause_ms), .least = 1, .most = ATTACH_PAUSE_MS_MAX,
     .fallback = "10ms",
     .help = "read no further stacks once the JVM was stopped for this long in total, 1ms to 1m. "
             "The threads of interest come first, and the first eight are always read. It does "
             "not limit --full"},
    {.name = "max-threads", .commands = OF_THREADS, .value = "N",
     .take = take_number, .field = FIELD(max_threads), .least = 1, .most = 100000,
     .fallback = "10000",
     .help = "show at most N threads: deadlocked ones, then those with the most CPU time"},
    {.name = "full", .commands = OF_THREADS, .take = take_flag, .field = FIELD(full),
     .help = "read the stacks of all threads in one longer pause; refused if they need more than "
             "half of the free Java heap"},
    {.name = "synchronizers", .commands = OF_THREADS, .take = take_flag,
     .field = FIELD(synchronizers),
     .help = "with --full: list the java.util.concurrent locks that each thread owns. To find "
             "them the JVM walks its whole heap during a pause; blocked threads and their "
             "blockers are shown without this option"},
    {.name = "contention", .commands = OF_THREADS, .take = take_flag, .field = FIELD(contention),
     .help = "measure how long threads were blocked and waited. The program switches the JVM's "
             "contention monitoring on while it runs, and restores it afterwards"},

    {.name = "help", .letter = 'h', .commands = OF_ALL, .help = "explain the command"},
};
/* clang-format on */

const size_t option_count = sizeof(option_table) / sizeof(option_table[0]);
_Static_assert(sizeof(option_table) / sizeof(option_table[0]) <= 64, "bits of cli_options.given");

bool option_is_list(const option_row *row)
{
    return row->take == take_words || row->take == take_events;
}
