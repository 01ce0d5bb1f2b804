/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over the files of directories: the committed corpus as an ordinary test.
 *
 * usage: replay DIR...
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int replay_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    struct stat st;
    if (in == NULL || fstat(fileno(in), &st) < 0)
        return -1;
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size + 1);
    int rc = data != NULL && fread(data, 1, size, in) == size ? 0 : -1;
    fclose(in);
    if (rc == 0)
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    return rc;
}

static int replay_directory(const char *directory, int *files)
{
    DIR *dir = opendir(directory);
    if (dir == NULL)
        return -1;
    int rc = 0;
    const struct dirent *entry;
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        rc = replay_file(path);
        ++*files;
    }
    closedir(dir);
    return rc;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        if (replay_directory(argv[i], &files) < 0) {
            perror(argv[i]);
            return EXIT_FAILURE;
        }
    }
    printf("%d inputs\n", files);
    return files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
