/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the files of a corpus, as an ordinary test. */
#include "fuzz.h"

static uint8_t buffer[1 << 20];

/* Runs the target on a copy of the exact size, so that sanitisers report a read beyond it. */
static void run_one(size_t size)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    MUST(exact != NULL);
    for (size_t i = 0; i < size; i++)
        exact[i] = buffer[i];
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *from = fopen(argv[i], "rbe");
        if (from == NULL) {
            (void)fprintf(stderr, "cannot read %s\n", argv[i]);
            return EXIT_FAILURE;
        }
        size_t size = fread(buffer, 1, sizeof(buffer), from);
        (void)fclose(from);
        run_one(size);
    }
    return argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
