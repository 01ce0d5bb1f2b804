/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each recording of tests/data comes to what data/README.md says of it, from memory and as a stream
 * cut into any pieces. The README is the table: a row is "| `ok/name` | verdict | walked | what |",
 * where the second verdict is with JFR_WALK_UNFINISHED, "same" when it is the first.
 *
 * usage: jfr_fixtures_test DIR   prints TAP
 *        jfr_fixtures_test --verdict FILE...   prints the two verdicts of files, to write the table
 */
#include "../fuzz/verdict.h"

#include <errno.h>
#include <jfr/options.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *bytes;
static size_t len;

/* Reads a file into an allocation of exactly its size: a sanitizer sees any read beyond. */
static bool load(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL || fseek(in, 0, SEEK_END) != 0)
        return false;
    len = (size_t)ftell(in);
    rewind(in);
    free(bytes);
    bytes = malloc(len > 0 ? len : 1);
    bool read = bytes != NULL && fread(bytes, 1, len, in) == len;
    fclose(in);
    return read;
}

static bool agrees(const char *expected, uint32_t flags)
{
    static const size_t pieces[] = {1, 13, 4096};
    verdict file;
    verdict stream;
    verdict_of_file(&file, bytes, len, flags);
    bool same = strcmp(file.text, expected) == 0;
    if (!same)
        printf("# expected: %s\n# file:     %s\n", expected, file.text);
    for (int i = 0; i < 3; i++) {
        verdict_of_stream(&stream, bytes, len, flags, pieces[i]);
        if (strncmp(expected, "JFR_ERR", 7) == 0 && len < 68)
            continue; /* a stream waits for the rest of a header, a file has none */
        if (strcmp(stream.text, file.text) == 0 && stream.digest == file.digest)
            continue;
        printf("# stream in pieces of %zu: %s\n", pieces[i], stream.text);
        same = false;
    }
    return same;
}

/* Cuts the next cell out of a row; NULL at its end. */
static char *cell(char **row)
{
    char *begin = *row + strspn(*row, "| `");
    char *end = strchr(begin, '|');
    if (end == NULL)
        return NULL;
    *row = end + 1;
    while (end > begin && (end[-1] == ' ' || end[-1] == '`'))
        end--;
    *end = '\0';
    return begin;
}

static bool check_row(const char *dir, const char *name, char *row)
{
    char path[4096];
    const char *read = cell(&row);
    const char *walked = read != NULL ? cell(&row) : NULL;
    snprintf(path, sizeof(path), "%s/%s.jfr", dir, name);
    if (walked == NULL || !load(path)) {
        printf("# no such file, or no two verdicts in its row\n");
        return false;
    }
    bool good = agrees(read, 0);
    return agrees(strcmp(walked, "same") == 0 ? read : walked, JFR_WALK_UNFINISHED) && good;
}

static int check_table(const char *dir)
{
    char path[4096];
    char line[1000];
    int number = 0;
    int failed = 0;
    snprintf(path, sizeof(path), "%s/README.md", dir);
    FILE *table = fopen(path, "r");
    if (table == NULL) {
        perror(path);
        return EXIT_FAILURE;
    }
    while (fgets(line, sizeof(line), table) != NULL) {
        char *row = line;
        if (strncmp(line, "| `", 3) != 0)
            continue;
        const char *name = cell(&row);
        bool good = check_row(dir, name, row);
        printf("%s %d - %s\n", good ? "ok" : "not ok", ++number, name);
        failed += !good;
    }
    fclose(table);
    printf("1..%d\n", number);
    return failed == 0 && number > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int print_verdicts(char **paths)
{
    for (; *paths != NULL; paths++) {
        verdict read;
        verdict walked;
        if (!load(*paths)) {
            fprintf(stderr, "%s: %s\n", *paths, strerror(errno));
            return EXIT_FAILURE;
        }
        verdict_of_file(&read, bytes, len, 0);
        verdict_of_file(&walked, bytes, len, JFR_WALK_UNFINISHED);
        printf("%s | %s | %s\n", *paths, read.text,
               strcmp(read.text, walked.text) == 0 ? "same" : walked.text);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    int rc = EXIT_FAILURE;
    if (argc > 2 && strcmp(argv[1], "--verdict") == 0)
        rc = print_verdicts(argv + 2);
    else if (argc == 2)
        rc = check_table(argv[1]);
    free(bytes);
    return rc;
}
