/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how profiles of other tools are added to the aggregate, and which are refused. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <import/import.h>
#include <pprof.pb-c.h>
#include <zlib.h>

#include "run_suite.h"

static recording *rec;
static recording_options options;
static import_options limits;
static import_report report;
static recording_error err;

static void setup(void)
{
    options = (recording_options)RECORDING_OPTIONS_INIT;
    limits = (import_options)IMPORT_OPTIONS_INIT;
    limits.type = PROFILE_TYPE_CPU;
    err = (recording_error){0};
    rec = NULL;
}

static void teardown(void)
{
    recording_free(rec);
}

static void open_recording(void)
{
    if (rec == NULL)
        ck_assert_msg(recording_new(&rec, &options, &err) == 0, "%s", err.message);
}

/* ---- collapsed ---- */

static int collapsed(const char *text)
{
    open_recording();
    return import_collapsed(rec, text, strlen(text), &limits, &err);
}

static uint64_t total(unsigned type)
{
    return sagg_type_totals(recording_aggregate(rec), type).value;
}

START_TEST(test_lines_add_up)
{
    ck_assert_int_eq(collapsed("a.B.c;d.E.f 10\r\n\na.B.c 5\n[no stack] 3"), 0);
    ck_assert_uint_eq(total(PROFILE_TYPE_CPU), 18);
    ck_assert_uint_eq(sagg_type_totals(recording_aggregate(rec), PROFILE_TYPE_CPU).samples, 3);
}
END_TEST

static const struct {
    const char *text;
    int code;
    uint64_t offset;
} refused[] = {
    {"a;b\n", RECORDING_E_FORMAT, 0},
    {"a 1\nb 1.5\n", RECORDING_E_FORMAT, 4},
    {"a 1\n\nb -1\n", RECORDING_E_FORMAT, 5},
    {" 5", RECORDING_E_FORMAT, 0},
    {"a 18446744073709551616\n", RECORDING_E_FORMAT, 0},
};

START_TEST(test_a_bad_line_is_named)
{
    ck_assert_int_eq(collapsed(refused[_i].text), refused[_i].code);
    ck_assert_int_eq(err.code, refused[_i].code);
    ck_assert_uint_eq(err.offset, refused[_i].offset);
}
END_TEST

START_TEST(test_collapsed_wants_a_type)
{
    limits.type = PROFILE_TYPE_NONE;
    ck_assert_int_eq(collapsed("a 1\n"), RECORDING_E_USAGE);
}
END_TEST

START_TEST(test_the_deepest_stack_is_taken_and_a_deeper_one_refused)
{
    size_t size = (size_t)2 * IMPORT_MAX_FRAMES;
    char *text = malloc(size + 8);
    for (size_t i = 0; i < size; i += 2)
        memcpy(text + i, "a;", 2);
    memcpy(text + size - 1, " 1\n", 4);
    ck_assert_int_eq(collapsed(text), 0);
    memcpy(text + size - 1, ";a 1\n", 6);
    ck_assert_int_eq(collapsed(text), RECORDING_E_LIMIT);
    free(text);
}
END_TEST

static int write_to(void *ctx, const void *data, size_t size)
{
    return fwrite(data, 1, size, ctx) == size ? 0 : -1;
}

START_TEST(test_a_thread_in_front)
{
    sagg_thread thread;
    ck_assert_int_eq(collapsed("[main tid=12];a.B.c 4\n[main tid=12] 3\n[main];a.B.c 1\n"), 0);
    const sagg *agg = recording_aggregate(rec);
    uint32_t index = 0;
    while (sagg_thread_at(agg, index, &thread) && thread.os_tid != 12)
        index++;
    ck_assert_uint_eq(thread.name.size, 4);
    ck_assert_uint_eq(sagg_thread_totals(agg, index, PROFILE_TYPE_CPU).value, 4);
}
END_TEST

