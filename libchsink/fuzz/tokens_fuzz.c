/* SPDX-License-Identifier: Apache-2.0 */
/* Settles deduplication logs. For any content, whole records stay unchanged, all records added
 * withdraw one of them, and a second run changes nothing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "embedded/tokens_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOG_BYTES = 1 << 21 };

static char root[] = "/tmp/hotstack-tokens-fuzz-XXXXXX";

static const char *in_root(const char *name)
{
    static char path[256];

    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void remove_root(void)
{
    char command[128];

    (void)snprintf(command, sizeof command, "rm -r '%s'", root);
    if (system(command) != 0)
        perror(command);
}

/* Makes the directory of a killed engine, with one table that has one part. */
static void make_store(void)
{
    static const char *const directories[] = {
        "store", "store/a", "store/a/b", "store/a/b/all_1_5_1", "store/a/b/deduplication_logs"};
    FILE *status;
    size_t i;

    if (!mkdtemp(root))
        abort();
    (void)atexit(remove_root);
    for (i = 0; i < sizeof directories / sizeof *directories; i++)
        if (mkdir(in_root(directories[i]), 0700) != 0)
            abort();
    status = fopen(in_root("status"), "w");
    if (!status || fclose(status) != 0)
        abort();
}

static const char *log_path(void)
{
    return in_root("store/a/b/deduplication_logs/deduplication_log_1.txt");
}

static size_t settle(uint8_t *after)
{
    chs_error err;
    size_t size;
    FILE *log;

    if (chs__tokens_settle(root, &err) != 0)
        abort();
    log = fopen(log_path(), "rb");
    if (!log)
        abort();
    size = fread(after, 1, LOG_BYTES, log);
    (void)fclose(log);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t after[LOG_BYTES], again[LOG_BYTES];
    static bool made;
    const uint8_t *end = size ? memrchr(data, '\n', size) : NULL;
    size_t whole = end ? (size_t)(end - data) + 1 : 0;
    size_t length, i;
    FILE *log;

    if (!made)
        make_store();
    made = true;
    log = fopen(log_path(), "wb");
    if (!log || fwrite(data, 1, size, log) != size || fclose(log) != 0)
        abort();
    length = settle(after);
    if (length < whole || memcmp(after, data, whole) != 0)
        abort();
    for (i = whole; end && i < length; i++)
        if ((i == whole || after[i - 1] == '\n') && after[i] != '2')
            abort();
    if (settle(again) != length || memcmp(again, after, length) != 0)
        abort();
    return 0;
}
