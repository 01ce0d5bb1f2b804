/* SPDX-License-Identifier: Apache-2.0 */
#include "tallies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const outcome_names[ANSWERS] = {"no_answer", "accepted", "duplicate",
                                                   "rejected",  "retry",    "need_stacks"};
static const char *const call_names[CALLS] = {
    [CALL_BATCH] = "batch", [CALL_HEARTBEAT] = "heartbeat", [CALL_STATUS] = "status"};

static void count_code(tallies *t, const char *code)
{
    size_t at = 0;

    while (at < t->code_count && strcmp(t->codes[at].code, code) != 0)
        at++;
    if (at == CODES)
        return;
    if (at == t->code_count)
        (void)snprintf(t->codes[t->code_count++].code, sizeof(t->codes[0].code), "%s", code);
    t->codes[at].count++;
}

int tallies_add(tallies *t, call made, const answer *a, uint64_t took_us)
{
    waits *to = &t->waits[made];

    t->outcomes[made][a->outcome]++;
    if (a->code[0] != '\0')
        count_code(t, a->code);
    if (array_reserve((void **)&to->us, &to->room, to->count, sizeof(*to->us)) != 0)
        return -1;
    to->us[to->count++] = took_us;
    return 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

/* Returns the time that this share of all calls took at most, in ms. */
static double percentile(const waits *of, double share)
{
    if (of->count == 0)
        return 0;
    size_t at = (size_t)(share * (double)of->count);
    return (double)of->us[at < of->count ? at : of->count - 1] / 1000;
}

static void print_call(tallies *t, call one, FILE *out)
{
    waits *took = &t->waits[one];

    qsort(took->us, took->count, sizeof(*took->us), compare);
    (void)fprintf(out, "\"%s\": {", call_names[one]);
    for (size_t i = 0; i < ANSWERS; i++)
        (void)fprintf(out, "\"%s\": %" PRIu64 ", ", outcome_names[i], t->outcomes[one][i]);
    (void)fprintf(out, "\"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f}, ",
                  percentile(took, 0.5), percentile(took, 0.99), percentile(took, 1));
}

void tallies_print(tallies *t, FILE *out)
{
    (void)fputc('{', out);
    for (call one = CALL_BATCH; one < CALLS; one++)
        print_call(t, one, out);
    (void)fputs("\"codes\": {", out);
    for (size_t i = 0; i < t->code_count; i++)
        (void)fprintf(out, "%s\"%s\": %" PRIu64, i > 0 ? ", " : "", t->codes[i].code,
                      t->codes[i].count);
    (void)fprintf(out,
                  "}, \"sent_bytes\": %" PRIu64 ", \"late_ms\": %" PRIu64 ", \"wall_ms\": %" PRIu64
                  "}\n",
                  t->sent_bytes, t->late_ms, t->wall_ms);
}

void tallies_clear(tallies *t)
{
    for (size_t i = 0; i < CALLS; i++)
        free(t->waits[i].us);
    *t = (tallies){0};
}
