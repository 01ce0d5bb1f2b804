/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives libstackagg more distinct stacks than its caps allow: memory stays within the cap at all
 * times, totals are exact, the loss is reported, and no stack lacks more than the error bound says.
 *
 * usage: many-stacks STACKS. Prints TAP.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <stackagg/stackagg.h>

#define CAP   (UINT64_C(64) << 20)
#define ROOM  (UINT64_C(16) << 20) /* for the program itself */
#define TYPE  1u
#define STEP  1000u /* one stack in this many is added again together with every one between */
#define HEAVY 64u   /* how many stacks are added again */

static unsigned points, failed;
static sagg_error err;

static void check(bool good, const char *what)
{
    points++;
    failed += good ? 0 : 1;
    printf("%s %u - %s\n", good ? "ok" : "not ok", points, what);
}

static void require(int rc)
{
    if (rc == 0)
        return;
    printf("Bail out! %s\n", err.message);
    exit(EXIT_FAILURE);
}

static uint32_t frame(sagg *agg, const char *class_name, const char *prefix, uint64_t number)
{
    char method[32];
    uint32_t index;
    int size = snprintf(method, sizeof(method), "%s%" PRIu64, prefix, number);
    sagg_frame made = {.class_name = {class_name, strlen(class_name)},
                       .method = {method, (size_t)size},
                       .kind = SAGG_JAVA};
    return sagg_add_frame(agg, &index, &made, NULL) == 0 ? index : UINT32_MAX;
}

/* A frame for which there is no room makes its stack a dropped one. */
static void add(sagg *agg, uint64_t number, uint64_t value)
{
    uint32_t stack = SAGG_DROPPED;
    uint32_t frames[] = {frame(agg, "a.Leaf", "x", number % 1000),
                         frame(agg, "a.Big", "m", number / 1000), frame(agg, "a.Main", "run", 0)};
    if (frames[0] != UINT32_MAX && frames[1] != UINT32_MAX && frames[2] != UINT32_MAX)
        require(sagg_add_stack(agg, &stack, frames, 3, &err));
    sagg_sample sample = {
        .type = TYPE, .stack = stack, .raw_value = 2 * value, .value = value, .samples = 1};
    require(sagg_add(agg, &sample, &err));
    if (sagg_full(agg))
        require(sagg_compact(agg, &err));
}

/* Returns the aggregate's value of the stack with this leaf and this frame above it. */
static uint64_t kept(const sagg *agg, uint64_t number)
{
    char big[32], leaf[32];
    size_t cursor = 0;
    sagg_entry entry;
    sagg_stack stack;
    sagg_frame found[2];
    (void)snprintf(leaf, sizeof(leaf), "x%" PRIu64, number % 1000);
    (void)snprintf(big, sizeof(big), "m%" PRIu64, number / 1000);
    while (sagg_next(agg, &cursor, &entry)) {
        if (entry.stack == SAGG_DROPPED || !sagg_stack_at(agg, entry.stack, &stack) ||
            !sagg_frame_at(agg, sagg_stack_frame(&stack, 0), &found[0]) ||
            !sagg_frame_at(agg, sagg_stack_frame(&stack, 1), &found[1]))
            continue;
        if (found[0].method.size == strlen(leaf) && found[1].method.size == strlen(big) &&
            memcmp(found[0].method.data, leaf, strlen(leaf)) == 0 &&
            memcmp(found[1].method.data, big, strlen(big)) == 0)
            return entry.totals.value;
    }
    return 0;
}

static void check_sums(const sagg *agg, uint64_t total, uint64_t samples)
{
    size_t cursor = 0;
    sagg_entry entry;
    uint64_t sum = 0, seen = 0, dropped = 0;
    while (sagg_next(agg, &cursor, &entry)) {
        sum += entry.totals.value;
        seen += entry.totals.samples;
        dropped += entry.stack == SAGG_DROPPED ? entry.totals.samples : 0;
    }
    sagg_totals totals = sagg_type_totals(agg, TYPE);
    sagg_loss loss = sagg_losses(agg);
    check(totals.value == total && totals.raw_value == 2 * total && totals.samples == samples,
          "totals are exact");
    check(sum == total && seen == samples, "entries add up to them");
    check(dropped > 0 && loss.samples_dropped == dropped && loss.stacks_dropped > 0,
          "the loss is told to the sample");
}

static void check_bound(const sagg *agg, const uint64_t heavy[HEAVY], uint64_t total)
{
    uint64_t bound = sagg_error_bound(agg, TYPE);
    uint64_t worst = 0;
    bool never_more = true;
    for (uint64_t i = 0; i < HEAVY; i++) {
        uint64_t has = kept(agg, i);
        never_more = never_more && has <= heavy[i];
        worst = heavy[i] - has > worst ? heavy[i] - has : worst;
    }
    printf("# bound %" PRIu64 " of %" PRIu64 ", worst error of %u stacks %" PRIu64 "\n", bound,
           total, HEAVY, worst);
    check(never_more && worst <= bound, "no stack misses more than the bound");
    check(kept(agg, 0) > 0, "the heavy ones stayed");
}

/* The sums of the added values, and the most memory used. */
typedef struct course {
    uint64_t total, samples, most;
    uint64_t heavy[HEAVY];
} course;

static void add_counted(sagg *agg, course *c, uint64_t number, uint64_t value)
{
    add(agg, number, value);
    c->total += value;
    c->samples++;
    if (number < HEAVY)
        c->heavy[number] += value;
    c->most = sagg_bytes(agg) > c->most ? sagg_bytes(agg) : c->most;
}

static void add_all(sagg *agg, course *c, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        add_counted(agg, c, i, i % 1000 + 1);
        if (i % STEP == 0)
            add_counted(agg, c, i / STEP % HEAVY, 5000);
    }
    require(sagg_compact(agg, &err));
}

static sagg *capped(void)
{
    const sagg_type types[] = {{TYPE, "cpu", "ns"}};
    sagg_options options = SAGG_OPTIONS_INIT;
    sagg *agg;
    options.types = types;
    options.type_count = 1;
    options.group = SAGG_BY_NONE;
    options.max_bytes = CAP;
    options.max_stacks = 100000;
    require(sagg_new(&agg, &options, &err));
    return agg;
}

int main(int argc, char **argv)
{
    uint64_t count = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    course c = {0};
    struct rusage used;
    if (count == 0) {
        fputs("usage: many-stacks STACKS\n", stderr);
        return 2;
    }
    sagg *agg = capped();
    add_all(agg, &c, count);
    getrusage(RUSAGE_SELF, &used);
    printf("1..7\n# at most %" PRIu64 " bytes counted, %ld KiB resident\n", c.most, used.ru_maxrss);
    check(c.most <= CAP, "what is counted stays in the cap");
    check((uint64_t)used.ru_maxrss * 1024 <= CAP + ROOM, "what the process holds stays in the cap");
    check_sums(agg, c.total, c.samples);
    check_bound(agg, c.heavy, c.total);
    sagg_free(agg);
    return failed > 0 ? 1 : 0;
}
