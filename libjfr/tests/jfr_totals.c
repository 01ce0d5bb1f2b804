/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the totals that libjfr reads from recordings, in the JSON form of tests/support/jfr-truth:
 * the truth test compares the two. Also decodes every stack, thread and class of the samples.
 *
 * usage: jfr_totals [--walk-unfinished] FILE...
 */
#include <inttypes.h>
#include <jfr/jfr.h>
#include <stdio.h>
#include <string.h>

struct total {
    uint64_t events;
    uint64_t raw;
    uint64_t stackless;
};

static int decode(jfr_chunk *chunk, const jfr_sample *s, jfr_error *err)
{
    jfr_stack stack;
    jfr_thread thread;
    jfr_class klass;
    int rc = s->stack != JFR_NONE ? jfr_chunk_stack(chunk, s->stack, &stack, err) : 0;
    if (rc == 0 && s->thread != JFR_NONE)
        rc = jfr_chunk_thread(chunk, s->thread, &thread, err);
    if (rc == 0 && s->klass != JFR_NONE)
        rc = jfr_chunk_class(chunk, s->klass, &klass, err);
    return rc;
}

static int add_chunk(jfr_chunk *chunk, struct total *totals, jfr_error *err)
{
    jfr_sample s;
    int rc;
    while ((rc = jfr_samples_next(chunk, &s, err)) == 1) {
        for (int i = 0; i < s.value_count; i++) {
            struct total *total = &totals[s.values[i].type];
            total->events++;
            total->raw += s.values[i].raw;
            total->stackless += s.stack == JFR_NONE;
        }
        rc = decode(chunk, &s, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static void tell_loss(const char *path, const jfr_loss *loss)
{
    for (size_t i = 0; i < loss->record_count; i++)
        fprintf(stderr, "%s: %s at byte %" PRIu64 ", %" PRIu64 " bytes lost\n", path,
                jfr_loss_reason_name(loss->records[i].reason), loss->records[i].offset,
                loss->records[i].bytes);
}

static int add_file(const char *path, uint32_t flags, struct total *totals, jfr_error *err)
{
    jfr_options options = JFR_OPTIONS_INIT;
    options.flags = flags;
    jfr_file *file;
    int rc = jfr_open_file(&file, path, &options, err);
    if (rc < 0)
        return rc;
    jfr_chunk *chunk;
    while ((rc = jfr_next_chunk(file, &chunk, err)) == 1) {
        rc = add_chunk(chunk, totals, err);
        if (rc < 0)
            break;
    }
    jfr_loss loss;
    jfr_file_loss(file, &loss);
    tell_loss(path, &loss);
    jfr_close(file);
    return rc;
}

static void print(const struct total *totals)
{
    printf("{\"types\": {");
    for (int type = 0; type < JFR_PROFILE_TYPE_COUNT; type++) {
        const struct total *t = &totals[type];
        if (type > JFR_NATIVEMEM_BYTES && t->events == 0)
            continue; /* jfr-truth, whose output this is compared with, has only the earlier types
                       */
        printf("%s\"%s\": {\"events\": %" PRIu64 ", \"raw_value\": %" PRIu64
               ", \"stackless\": %" PRIu64 "}",
               type > 0 ? ", " : "", jfr_profile_type_name((jfr_profile_type)type), t->events,
               t->raw, t->stackless);
    }
    printf("}}\n");
}

static int fail(const char *path, const jfr_error *err)
{
    fprintf(stderr, "%s: %s (byte %" PRIu64 ")\n", path, err->message, err->offset);
    return 1;
}

int main(int argc, char **argv)
{
    struct total totals[JFR_PROFILE_TYPE_COUNT] = {0};
    uint32_t flags = 0;
    jfr_error err;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--walk-unfinished") == 0)
            flags = JFR_WALK_UNFINISHED;
        else if (add_file(argv[i], flags, totals, &err) < 0)
            return fail(argv[i], &err);
    }
    print(totals);
    return 0;
}
