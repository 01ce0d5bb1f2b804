/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdlib.h>

#include "support.h"

static const char hostile[] = "</script><b>\"'&\\\n\x1b[31m\xe2\x80\xae\xe2\x80\xa8\x7f\xc2\x85;x";
static const char page[] = "<html><script type=\"application/json\" id=\"hotstack-data\">"
                           "/*HOTSTACK_DATA*/</script></html>\n";

static uint32_t named_stack(sagg *agg, const char *class_name, const char *method)
{
    sagg_frame frame = {
        .class_name = str(class_name), .method = str(method), .file = str("F.java")};
    uint32_t index, s;
    ck_assert_int_eq(sagg_add_frame(agg, &index, &frame, NULL), 0);
    ck_assert_int_eq(sagg_add_stack(agg, &s, &index, 1, NULL), 0);
    return s;
}

START_TEST(json_is_what_the_page_says)
{
    sagg *agg = make(NULL);
    add(agg, CPU, 0, named_stack(agg, "com.acme.Main", "run"), 30);
    char *text = json(agg, CPU, 0);
    ck_assert_str_eq(
        text, "{\"version\":2,\"strings\":[\"\",\"com.acme.Main\",\"run\",\"F.java\"],\"frames\":{"
              "\"class\":[1],\"method\":[2],\"file\":[3],\"line\":[0],\"kind\":[0]},\"profiles\":[{"
              "\"type\":\"cpu\",\"unit\":\"ns\",\"raw_total\":\"29\",\"value_total\":\"30\","
              "\"samples\":1,\"nodes\":{\"depth\":[0,1],\"frame\":[-1,0],\"self\":[0,30]},"
              "\"omitted\":{\"node\":[],\"total\":[],\"count\":[]}}],\"meta\":{}}");
    free(text);
    sagg_free(agg);
}
END_TEST

/* Checks that the text has no raw character on which a page, a terminal or an editor would act. */
static void check_harmless(const char *text)
{
    ck_assert_ptr_null(strchr(text, '<'));
    ck_assert_ptr_null(strstr(text, "\xe2\x80\xae"));
    ck_assert_ptr_null(strstr(text, "\xe2\x80\xa8"));
    ck_assert_ptr_null(strstr(text, "\xc2\x85"));
    for (const char *at = text; *at != '\0'; at++)
        ck_assert(((unsigned char)*at >= 0x20 && *at != 0x7F) || *at == '\n');
}

START_TEST(hostile_names_are_escaped_and_come_back_whole)
{
    sagg *agg = make(NULL);
    add(agg, CPU, 0, named_stack(agg, "k", hostile), 1);
    char *text = json(agg, CPU, 0);
    check_harmless(text);
    json_error_t error;
    json_t *document = json_loads(text, 0, &error);
    ck_assert_msg(document != NULL, "%s", error.text);
    const json_t *strings = json_object_get(document, "strings");
    ck_assert_str_eq(json_string_value(json_array_get(strings, 2)), hostile);
    json_decref(document);
    free(text);
    sagg_free(agg);
}
END_TEST

static int write_page(const char *html, const char *meta, memory *to, sagg_error *err)
{
    sagg *agg = make(NULL);
    add(agg, CPU, 0, named_stack(agg, "k", hostile), 1);
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    options.type = CPU;
    ck_assert_int_eq(sagg_tree_new(&tree, agg, &options, NULL), 0);
    sagg_free(agg); /* a tree borrows nothing */
    sagg_sink sink = memory_sink(to);
    const sagg_tree *trees[] = {tree, tree};
    int rc = sagg_write_html(str(html), trees, 2, str(meta), NULL, &sink, err);
    sagg_tree_free(tree);
    return rc;
}

