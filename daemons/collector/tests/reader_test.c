/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the conversion of recordings into profiles. */
#include "../adapters/reader.h"
#include "collector_tests.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const event_intervals cpu_only = {{[EVENT_CPU] = 50000000}};

static int read_file(reader *self, const char *path, void **memory, profile *out, char *message,
                     size_t size)
{
    const window_span span = {.start_ms = NOON, .length_ms = 10000};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    int rc =
        reader_parse(self, memory, fd, (uint64_t)st.st_size, &span, &cpu_only, out, message, size);
    close(fd);
    return rc;
}

/* One chunk with samples of several types. */
static int read_example(reader *self, profile *out, char *message, size_t size)
{
    void *memory = NULL;
    int rc =
        read_file(self, DATA_DIR "/async-profiler-4.5-jdk17.jfr.gz", &memory, out, message, size);
    reader_forget(self, memory);
    return rc;
}

/* At the end of the program there is no time for windows that are not being read yet. */
START_TEST(reading_stops_when_it_is_told)
{
    char message[200] = "";
    atomic_bool stop = false;
    reader self = {.keep_dir = "", .stop = &stop};
    profile found = {0};
    ck_assert_msg(read_example(&self, &found, message, sizeof(message)) == 0, "%s", message);
    ck_assert_uint_gt(found.row_count, 0);
    profile_clear(&found);
    atomic_store(&stop, true);
    ck_assert_int_eq(read_example(&self, &found, message, sizeof(message)), -1);
    ck_assert_ptr_nonnull(strstr(message, "stopped"));
    ck_assert_uint_eq(found.row_count, 0);
    profile_clear(&found);
}
END_TEST

/* Sums all events, and those in [dropped], by source. */
static void add_up(const profile *found, profile_sum *all, profile_sum *dropped)
{
    for (size_t i = 0; i < found->row_count; i++) {
        const profile_row *row = &found->rows[i];
        uint32_t source = found->parts[row->part].source;
        profile_sum_add(&all[source], &row->sum);
        if (row->stack == 0)
            profile_sum_add(&dropped[source], &row->sum);
    }
}

/* Events over the limit stay in the totals. */
START_TEST(events_past_the_cap_are_summed_as_dropped)
{
    char message[200] = "";
    profile_sum all[2][PROFILE_SOURCE_END] = {0}, dropped[2][PROFILE_SOURCE_END] = {0};
    uint64_t told = 0;
    for (int i = 0; i < 2; i++) {
        reader self = {.keep_dir = "", .max_events = i == 0 ? 0 : 100};
        profile found = {0};
        ck_assert_msg(read_example(&self, &found, message, sizeof(message)) == 0, "%s", message);
        ck_assert_int_eq(found.excess_events > 0, i == 1);
        add_up(&found, all[i], dropped[i]);
        for (size_t k = 0; k < found.part_count; k++)
            told += found.parts[k].dropped_amount;
        profile_clear(&found);
    }
    ck_assert_mem_eq(all[0], all[1], sizeof(all[0]));
    uint64_t amount = 0, without_cap = 0;
    for (uint32_t source = 0; source < PROFILE_SOURCE_END; source++) {
        amount += dropped[1][source].raw_amount;
        without_cap += dropped[0][source].raw_amount;
    }
    ck_assert_uint_eq(without_cap, 0);
    ck_assert_uint_gt(amount, 0);
    ck_assert_uint_eq(told, amount);
}
END_TEST

/* A log line for each window would drown the others. */
START_TEST(samples_in_no_profile_are_counted_and_named_once)
{
    char message[200] = "";
    reader self = {.keep_dir = ""};
    void *memory = NULL;
    for (int i = 0; i < 2; i++) {
        profile found = {0};
        ck_assert_int_eq(read_file(&self, DATA_DIR "/../../../libjfr/tests/data/ok/datadog.jfr",
                                   &memory, &found, message, sizeof(message)),
                         0);
        ck_assert_uint_eq(found.uncounted_events, 4);
        if (i == 0)
            ck_assert_mem_eq(found.uncounted, "4 events of datadog.StrangeSample", 33);
        else
            ck_assert_str_eq(found.uncounted, "");
        profile_clear(&found);
    }
    reader_forget(&self, memory);
}
END_TEST

/* They would make the profile wrong, so that they are no loss. */
START_TEST(samples_left_out_by_design_are_named_once)
{
    char message[200] = "";
    reader self = {.keep_dir = ""};
    void *memory = NULL;
    for (int i = 0; i < 2; i++) {
        profile found = {0};
        ck_assert_int_eq(read_file(&self, DATA_DIR "/jdk25-all.jfr.gz", &memory, &found, message,
                                   sizeof(message)),
                         0);
        ck_assert_uint_eq(found.uncounted_events, 0);
        ck_assert_int_eq(strstr(found.uncounted,
                                "not counted by design: 186 jdk.ThreadPark (idle waits)") != NULL,
                         i == 0);
        ck_assert_int_eq(found.uncounted[0] != '\0', i == 0);
        profile_clear(&found);
    }
    reader_forget(&self, memory);
}
END_TEST

TCase *reader_tests(void)
{
    TCase *tests = tcase_create("reader");
    tcase_add_test(tests, reading_stops_when_it_is_told);
    tcase_add_test(tests, events_past_the_cap_are_summed_as_dropped);
    tcase_add_test(tests, samples_in_no_profile_are_counted_and_named_once);
    tcase_add_test(tests, samples_left_out_by_design_are_named_once);
    return tests;
}
