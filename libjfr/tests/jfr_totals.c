/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libjfr reads from recordings, in the JSON shape of tests/support/jfr-truth: the truth test
 * compares the two. Every stack, thread and class of the samples is decoded on the way.
 *
 * usage: jfr_totals [--walk-unfinished] FILE...
 *        jfr_totals --follow DONE FILE   follows the growing FILE until DONE exists
 */
#include <fcntl.h>
#include <inttypes.h>
#include <jfr/jfr.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static void pause_shortly(void)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    nanosleep(&pause, NULL);
}

/* What following a file came to. */
struct followed {
    int chunks;
    int64_t end_ns;  /* of the last chunk */
    uint64_t gap_ns; /* between chunks */
};

static void look_for_gap(struct followed *f, const jfr_chunk_info *info)
{
    int64_t gap = info->start_ns - f->end_ns;
    f->gap_ns += f->chunks > 0 && gap > 0 ? (uint64_t)gap : 0;
    f->end_ns = info->start_ns + (int64_t)info->duration_ns;
    f->chunks++;
}

static int take_chunks(jfr_stream *stream, struct total *totals, struct followed *followed,
                       jfr_error *err)
{
    jfr_chunk *chunk;
    int rc;
    while ((rc = jfr_stream_next(stream, &chunk, err)) == 1) {
        look_for_gap(followed, jfr_chunk_get_info(chunk));
        rc = add_chunk(chunk, totals, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int follow_chunks(jfr_stream *stream, const char *done, struct total *totals, jfr_error *err)
{
    struct followed followed = {.chunks = 0};
    int rc;
    while ((rc = take_chunks(stream, totals, &followed, err)) == 0 && access(done, F_OK) != 0)
        pause_shortly();
    int live = followed.chunks;
    jfr_stream_end(stream);
    if (rc == 0)
        rc = take_chunks(stream, totals, &followed, err);
    fprintf(stderr, "%d chunks while it grew, %d in all, %" PRIu64 " ns between them\n", live,
            followed.chunks, followed.gap_ns);
    return rc;
}

static int follow_file(const char *path, const char *done, struct total *totals, jfr_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && access(done, F_OK) != 0) {
        pause_shortly();
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    jfr_stream *stream;
    int rc = jfr_stream_follow(&stream, fd, 0, NULL, err);
    if (rc < 0)
        return rc;
    rc = follow_chunks(stream, done, totals, err);
    jfr_loss loss;
    jfr_stream_loss(stream, &loss);
    tell_loss(path, &loss);
    jfr_stream_free(stream);
    close(fd);
    return rc;
}

static void print(const struct total *totals)
{
    printf("{\"types\": {");
    for (int type = 0; type < JFR_PROFILE_TYPE_COUNT; type++) {
        const struct total *t = &totals[type];
        if (type > JFR_NATIVEMEM_BYTES && t->events == 0)
            continue; /* jfr-truth, whose answers these are compared with, knows those before */
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
    if (argc == 4 && strcmp(argv[1], "--follow") == 0) {
        if (follow_file(argv[3], argv[2], totals, &err) < 0)
            return fail(argv[3], &err);
        print(totals);
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--walk-unfinished") == 0)
            flags = JFR_WALK_UNFINISHED;
        else if (add_file(argv[i], flags, totals, &err) < 0)
            return fail(argv[i], &err);
    }
    print(totals);
    return 0;
}