START_TEST(html_is_the_template_with_the_data_in_it)
{
    memory to;
    ck_assert_int_eq(write_page(page, "{\"title\": \"</script>\xe2\x80\xae\"}\n", &to, NULL), 0);
    const char *start = strstr(to.text, "data\">") + strlen("data\">");
    const char *end = strstr(to.text, "</script></html>\n");
    ck_assert_ptr_nonnull(end);
    ck_assert_ptr_null(strstr(end + 1, "</script>"));
    char *inner = strndup(start, (size_t)(end - start));
    check_harmless(inner);
    ck_assert_ptr_null(strchr(inner, '\n')); /* for any text of meta */
    json_t *document = json_loads(inner, 0, NULL);
    ck_assert_ptr_nonnull(document);
    ck_assert_int_eq(json_integer_value(json_object_get(document, "version")), 2);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "profiles")), 2);
    const json_t *frames = json_object_get(document, "frames");
    ck_assert_uint_eq(json_array_size(json_object_get(frames, "class")), 1); /* of both profiles */
    const json_t *title = json_object_get(json_object_get(document, "meta"), "title");
    ck_assert_str_eq(json_string_value(title), "</script>\xe2\x80\xae");
    json_decref(document);
    free(inner);
    free(to.text);
}
END_TEST

static const struct {
    const char *html;
    const char *meta;
    uint64_t offset;
    const char *says;
} bad_pages[] = {
    {"<html></html>", "", 0, "no /*HOTSTACK_DATA*/"},
    {"", "", 0, "no /*HOTSTACK_DATA*/"},
    {"/*HOTSTACK_DATA*/ /*HOTSTACK_DATA*/", "", 18, "twice"},
    {"<script>/*HOTSTACK_DATA*/</script>", "", 8, "hotstack-data"},
    {page, "[]", 0, "not a JSON object"},
    {page, "{", 0, "not a JSON object"},
    {page, "{\"title\"}", 0, "not a JSON object"},
    {page, "{\"title\":}", 0, "not a JSON object"},
    {page, "{\"title\":\"a}", 0, "not a JSON object"},
    {page, "{\"title\":\"a\\", 0, "not a JSON object"},
    {page, "{\"title\":[{\"a\":1}", 0, "not a JSON object"},
    {page, "{\"title\":1]}", 0, "not a JSON object"},
    {page, "{\"title\":1,}", 0, "not a JSON object"},
    {page, "{} {}", 0, "not a JSON object"},
};

START_TEST(bad_templates_and_meta_are_refused_before_output)
{
    memory to;
    sagg_error err = {0};
    ck_assert_int_eq(write_page(bad_pages[_i].html, bad_pages[_i].meta, &to, &err),
                     SAGG_ERR_FORMAT);
    ck_assert_uint_eq(err.offset, bad_pages[_i].offset);
    ck_assert_msg(strstr(err.message, bad_pages[_i].says) != NULL, "%s", err.message);
    ck_assert_uint_eq(to.size, 0);
}
END_TEST

/* A compressor that adds 1 to each byte, and refuses after calls_left calls (-1 = never). */
typedef struct adder {
    int calls_left;
    bool ended;
} adder;

static int add_one(void *ctx, const void *data, size_t bytes, bool last, const sagg_sink *out)
{
    adder *a = ctx;
    const char *from = data;
    char piece[256];
    ck_assert(!a->ended);
    if (a->calls_left-- == 0)
        return 1;
    a->ended = last;
    for (size_t i = 0; i < bytes; i++) {
        piece[i % sizeof(piece)] = (char)(from[i] + 1);
        if ((i + 1) % sizeof(piece) == 0 || i + 1 == bytes) {
            int rc = out->write(out->ctx, piece, i % sizeof(piece) + 1);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

/* Avoids ck_assert, which writes to the parent process each time: too slow for every digit. */
static uint32_t value_of(char digit)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = digit != '\0' ? strchr(digits, digit) : NULL;
    if (at == NULL)
        ck_abort_msg("'%c' is no digit of base64", digit);
    return (uint32_t)(at - digits);
}

/* Decodes base64 and subtracts 1 from each byte; free it. */
static char *plain_of(const char *text, size_t size)
{
    char *plain = calloc(1, size + 1);
    size_t used = 0;
    ck_assert_uint_eq(size % 4, 0);
    for (size_t i = 0; i < size; i += 4) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 4; k++)
            bits = bits << 6 | (text[i + k] == '=' ? 0 : value_of(text[i + k]));
        size_t count = text[i + 3] != '=' ? 3 : text[i + 2] != '=' ? 2 : 1;
        for (size_t k = 0; k < count; k++)
            plain[used++] = (char)((bits >> (16 - 8 * k) & 0xFF) - 1);
    }
    return plain;
}

