/* SPDX-License-Identifier: Apache-2.0 */
/* Reads collapsed stacks: lines "root;...;leaf value" from async-profiler, perf's scripts and
 * `hotstack convert`. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

typedef struct reader {
    recording *rec;
    enum profile_type type;
    const char *begin;
    const char *at;
    const char *end;
    import__frames frames; /* of a line */
} reader;

static int malformed(const reader *r, const char *line, const char *what, recording_error *err)
{
    return import__fail(err, RECORDING_E_FORMAT, (uint64_t)(line - r->begin),
                        "%s: collapsed stacks are lines \"root;...;leaf value\"", what);
}

/* Whether a frame is "[name tid=7]" or "[tid=7]", which precedes other frames. A name may hold any
 * characters. */
static bool is_thread(sagg_str text, recording_sample *sample)
{
    static const char mark[] = "tid=";
    if (text.size < strlen("[tid=7]") || text.data[0] != '[' || text.data[text.size - 1] != ']')
        return false;
    const size_t end = text.size - 1;
    size_t digits = end;
    while (text.data[digits - 1] >= '0' && text.data[digits - 1] <= '9')
        digits--;
    int64_t tid = 0;
    for (size_t at = digits; at < end; at++) {
        if (tid > INT32_MAX)
            return false;
        tid = tid * 10 + (text.data[at] - '0');
    }
    if (digits == end || digits <= strlen(mark) ||
        memcmp(text.data + digits - strlen(mark), mark, strlen(mark)) != 0)
        return false;
    const size_t name_end = digits - strlen(mark); /* including the blank after it */
    if (name_end > 1 && text.data[name_end - 1] != ' ')
        return false;
    sample->os_tid = tid;
    sample->thread = (sagg_str){text.data + 1, name_end > 2 ? name_end - 2 : 0};
    return true;
}

static bool is_word(sagg_str text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

/* Returns whether a frame is one that names the thread of a stack. */
static bool is_above(sagg_str text, recording_sample *sample)
{
    return is_thread(text, sample) || is_word(text, "[no thread]");
}

/* Returns whether there is no stack, or none below a thread. */
static bool is_nothing(sagg_str text, recording_sample *sample)
{
    static const char none[] = "[no stack]";
    const char *behind = text.size > 0 ? memchr(text.data, ';', text.size) : NULL;
    if (behind == NULL)
        return is_word(text, none);
    const size_t before = (size_t)(behind - text.data);
    return is_word((sagg_str){behind + 1, text.size - before - 1}, none) &&
           is_above((sagg_str){text.data, before}, sample);
}

/* Reads the frames of a line from its end, so that the leaf comes first. */
static int read_stack(reader *r, sagg_str stack, recording_sample *sample, recording_error *err)
{
    size_t end = stack.size;
    r->frames.count = 0;
    if (is_nothing(stack, sample))
        return 0;
    for (;;) {
        const char *before = end > 0 ? memrchr(stack.data, ';', end) : NULL;
        size_t from = before != NULL ? (size_t)(before - stack.data) + 1 : 0;
        sagg_str text = {stack.data + from, end - from};
        if (before == NULL && r->frames.count > 0 && is_above(text, sample))
            break;
        sagg_frame frame;
        import_frame(&frame, text);
        int rc = import__push_frame(&r->frames, &frame, "the stack at byte",
                                    (uint64_t)(stack.data - r->begin), err);
        if (rc != 0)
            return rc;
        if (before == NULL)
            break;
        end = from - 1;
    }
    sample->frames = r->frames.at;
    sample->count = r->frames.count;
    return 0;
}

/* Removes the number from the end of a line. Returns an error text, or NULL. */
static const char *take_value(sagg_str *line, uint64_t *value)
{
    size_t at = line->size;
    *value = 0;
    while (at > 0 && line->data[at - 1] >= '0' && line->data[at - 1] <= '9')
        at--;
    if (at == line->size || at < 2 || line->data[at - 1] != ' ')
        return "a line does not end with a blank and a whole number";
    for (size_t i = at; i < line->size; i++)
        if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
            __builtin_add_overflow(*value, (uint64_t)(line->data[i] - '0'), value))
            return "a value is larger than 2^64 - 1";
    line->size = at - 1;
    return NULL;
}

static int read_line(reader *r, sagg_str line, recording_error *err)
{
    uint64_t value;
    recording_sample sample = {.samples = 1};
    const char *wrong = take_value(&line, &value);
    if (wrong != NULL)
        return malformed(r, line.data, wrong, err);
    int rc = read_stack(r, line, &sample, err);
    sample.values[r->type] = value;
    return rc == 0 ? recording_add_sample(r->rec, &sample, err) : rc;
}

/* Returns the next line without its line end. */
static sagg_str next_line(reader *r)
{
    const char *begin = r->at;
    const char *newline = memchr(begin, '\n', (size_t)(r->end - begin));
    const char *end = newline != NULL ? newline : r->end;
    r->at = newline != NULL ? newline + 1 : r->end;
    if (end > begin && end[-1] == '\r')
        end--;
    return (sagg_str){begin, (size_t)(end - begin)};
}

int import_collapsed(recording *rec, const void *data, size_t bytes, const import_options *options,
                     recording_error *err)
{
    import_options o;
    int rc = import__options(&o, options, err);
    if (rc == 0 && profile_type_get(o.type) == NULL)
        rc = import__fail(err, RECORDING_E_USAGE, 0,
                          "Collapsed stacks do not say what their values are: name a type.");
    reader r = {.rec = rec, .type = o.type, .begin = data, .at = data};
    r.end = r.begin + bytes;
    while (rc == 0 && r.at < r.end) {
        sagg_str line = next_line(&r);
        if (line.size > 0)
            rc = read_line(&r, line, err);
    }
    free(r.frames.at);
    return rc;
}
