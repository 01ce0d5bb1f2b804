/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the recordings of tests/data: odd but right ones (ok), unreadable ones (bad), and damaged
 * ones of which something is left (maybe). data/README.md says what each must come to.
 *
 * usage: jfr_fixtures DIR
 */
#include "fixtures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

writer w;
chunk_params params;

void begin(void)
{
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
}

void end(void)
{
    put_standard_pools(&w);
    end_chunk(&w, &params);
}

void simple(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    end();
}

void patch(size_t at, const char *bytes, size_t len)
{
    memcpy(w.data + at, bytes, len);
}

static void save(const char *dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.jfr", dir, name);
    FILE *out = fopen(path, "wb");
    if (out == NULL || (w.len > 0 && fwrite(w.data, 1, w.len, out) != w.len) || fclose(out) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"", "/ok", "/bad", "/maybe"};
    static const fixture *const tables[] = {ok_fixtures, bad_fixtures, maybe_fixtures};
    char path[4096];
    if (argc != 2)
        return EXIT_FAILURE;
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s%s", argv[1], kinds[i]);
        (void)mkdir(path, 0777);
    }
    for (int i = 0; i < 3; i++) {
        for (const fixture *f = tables[i]; f->name != NULL; f++) {
            params = (chunk_params)CHUNK_PARAMS_INIT;
            f->write();
            save(argv[1], f->name);
            writer_free(&w);
        }
    }
    return EXIT_SUCCESS;
}