/* Titles of 0, 1 and 2 letters, so that base64 ends in each of its forms. */
START_TEST(a_page_can_be_compressed)
{
    static const char *const metas[] = {"{\"title\":\"\"}", "{\"title\":\"a\"}",
                                        "{\"title\":\"ab\"}"};
    sagg *agg = make(NULL);
    for (uint32_t i = 0; i < 20000; i++) { /* several pieces */
        char path[64];
        (void)snprintf(path, sizeof(path), "com.acme.Main%u;com.acme.Worker.run%u", i % 100, i);
        add(agg, CPU, 0, stack(agg, path), 1 + i);
    }
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    options.type = CPU;
    ck_assert_int_eq(sagg_tree_new(&tree, agg, &options, NULL), 0);
    const sagg_tree *trees[] = {tree};
    memory wanted, to;
    sagg_sink plain_sink = memory_sink(&wanted), sink = memory_sink(&to);
    adder a = {.calls_left = -1};
    const sagg_compress compress = {add_one, &a};
    ck_assert_int_eq(sagg_write_json(trees, 1, str(metas[_i]), &plain_sink, NULL), 0);
    ck_assert_int_eq(sagg_write_html(str(page), trees, 1, str(metas[_i]), &compress, &sink, NULL),
                     0);
    ck_assert(a.ended);
    const char *start = strstr(to.text, "data\">") + strlen("data\">");
    char *plain = plain_of(start, (size_t)(strstr(start, "</script>") - start));
    ck_assert_str_eq(plain, wanted.text);
    free(plain);
    free(wanted.text);
    free(to.text);
    a = (adder){.calls_left = 1}; /* refuses the second piece */
    sagg_sink other = memory_sink(&to);
    sagg_error err = {0};
    ck_assert_int_eq(sagg_write_html(str(page), trees, 1, str(metas[_i]), &compress, &other, &err),
                     SAGG_ERR_IO);
    free(to.text);
    sagg_tree_free(tree);
    sagg_free(agg);
}
END_TEST

START_TEST(collapsed_lines_are_stacks)
{
    sagg *agg = make(NULL);
    add(agg, CPU, 0, stack(agg, "m.main;b.B.x"), 3);
    add(agg, CPU, thread(agg, 4, "w;1"), stack(agg, "m.main"), 2);
    add(agg, CPU, thread(agg, 15, "w;1"), stack(agg, "m.main"), 1);
    add(agg, CPU, thread(agg, 16, ""), stack(agg, "m.main"), 4);
    add(agg, CPU, thread(agg, 0, "virtual"), stack(agg, "m.main"), 5);
    add(agg, CPU, 0, stack(agg, ""), 9);
    add(agg, CPU, 0, named_stack(agg, " k ", hostile), 1);
    char *text = collapsed(agg, CPU, NULL);
    ck_assert_str_eq(text, "[no stack] 9\n_k_.</script><b>\"'&\\_?[31m????_x 1\n"
                           "m.main 12\nm.main;b.B.x 3\n");
    free(text);
    sagg_collapsed_options options = SAGG_COLLAPSED_OPTIONS_INIT;
    options.threads = true;
    text = collapsed(agg, CPU, &options);
    ck_assert_ptr_nonnull(strstr(text, "\n[w_1 tid=15];m.main 1\n[w_1 tid=4];m.main 2\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n[tid=16];m.main 4\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nvirtual;m.main 5\n"));
    ck_assert_ptr_nonnull(strstr(text, "[no thread];[no stack] 9\n"));
    ck_assert_ptr_nonnull(strstr(text, "[no thread];m.main;b.B.x 3\n"));
    free(text);
    sagg_free(agg);
}
END_TEST

