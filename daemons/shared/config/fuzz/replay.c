/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the fuzz target over the files of a corpus: an ordinary test. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *from = fopen(argv[i], "rb");
        if (from == NULL) {
            (void)fprintf(stderr, "cannot read %s\n", argv[i]);
            return EXIT_FAILURE;
        }
        uint8_t *data = malloc(FILE_MAX);
        size_t size = data != NULL ? fread(data, 1, FILE_MAX, from) : 0;
        (void)fclose(from);
        if (data == NULL)
            return EXIT_FAILURE;
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return EXIT_SUCCESS;
}
