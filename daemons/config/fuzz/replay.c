/* Runs the fuzz target over the files of a corpus: an ordinary test. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *from = fopen(argv[i], "rb");
        uint8_t *data = malloc(1024 * 1024);
        if (from == NULL || data == NULL) {
            (void)fprintf(stderr, "cannot read %s\n", argv[i]);
            return EXIT_FAILURE;
        }
        size_t size = fread(data, 1, 1024 * 1024, from);
        (void)fclose(from);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return EXIT_SUCCESS;
}