/* Adds a pair of types of the same events, such as bytes and objects allocated. */
static void add_pair(sagg *agg, uint32_t stack_index, uint64_t first, uint64_t second)
{
    sagg_sample pair[] = {
        {.type = CPU, .stack = stack_index, .raw_value = first, .value = first, .samples = 1},
        {.type = ALLOC, .stack = stack_index, .raw_value = 1, .value = second, .samples = 1}};
    ck_assert_int_eq(sagg_add_all(agg, pair, 2, NULL), 0);
}

/* No tool, including Hotstack's, reads a line without a name before its value. */
START_TEST(collapsed_lines_name_frames_without_names)
{
    sagg *agg = make(NULL);
    const sagg_frame frame = {.kind = SAGG_JAVA};
    uint32_t frames[2], s;
    ck_assert_int_eq(sagg_add_frame(agg, &frames[0], &frame, NULL), 0);
    frames[1] = frames[0];
    ck_assert_int_eq(sagg_add_stack(agg, &s, frames, 2, NULL), 0);
    add(agg, CPU, 0, s, 15);
    char *text = collapsed(agg, CPU, NULL);
    ck_assert_str_eq(text, "(no name);(no name) 15\n");
    free(text);
    sagg_free(agg);
}
END_TEST

/* flamegraph.pl reads a number after a blank as a second value, also where it ends with a dot. */
static const struct {
    const char *class_name;
    const char *method;
    const char *line;
} numbered[] = {
    {"a.B", "returns 42", "a.B.returns_42 30\n"},
    {"a.B", "is 4.25", "a.B.is_4.25 30\n"},
    {"a.B 4", "2", "a.B_4.2 30\n"},
    {"a.B 4", "", "a.B_4. 30\n"},
    {"",
     "\xc2\xa0"
     "7",
     "_7 30\n"},
    {"",
     "thin\xe2\x80\x89"
     "7",
     "thin_7 30\n"},
    {"", "two  7", "two _7 30\n"},
    {"a.B", "returns42", "a.B.returns42 30\n"},
    {"a.B", "returns 42 times", "a.B.returns 42 times 30\n"},
    {"a.B", "v .5", "a.B.v .5 30\n"},
    {"a.B", "v 1.2.3", "a.B.v 1.2.3 30\n"},
    {"", "42", "42 30\n"},
    {"",
     "\xa0"
     "42",
     "\xef\xbf\xbd"
     "42 30\n"},
};

START_TEST(collapsed_lines_have_one_number)
{
    sagg *agg = make(NULL);
    add(agg, CPU, 0, named_stack(agg, numbered[_i].class_name, numbered[_i].method), 30);
    char *text = collapsed(agg, CPU, NULL);
    ck_assert_str_eq(text, numbered[_i].line);
    free(text);
    sagg_free(agg);
}
END_TEST

START_TEST(collapsed_lines_hold_pairs_of_types_and_what_was_dropped)
{
    static const char *const wanted[] = {[CPU] = "[dropped] 2\nm.main 10\nm.main;b.B.x 35\n",
                                         [ALLOC] = "[dropped] 4\nm.main;b.B.x 7\nm.main;c.C.y 6\n"};
    sagg *agg = make(NULL);
    add_pair(agg, stack(agg, "m.main;b.B.x"), 30, 3);
    add(agg, CPU, 0, stack(agg, "m.main"), 10);
    add_pair(agg, stack(agg, "m.main;b.B.x"), 5, 4);
    add_pair(agg, SAGG_DROPPED, 2, 4);
    add(agg, ALLOC, 0, stack(agg, "m.main;c.C.y"), 6);
    for (uint32_t type = CPU; type <= ALLOC; type++) {
        char *text = collapsed(agg, type, NULL);
        ck_assert_str_eq(text, wanted[type]);
        free(text);
    }
    sagg_free(agg);
}
END_TEST

enum { PATHS = 2500, MANY_PATHS = 24000, PATH_ROOM = 192 };

