/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings into profiles. */
#include "../adapters/reader.h"
#include "collector_tests.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const event_intervals cpu_only = {{[EVENT_CPU] = 50000000}};

/* One chunk with samples of several types. */
static int read_example(reader *self, profile *out, char *message, size_t size)
{
    const window_span span = {.start_ms = NOON, .length_ms = 10000};
    struct stat st;
    void *memory = NULL;
    int fd = open(DATA_DIR "/async-profiler-4.5-jdk17.jfr.gz", O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    int rc =
        reader_parse(self, &memory, fd, (uint64_t)st.st_size, &span, &cpu_only, out, message, size);
    reader_forget(self, memory);
    close(fd);
    return rc;
}

/* The end of the program has no time for windows that nobody has begun to read. */
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

TCase *reader_tests(void)
{
    TCase *tests = tcase_create("reader");
    tcase_add_test(tests, reading_stops_when_it_is_told);
    return tests;
}
