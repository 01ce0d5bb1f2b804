/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts recordings at many places and reads the rest: the library must keep its promises
 * (fuzz/walk.h), deliver complete chunks completely, and report the loss.
 *
 * usage: jfr_cuts EVERY FILE.gz...
 *   EVERY   1 = cut at every byte; else at every EVERYth, and around the border of every event
 * Each copy is an allocation of exactly its size, so that AddressSanitizer and valgrind report any
 * read beyond it. Prints TAP.
 */
#include "../fuzz/walk.h"
#include "memory_impl.h"
#include "read/input_impl.h"
#include "read/reader_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 26, SPARSE = 977 };

struct recording {
    uint8_t *data;
    size_t len;
    bool *cuts; /* by length: whether to try it */
    uint64_t chunks;
    uint64_t samples;
};

static bool load(struct recording *r, const char *path)
{
    void *packed;
    size_t packed_len;
    jfr__unpacked whole;
    jfr_error err;
    if (jfr__map_file(&packed, &packed_len, path, &err) < 0)
        return false;
    int rc = jfr__gunzip(&whole, packed, packed_len, MAX_BYTES, &jfr__malloc, &err);
    jfr__unmap_file(packed, packed_len);
    r->data = whole.data;
    r->len = whole.len;
    r->cuts = calloc(r->len + 1, sizeof(*r->cuts));
    return rc == 0 && !whole.damaged && r->cuts != NULL;
}

static void mark_around(struct recording *r, uint64_t border)
{
    for (uint64_t at = border > 0 ? border - 1 : 0; at <= border + 1 && at < r->len; at++)
        r->cuts[at] = true;
}

/* Headers, events, checkpoints and metadata all begin where an event begins. */
static void mark_borders(struct recording *r)
{
    jfr__header h;
    for (uint64_t at = 0; jfr__header_read(&h, r->data, r->len, at, NULL) == 0; at += h.size) {
        jfr__cursor c = {r->data, r->data + at + JFR__HEADER_SIZE, r->data + at + h.size,
                         h.compressed, false};
        jfr__event_head head;
        for (uint64_t field = at; field <= at + JFR__HEADER_SIZE; field += 4)
            mark_around(r, field);
        while (jfr__cursor_left(&c) > 0 && jfr__event_next(&c, &head)) {
            mark_around(r, head.offset);
            c.pos = c.base + head.end;
        }
    }
}

/* Returns how many chunks end within the first `len` bytes. */
static uint64_t whole_chunks(const struct recording *r, size_t len)
{
    jfr__header h;
    uint64_t chunks = 0;
    for (uint64_t at = 0; jfr__header_read(&h, r->data, r->len, at, NULL) == 0; at += h.size)
        chunks += at + h.size <= len;
    return chunks;
}

static bool check_cut(const struct recording *r, size_t len, uint32_t flags)
{
    uint8_t *copy = malloc(len > 0 ? len : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, r->data, len);
    walk_result walked = walk_recording(copy, len, flags);
    uint64_t whole = whole_chunks(r, len);
    bool good = len < JFR__HEADER_SIZE
                    ? walked.opened == JFR_ERR_FORMAT
                    : walked.opened == 0 && walked.losses > 0 && walked.whole == whole &&
                          walked.samples >= whole * (r->samples / r->chunks);
    free(copy);
    return good;
}

static uint64_t cut_everywhere(const struct recording *r)
{
    static const uint32_t ways[] = {0, JFR_WALK_UNFINISHED | JFR_KEEP_IDLE_WAITS |
                                           JFR_KEEP_NATIVE_SAMPLES};
    uint64_t cuts = 0;
    for (size_t len = 0; len < r->len; len++) {
        for (int way = 0; way < 2 && r->cuts[len]; way++) {
            cuts++;
            if (check_cut(r, len, ways[way]))
                continue;
            printf("# cut at byte %zu, flags %" PRIu32 "\n", len, ways[way]);
            return 0;
        }
    }
    return cuts;
}

static uint64_t check_file(const char *path, size_t every)
{
    struct recording r = {.data = NULL};
    uint64_t cuts = 0;
    if (load(&r, path)) {
        walk_result whole = walk_recording(r.data, r.len, 0);
        r.chunks = whole.chunks;
        r.samples = whole.samples;
        for (size_t len = 0; len < r.len; len += every)
            r.cuts[len] = true;
        if (every < SPARSE)
            mark_borders(&r);
        cuts = whole.losses == 0 && r.samples > 0 ? cut_everywhere(&r) : 0;
    }
    free(r.data);
    free(r.cuts);
    return cuts;
}

int main(int argc, char **argv)
{
    size_t every = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    int failed = every == 0;
    printf("1..%d\n", argc - 2);
    for (int i = 2; i < argc && every > 0; i++) {
        const char *name = strrchr(argv[i], '/');
        uint64_t cuts = check_file(argv[i], every);
        printf("%s %d - %s: %" PRIu64 " cuts\n", cuts > 0 ? "ok" : "not ok", i - 1,
               name != NULL ? name + 1 : argv[i], cuts);
        fflush(stdout);
        failed += cuts == 0;
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