/* Makes a path that shares much with others, and a thread before it. */
static void random_path(char *path, uint64_t *state, bool threads)
{
    size_t used = (size_t)snprintf(path, PATH_ROOM, "%s", threads ? "[w tid=1]" : "");
    if (threads)
        path[used - 2] = (char)('1' + next_random(state, 3));
    uint32_t depth = next_random(state, 14);
    for (uint32_t i = 0; i < depth; i++)
        used += (size_t)snprintf(path + used, PATH_ROOM - used, "%sk.%c", used > 0 ? ";" : "",
                                 (char)('a' + next_random(state, i < 6 ? 2 : 3)));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Returns the lines of the paths when they are sorted as texts and equal ones are counted. */
static char *naive_lines(char (*paths)[PATH_ROOM], uint32_t count, uint32_t weight)
{
    memory to;
    sagg_sink sink = memory_sink(&to);
    qsort(paths, count, sizeof(paths[0]), by_text);
    for (uint32_t i = 0, alike = 1; i < count; i++, alike++) {
        char line[PATH_ROOM + 32];
        if (i + 1 < count && strcmp(paths[i], paths[i + 1]) == 0)
            continue;
        const size_t length = strlen(paths[i]);
        const bool bare = length > 0 && paths[i][length - 1] == ']'; /* a thread without a stack */
        int size = snprintf(line, sizeof(line), "%s%s %u\n", paths[i],
                            length == 0 ? "[no stack]"
                            : bare      ? ";[no stack]"
                                        : "",
                            alike * weight);
        ck_assert_int_eq(sink.write(sink.ctx, line, (size_t)size), 0);
        alike = 0;
    }
    return to.text;
}

static void add_path(sagg *agg, uint32_t type, const char *path, bool threads, uint32_t value)
{
    uint32_t index = 0;
    if (threads) {
        const char *end = strchr(path, ']');
        index = thread(agg, end[-1] - '0', "w");
        path = end[1] == ';' ? end + 2 : end + 1;
    }
    add(agg, type, index, stack(agg, path), value);
}

/* Adds frames that no line has: with so many, a sort considers fewer frames of a path at once. */
static void add_other_frames(sagg *agg)
{
    for (uint32_t i = 0; i < 5000; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "o.x%u", i);
        add(agg, CPU, 0, stack(agg, name), 0);
    }
}

/* Compares one writer for both types with texts that are sorted and counted. */
START_TEST(a_writer_of_several_types_sorts_and_merges_paths)
{
    static char paths[2][PATHS][PATH_ROOM];
    bool threads = _i % 2 != 0;
    uint64_t state = (uint64_t)_i + 1;
    sagg *agg = make(NULL);
    for (uint32_t i = 0; i < 2 * PATHS; i++) {
        char *path = paths[i % 2][i / 2];
        random_path(path, &state, threads);
        add_path(agg, i % 2 == 0 ? CPU : ALLOC, path, threads, 1 + i % 2);
    }
    if (_i >= 4)
        add_other_frames(agg);
    sagg_collapsed_options options = SAGG_COLLAPSED_OPTIONS_INIT;
    options.threads = threads;
    sagg_collapsed *writer;
    ck_assert_int_eq(sagg_collapsed_new(&writer, agg, &options, NULL), 0);
    for (uint32_t i = 0; i < 4; i++) { /* each type twice: no state stays from one to the next */
        memory to;
        sagg_sink sink = memory_sink(&to);
        char *wanted = naive_lines(paths[i % 2], PATHS, 1 + i % 2);
        ck_assert_int_eq(sagg_collapsed_write(writer, i % 2 == 0 ? CPU : ALLOC, &sink, NULL), 0);
        ck_assert_str_eq(to.text, wanted);
        free(to.text);
        free(wanted);
    }
    sagg_error err = {0};
    ck_assert_int_eq(sagg_collapsed_write(writer, 63, &(sagg_sink){0}, &err), SAGG_ERR_USAGE);
    sagg_collapsed_free(writer);
    sagg_free(agg);
}
END_TEST

