/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over every file of the directories named on the command line. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

#define FILE_MAX ((size_t)1 << 20)

static int run_file(const char *path)
{
    static uint8_t bytes[FILE_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)fprintf(stderr, "cannot read %s\n", path);
        return 1;
    }
    size_t n = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    uint8_t *exact = malloc(n == 0 ? 1 : n); /* so that ASan and valgrind report a read beyond */
    if (exact == NULL)
        return 1;
    memcpy(exact, bytes, n);
    (void)LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    return 0;
}

static int run_directory(const char *path, int *count)
{
    char name[4096];
    int failed = 0;
    const struct dirent *entry;
    DIR *dir = opendir(path);
    if (dir == NULL) {
        (void)fprintf(stderr, "cannot open the corpus %s\n", path);
        return 1;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        failed |= run_file(name);
        (*count)++;
    }
    (void)closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0, count = 0;
    for (int i = 1; i < argc; i++)
        failed |= run_directory(argv[i], &count);
    if (count == 0)
        (void)fprintf(stderr, "the corpus is empty\n");
    return failed != 0 || count == 0;
}
