/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error_impl.h"
#include "files/text_impl.h"
#include <attach/examine.h>

typedef struct writer {
    char *p;
    size_t n;
} writer;

__attribute__((format(printf, 2, 3))) static void add(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->p + w->n, ATTACH_EXAMINE_TEXT_MAX - w->n, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < ATTACH_EXAMINE_TEXT_MAX - w->n)
        w->n += (size_t)n;
    else
        w->p[w->n] = '\0'; /* a line that does not fit is left out completely */
}

size_t attach_examination_format(char buf[ATTACH_EXAMINE_TEXT_MAX],
                                 const attach_examination *examination)
{
    writer w = {buf, 0};
    const attach_examination *e = examination;
    add(&w, "listener %d\ncatches_quit %d\ntrigger_possible %d\n", e->listener, e->catches_quit,
        e->trigger_possible);
    add(&w, "had_listener %d\njfr_used %d\n", e->had_listener, e->jfr_used);
    if (e->seccomp >= 0)
        add(&w, "seccomp %d\n", e->seccomp);
    if (e->perf_event_paranoid >= 0)
        add(&w, "perf_event_paranoid %d\n", e->perf_event_paranoid);
    for (size_t i = 0; i < e->n_places; i++)
        add(&w, "place %s\t%s\t%s\n", e->places[i].path, e->places[i].library,
            e->places[i].recording);
    return w.n;
}

static bool take_place(attach_examination *out, attach__span value)
{
    attach__span path, library, recording = {NULL, 0};
    if (out->n_places == ATTACH_EXAMINE_PLACES || !attach__next_field(&value, '\t', &path) ||
        !attach__next_field(&value, '\t', &library))
        return false;
    (void)attach__next_field(&value, '\t', &recording);
    attach_place_view *place = &out->places[out->n_places++];
    attach__copy_text(place->path, sizeof(place->path), path);
    attach__copy_text(place->library, sizeof(place->library), library);
    attach__copy_text(place->recording, sizeof(place->recording), recording);
    return place->path[0] == '/';
}

static bool take(attach_examination *out, attach__span key, attach__span value)
{
    const struct {
        const char *key;
        bool *slot;
    } flags[] = {
        {"listener", &out->listener},         {"catches_quit", &out->catches_quit},
        {"had_listener", &out->had_listener}, {"trigger_possible", &out->trigger_possible},
        {"jfr_used", &out->jfr_used},
    };
    uint32_t number = 0;
    if (attach__span_is(key, "place"))
        return take_place(out, value);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (!attach__span_is(key, flags[i].key))
            continue;
        *flags[i].slot = attach__span_is(value, "1");
        return *flags[i].slot || attach__span_is(value, "0");
    }
    bool seccomp = attach__span_is(key, "seccomp");
    if (!seccomp && !attach__span_is(key, "perf_event_paranoid"))
        return true;
    if (!attach__parse_u32(value, &number) || number > 99)
        return false;
    *(seccomp ? &out->seccomp : &out->perf_event_paranoid) = (int)number;
    return true;
}

int attach_examination_parse(attach_examination *out, const char *text, size_t n, attach_error *err)
{
    attach__span rest = attach__span_of(text, n), line, key;
    memset(out, 0, sizeof(*out));
    out->seccomp = out->perf_event_paranoid = -1;
    while (attach__next_line(&rest, &line)) {
        uint64_t at = (uint64_t)(line.p - text);
        if (!attach__next_field(&line, ' ', &key) || !take(out, key, line))
            return attach__fail_at(err, ATTACH_ERR_FORMAT, at, "the examination has a bad line");
    }
    return ATTACH_OK;
}