/* Names may hold any characters; a thread may have none. */
START_TEST(test_odd_threads_in_front)
{
    static const char *const names[] = {"a] tid=5", "", "tid=9", "x[1]"}; /* of tids 1 to 4 */
    sagg_thread thread;
    uint32_t found = 0;
    ck_assert_int_eq(collapsed("[a] tid=5 tid=1];a.B.c 1\n[tid=2];a.B.c 2\n[tid=9 tid=3];a.B.c 4\n"
                               "[x[1] tid=4];a.B.c 8\n[xtid=3];a.B.c 16\n[x tid=];a.B.c 16\n"
                               "[x tid=99999999999];a.B.c 16\n]tid=3];a.B.c 16\n"),
                     0);
    const sagg *agg = recording_aggregate(rec);
    for (uint32_t i = 0; sagg_thread_at(agg, i, &thread); i++) {
        if (thread.os_tid == 0) /* no thread, or a pool's */
            continue;
        uint64_t value = sagg_thread_totals(agg, i, PROFILE_TYPE_CPU).value;
        ck_assert_int_le(thread.os_tid, 4);
        const char *name = names[thread.os_tid - 1];
        ck_assert_uint_eq(thread.name.size, strlen(name));
        ck_assert_int_eq(memcmp(thread.name.data, name, strlen(name)), 0);
        ck_assert_uint_eq(value, UINT64_C(1) << (thread.os_tid - 1));
        found++;
    }
    ck_assert_uint_eq(found, 4);
}
END_TEST