/* Makes a path that begins as many others do: some end there, most continue. */
static void long_path(char *path, uint64_t *state, bool threads)
{
    uint32_t trunk = (threads ? 21 : 14) + 4 * next_random(state, 2);
    size_t used = (size_t)snprintf(path, PATH_ROOM, "%s", threads ? "[w0 tid=4];" : "");
    if (next_random(state, 30) == 0)
        trunk -= next_random(state, trunk);
    for (uint32_t i = 0; i < trunk; i++)
        used += (size_t)snprintf(path + used, PATH_ROOM - used, "%sk.t", i > 0 ? ";" : "");
    if (trunk < 14)
        return;
    path[used++] = ';';
    random_path(path + used, state, false);
    if (path[used] == '\0')
        path[used - 1] = '\0';
}

/* Adds a stack whose frames have one of two lines, which the text does not show: each frame its own
 * line, or the whole stack the same, so that as many stacks begin alike. */
static uint32_t lined_stack(sagg *agg, const char *path, uint64_t *state, bool each)
{
    uint32_t frames[64];
    uint32_t index = UINT32_MAX;
    const uint32_t line = 1 + next_random(state, 2);
    size_t count = strlen(path) / 4 + 1;
    for (size_t i = 0; i < count; i++) {
        sagg_frame row = {.class_name = {path + 4 * (count - 1 - i), 1},
                          .method = {path + 4 * (count - 1 - i) + 2, 1},
                          .line = each ? 1 + (next_random(state, 8) == 0) : line};
        ck_assert_int_eq(sagg_add_frame(agg, &frames[i], &row, NULL), 0);
    }
    ck_assert_int_eq(sagg_add_stack(agg, &index, frames, count, NULL), 0);
    return index;
}

START_TEST(many_paths_that_begin_alike_are_sorted_and_merged)
{
    static char paths[MANY_PATHS][PATH_ROOM];
    bool threads = _i % 2 != 0;
    uint64_t state = (uint64_t)_i + 1;
    sagg *agg = make(NULL);
    for (uint32_t i = 0; i < MANY_PATHS; i++) {
        long_path(paths[i], &state, threads);
        uint32_t index = threads ? thread(agg, 4, "w0") : 0;
        add(agg, CPU, index,
            lined_stack(agg, paths[i] + (threads ? strlen("[w0 tid=4];") : 0), &state, _i >= 2), 1);
    }
    if (threads)
        add_other_frames(agg);
    sagg_collapsed_options options = SAGG_COLLAPSED_OPTIONS_INIT;
    options.threads = threads;
    char *wanted = naive_lines(paths, MANY_PATHS, 1);
    char *text = collapsed(agg, CPU, &options);
    ck_assert(strcmp(text, wanted) == 0);
    free(text);
    free(wanted);
    sagg_free(agg);
}
END_TEST

/* Lines are sent in pieces; these are longer than several pieces. */
START_TEST(lines_longer_than_pieces_come_out_whole)
{
    enum { LONG = 60000, LINES = 12, DEPTH = 12, ROOM = (LONG + 8) * DEPTH * LINES };
    static const char *const roots[] = {"a", "k"};
    sagg *agg = make(NULL);
    char *name = malloc(LONG + 1);
    char *wanted = malloc(ROOM);
    size_t size = 0;
    memset(name, 'b', LONG);
    name[LONG] = '\0';
    for (uint32_t i = 0; i < LINES; i++) {
        char leaf[8];
        uint32_t frames[DEPTH], index;
        (void)snprintf(leaf, sizeof(leaf), "m%02u", i);
        for (size_t k = 0; k < DEPTH; k++) {
            sagg_frame row = {.method = str(k == 0 ? leaf : k < DEPTH - 1 ? name : roots[i % 2])};
            ck_assert_int_eq(sagg_add_frame(agg, &frames[k], &row, NULL), 0);
        }
        ck_assert_int_eq(sagg_add_stack(agg, &index, frames, DEPTH, NULL), 0);
        add(agg, CPU, 0, index, i + 1);
    }
    for (uint32_t i = 0; i < LINES; i++) {
        uint32_t line = i < LINES / 2 ? 2 * i : 2 * (i - LINES / 2) + 1;
        size += (size_t)snprintf(wanted + size, ROOM - size, "%s;", roots[line % 2]);
        for (size_t k = 0; k < DEPTH - 2; k++)
            size += (size_t)snprintf(wanted + size, ROOM - size, "%s;", name);
        size += (size_t)snprintf(wanted + size, ROOM - size, "m%02u %u\n", line, line + 1);
    }
    char *text = collapsed(agg, CPU, NULL);
    ck_assert_uint_eq(strlen(text), size);
    ck_assert(memcmp(text, wanted, size) == 0);
    free(text);
    free(wanted);
    free(name);
    sagg_free(agg);
}
END_TEST

