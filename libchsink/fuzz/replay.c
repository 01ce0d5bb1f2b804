/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the files of a directory, as an ordinary test. Usage: replay DIRECTORY */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_BYTES = 1 << 20 };

static int replay(const char *directory, const char *name)
{
    static uint8_t input[INPUT_BYTES];
    char path[4096];
    size_t size;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return -1;
    }
    size = fread(input, 1, sizeof input, file);
    (void)fclose(file);
    return LLVMFuzzerTestOneInput(input, size);
}

int main(int argc, char **argv)
{
    DIR *inputs = argc == 2 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    int count = 0, failed = 0;

    if (!inputs) {
        (void)fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(inputs)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        failed |= replay(argv[1], entry->d_name);
        (void)printf("%sok %d - %s\n", failed ? "not " : "", ++count, entry->d_name);
    }
    (void)closedir(inputs);
    (void)printf("1..%d\n", count);
    return failed || !count ? EXIT_FAILURE : EXIT_SUCCESS;
}