/* Words that mean no thread or no stack become none. */
START_TEST(test_words_for_nothing_come_back_as_nothing)
{
    ck_assert_int_eq(collapsed("[no stack] 1\n[no thread];[no stack] 2\n[main tid=4];[no stack] 4\n"
                               "[no thread];a.B.c 8\na.B.c;[no stack] 16\n[no thread] 32\n"),
                     0);
    const sagg *agg = recording_aggregate(rec);
    sagg_collapsed_options lines = SAGG_COLLAPSED_OPTIONS_INIT;
    char text[256];
    FILE *file = fmemopen(text, sizeof(text), "w");
    ck_assert_ptr_nonnull(file);
    const sagg_sink sink = {.write = write_to, .ctx = file};
    ck_assert_int_eq(sagg_write_collapsed(agg, PROFILE_TYPE_CPU, &lines, &sink, NULL), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_str_eq(text, "[no stack] 7\n[no thread] 32\na.B.c 8\na.B.c;[no stack] 16\n");
}
END_TEST

START_TEST(test_caps_keep_totals)
{
    char line[64];
    options.max_stacks = 100;
    options.max_bytes = 1 << 20;
    for (int i = 0; i < 20000; i++) {
        (void)snprintf(line, sizeof(line), "a.B.c;x.Y.m%d;z.Z.z%d %d\n", i, i % 7, i);
        ck_assert_int_eq(collapsed(line), 0);
    }
    ck_assert_uint_eq(total(PROFILE_TYPE_CPU), 20000 / 2 * 19999);
    ck_assert_uint_le(sagg_stack_count(recording_aggregate(rec)), 101);
    ck_assert(!recording_is_whole(rec));
}
END_TEST

/* ---- frames ---- */

static const struct {
    const char *text, *class_name, *method;
    uint8_t kind;
    uint32_t line;
} frames[] = {
    {"com.acme.Cart.total", "com.acme.Cart", "total", SAGG_JAVA, 0},
    {"java/util/Map.get:17", "java/util/Map", "get", SAGG_JAVA, 17},
    {"java/util/Map.get_[i]", "java/util/Map", "get", SAGG_JAVA, 0},
    {"net/http.HandlerFunc.ServeHTTP", "", "net/http.HandlerFunc.ServeHTTP", SAGG_NATIVE, 0},
    {"net/http.ListenAndServe", "", "net/http.ListenAndServe", SAGG_NATIVE, 0},
    {"github.com/acme/Shop.Run", "", "github.com/acme/Shop.Run", SAGG_NATIVE, 0},
    {"a.B.<init>", "a.B", "<init>", SAGG_JAVA, 0},
    {"a.B$$Lambda/0x00000008.run", "a.B$$Lambda/0x00000008", "run", SAGG_JAVA, 0},
    {"do_syscall_64_[k]", "", "do_syscall_64", SAGG_KERNEL, 0},
    {"os::naked_sleep", "", "os::naked_sleep", SAGG_JVM, 0},
    {"memcpy", "", "memcpy", SAGG_NATIVE, 0},
    {"scan.constprop.0", "", "scan.constprop.0", SAGG_NATIVE, 0},
    {"libc.so.6", "libc.so", "6", SAGG_NATIVE, 0},
    {"libc.so.6.memcpy", "libc.so.6", "memcpy", SAGG_NATIVE, 0},
    {"libx.so.1.20.f.cold.0", "libx.so.1.20", "f.cold.0", SAGG_NATIVE, 0},
    {"libjvm.so.os::malloc", "libjvm.so", "os::malloc", SAGG_JVM, 0},
    {"libjvm.so", "", "libjvm.so", SAGG_NATIVE, 0},
    {"[unknown]", "", "[unknown]", SAGG_UNKNOWN, 0},
    {"", "", "", SAGG_UNKNOWN, 0},
    {":9", "", ":9", SAGG_NATIVE, 0},
    {"a.b:", "a", "b:", SAGG_JAVA, 0},
};

START_TEST(test_frames_are_told_apart)
{
    sagg_frame out;
    import_frame(&out, (sagg_str){frames[_i].text, strlen(frames[_i].text)});
    ck_assert_uint_eq(out.class_name.size, strlen(frames[_i].class_name));
    ck_assert_uint_eq(out.method.size, strlen(frames[_i].method));
    ck_assert(out.method.size == 0 ||
              memcmp(out.method.data, frames[_i].method, out.method.size) == 0);
    ck_assert_uint_eq(out.kind, frames[_i].kind);
    ck_assert_uint_eq(out.line, frames[_i].line);
}
END_TEST

/* ---- pprof ---- */

/* A profile with one sample of two values, whose parts the tests damage. */
static Hotstack__Pprof__Profile profile;
static Hotstack__Pprof__ValueType types[2];
static Hotstack__Pprof__Sample sample;
static Hotstack__Pprof__Location location;
static Hotstack__Pprof__Function function;
static Hotstack__Pprof__Line line;
static int64_t values[2];
static uint64_t location_ids[1];
static ProtobufCBinaryData strings[8];

static void set_string(size_t at, char *text)
{
    strings[at] = (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
}

static void fill_profile(void)
{
    static char names[][16] = {"",      "cpu",     "milliseconds", "samples",
                               "count", "a.B.run", "B.java",       "goroutine"};
    static Hotstack__Pprof__ValueType *all_types[] = {&types[0], &types[1]};
    static Hotstack__Pprof__Sample *all_samples[] = {&sample};
    static Hotstack__Pprof__Location *all_locations[] = {&location};
    static Hotstack__Pprof__Function *all_functions[] = {&function};
    static Hotstack__Pprof__Line *all_lines[] = {&line};
    for (size_t i = 0; i < 8; i++)
        set_string(i, names[i]);
    hotstack__pprof__profile__init(&profile);
    hotstack__pprof__value_type__init(&types[0]);
    hotstack__pprof__value_type__init(&types[1]);
    hotstack__pprof__sample__init(&sample);
    hotstack__pprof__location__init(&location);
    hotstack__pprof__function__init(&function);
    hotstack__pprof__line__init(&line);
    types[0].type_text = 3, types[0].unit_text = 4;
    types[1].type_text = 1, types[1].unit_text = 2;
    values[0] = 4, values[1] = 40;
    location_ids[0] = 9;
    sample.value = values, sample.n_value = 2;
    sample.location_id = location_ids, sample.n_location_id = 1;
    location.id = 9, location.line = all_lines, location.n_line = 1;
    line.function_id = 1, line.line = 33;
    function.id = 1, function.name_text = 5, function.file_text = 6;
    profile.sample_type = all_types, profile.n_sample_type = 2;
    profile.sample = all_samples, profile.n_sample = 1;
    profile.location = all_locations, profile.n_location = 1;
    profile.function = all_functions, profile.n_function = 1;
    profile.string_table = strings, profile.n_string_table = 8;
    profile.time_nanos = 1000, profile.duration_nanos = 500;
}

static int read_profile(void)
{
    size_t size = hotstack__pprof__profile__get_packed_size(&profile);
    uint8_t *bytes = malloc(size + 1);
    hotstack__pprof__profile__pack(&profile, bytes);
    open_recording();
    int rc = import_pprof(rec, bytes, size, &limits, &report, &err);
    free(bytes);
    return rc;
}

START_TEST(test_a_profile_is_read)
{
    recording_info info;
    sagg_frame frame;
    fill_profile();
    ck_assert_msg(read_profile() == 0, "%s", err.message);
    const sagg *agg = recording_aggregate(rec);
    ck_assert_uint_eq(total(PROFILE_TYPE_CPU), 40000000);
    ck_assert_uint_eq(sagg_type_totals(agg, PROFILE_TYPE_CPU).samples, 4);
    ck_assert_str_eq(report.left_out, "");
    recording_get_info(rec, &info);
    ck_assert_int_eq(info.start_ns, 1000);
    ck_assert_int_eq(info.end_ns, 1500);
    bool found = false;
    for (uint32_t i = 0; sagg_frame_at(agg, i, &frame); i++)
        found = found || (frame.line == 33 && frame.file.size == 6 && frame.class_name.size == 3);
    ck_assert(found);
}
END_TEST

START_TEST(test_foreign_types_are_named)
{
    fill_profile();
    types[0].type_text = 7;
    ck_assert_int_eq(read_profile(), 0);
    ck_assert_str_eq(report.left_out, "goroutine");
    types[1].unit_text = 4; /* counts are not CPU time */
    ck_assert_int_eq(read_profile(), RECORDING_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.message, "goroutine, cpu"));
}
END_TEST

enum fault {
    BAD_LOCATION,
    BAD_FUNCTION,
    BAD_STRING,
    NEGATIVE_STRING,
    NEGATIVE,
    FEW_VALUES,
    OVERFLOW,
    FAULTS
};

static void damage(enum fault fault)
{
    location_ids[0] = fault == BAD_LOCATION ? 8 : 9;
    line.function_id = fault == BAD_FUNCTION ? UINT64_MAX : 1;
    function.name_text = fault == BAD_STRING ? 8 : fault == NEGATIVE_STRING ? -1 : 5;
    values[1] = fault == NEGATIVE ? -1 : fault == OVERFLOW ? INT64_MAX : 40;
    sample.n_value = fault == FEW_VALUES ? 1 : 2;
}

START_TEST(test_damage_is_refused)
{
    fill_profile();
    damage((enum fault)_i);
    ck_assert_int_eq(read_profile(), RECORDING_E_FORMAT);
    ck_assert_int_ne(err.message[0], '\0');
}
END_TEST

START_TEST(test_memory_is_bounded)
{
    fill_profile();
    limits.max_memory = 100;
    ck_assert_int_eq(read_profile(), RECORDING_E_LIMIT);
}
END_TEST

/* Few bytes make many frames: each location of the sample has many inlined lines. */
START_TEST(test_a_sample_too_deep_is_refused)
{
    enum { LINES = 256 };
    static Hotstack__Pprof__Line *lines[LINES];
    static uint64_t ids[IMPORT_MAX_FRAMES / LINES + 1];
    fill_profile();
    for (size_t i = 0; i < LINES; i++)
        lines[i] = &line;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        ids[i] = location.id;
    location.line = lines, location.n_line = LINES;
    sample.location_id = ids, sample.n_location_id = IMPORT_MAX_FRAMES / LINES;
    ck_assert_msg(read_profile() == 0, "%s", err.message);
    sample.n_location_id++;
    ck_assert_int_eq(read_profile(), RECORDING_E_LIMIT);
    ck_assert_str_eq(err.message, "sample 0 has more than 65536 frames");
}
END_TEST

static size_t gzip(uint8_t *out, size_t room, void *data, size_t size)
{
    z_stream zip = {
        .next_in = data, .avail_in = (uInt)size, .next_out = out, .avail_out = (uInt)room};
    ck_assert_int_eq(deflateInit2(&zip, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&zip, Z_FINISH), Z_STREAM_END);
    size_t packed = room - zip.avail_out;
    (void)deflateEnd(&zip);
    return packed;
}

START_TEST(test_unpacking_is_bounded)
{
    static uint8_t zeros[1 << 20];
    static uint8_t packed[4096];
    size_t size = gzip(packed, sizeof(packed), zeros, sizeof(zeros));
    open_recording();
    limits.max_unpacked_bytes = sizeof(zeros) - 1;
    ck_assert_int_eq(import_pprof(rec, packed, size, &limits, NULL, &err), RECORDING_E_LIMIT);
    limits.max_unpacked_bytes = sizeof(zeros);
    ck_assert_int_eq(import_pprof(rec, packed, size, &limits, NULL, &err), RECORDING_E_FORMAT);
    ck_assert_int_eq(import_pprof(rec, packed, size - 9, &limits, NULL, &err), RECORDING_E_FORMAT);
    ck_assert_uint_gt(err.offset, 0);
}
END_TEST

START_TEST(test_kinds_of_inputs)
{
    static uint8_t packed[256];
    char jfr[] = "FLR\0rest";
    char text[] = "a;b 5\n";
    static char long_text[IMPORT_SNIFF];
    char message[] = "\n\4\b\1\20\2";
    ck_assert_int_eq(import_kind_of(jfr, 8), IMPORT_JFR);
    ck_assert_int_eq(import_kind_of(jfr, 2), IMPORT_JFR);
    ck_assert_int_eq(import_kind_of("", 0), IMPORT_JFR);
    ck_assert_int_eq(import_kind_of(text, strlen(text)), IMPORT_COLLAPSED);
    ck_assert_int_eq(import_kind_of("<init> 5\n", 9), IMPORT_COLLAPSED);
    ck_assert_int_eq(import_kind_of("[main tid=7];a 5\n", 17), IMPORT_COLLAPSED);
    ck_assert_int_eq(import_kind_of("\r\na;b 5\r\n", 9), IMPORT_COLLAPSED);
    ck_assert_int_eq(import_kind_of("public class Shop {\n}\n", 22), IMPORT_TEXT);
    ck_assert_int_eq(import_kind_of("12\na;b 5\n", 9), IMPORT_TEXT);
    ck_assert_int_eq(import_kind_of("words", 5), IMPORT_TEXT);
    memset(long_text, 'a', sizeof(long_text)); /* its end is not found */
    ck_assert_int_eq(import_kind_of(long_text, sizeof(long_text)), IMPORT_COLLAPSED);
    ck_assert_int_eq(import_kind_of("<!doctype html>", 15), IMPORT_DOCUMENT);
    ck_assert_int_eq(import_kind_of("\n {\"version\": 1}", 16), IMPORT_DOCUMENT);
    ck_assert_int_eq(import_kind_of(message, sizeof(message) - 1), IMPORT_PPROF);
    ck_assert_int_eq(import_kind_of(packed, gzip(packed, sizeof(packed), jfr, 8)), IMPORT_JFR);
    ck_assert_int_eq(import_kind_of(packed, gzip(packed, sizeof(packed), message, 6)),
                     IMPORT_PPROF);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("import");
    TCase *tcase = tcase_create("import");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, test_lines_add_up);
    tcase_add_loop_test(tcase, test_a_bad_line_is_named, 0, sizeof(refused) / sizeof(refused[0]));
    tcase_add_test(tcase, test_collapsed_wants_a_type);
    tcase_add_test(tcase, test_the_deepest_stack_is_taken_and_a_deeper_one_refused);
    tcase_add_test(tcase, test_a_thread_in_front);
    tcase_add_test(tcase, test_odd_threads_in_front);
    tcase_add_test(tcase, test_words_for_nothing_come_back_as_nothing);
    tcase_add_test(tcase, test_caps_keep_totals);
    tcase_add_loop_test(tcase, test_frames_are_told_apart, 0, sizeof(frames) / sizeof(frames[0]));
    tcase_add_test(tcase, test_a_profile_is_read);
    tcase_add_test(tcase, test_foreign_types_are_named);
    tcase_add_loop_test(tcase, test_damage_is_refused, 0, FAULTS);
    tcase_add_test(tcase, test_memory_is_bounded);
    tcase_add_test(tcase, test_a_sample_too_deep_is_refused);
    tcase_add_test(tcase, test_unpacking_is_bounded);
    tcase_add_test(tcase, test_kinds_of_inputs);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