START_TEST(values_of_any_length_are_decimal)
{
    uint64_t power = 1;
    for (int digits = 1; digits <= 19; digits++, power *= 10) {
        const uint64_t values[] = {power, power + (power > 1), 10 * (power / 10) + 9, 9 * power};
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            char wanted[64];
            sagg *agg = make(NULL);
            uint32_t frame, index;
            sagg_frame row = {.method = str("m")};
            ck_assert_int_eq(sagg_add_frame(agg, &frame, &row, NULL), 0);
            ck_assert_int_eq(sagg_add_stack(agg, &index, &frame, 1, NULL), 0);
            add(agg, CPU, 0, index, values[i]);
            (void)snprintf(wanted, sizeof(wanted), "m %llu\n", (unsigned long long)values[i]);
            char *text = collapsed(agg, CPU, NULL);
            ck_assert_str_eq(text, wanted);
            free(text);
            sagg_free(agg);
        }
    }
}
END_TEST

static int refuse(void *ctx, const void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
    return --*(int *)ctx < 0 ? -1 : 0;
}

START_TEST(a_refusing_sink_ends_the_output)
{
    sagg *agg = make(NULL);
    for (uint32_t i = 0; i < 20000; i++) {
        char text[72];
        (void)snprintf(text, sizeof(text), "a.b%060u", i);
        add(agg, CPU, 0, stack(agg, text), 1);
    }
    int calls = 2;
    sagg_sink sink = {refuse, &calls};
    sagg_error err = {0};
    ck_assert_int_eq(sagg_write_collapsed(agg, CPU, NULL, &sink, &err), SAGG_ERR_IO);
    ck_assert_int_eq(err.code, SAGG_ERR_IO);
    ck_assert_int_eq(calls, -1); /* not called again */
    sagg_free(agg);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("output");
    TCase *tcase = tcase_create("output");
    tcase_add_test(tcase, json_is_what_the_page_says);
    tcase_add_test(tcase, hostile_names_are_escaped_and_come_back_whole);
    tcase_add_test(tcase, html_is_the_template_with_the_data_in_it);
    tcase_add_loop_test(tcase, a_page_can_be_compressed, 0, 3);
    tcase_add_loop_test(tcase, bad_templates_and_meta_are_refused_before_output, 0,
                        (int)(sizeof(bad_pages) / sizeof(bad_pages[0])));
    tcase_add_test(tcase, collapsed_lines_are_stacks);
    tcase_add_test(tcase, collapsed_lines_name_frames_without_names);
    tcase_add_loop_test(tcase, collapsed_lines_have_one_number, 0,
                        (int)(sizeof(numbered) / sizeof(numbered[0])));
    tcase_add_test(tcase, collapsed_lines_hold_pairs_of_types_and_what_was_dropped);
    tcase_add_test(tcase, lines_longer_than_pieces_come_out_whole);
    tcase_add_test(tcase, values_of_any_length_are_decimal);
    tcase_add_loop_test(tcase, a_writer_of_several_types_sorts_and_merges_paths, 0, 8);
    tcase_add_loop_test(tcase, many_paths_that_begin_alike_are_sorted_and_merged, 0, 4);
    tcase_add_test(tcase, a_refusing_sink_ends_the_output);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
