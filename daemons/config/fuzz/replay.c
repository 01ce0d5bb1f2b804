/* Runs the fuzz target over the files of a corpus: an ordinary test. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CORPUS_FILE_MAX = 1 << 20 };

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *from = fopen(argv[i], "rb");
        static uint8_t data[CORPUS_FILE_MAX];
        if (from == NULL) {
            fprintf(stderr, "cannot read %s\n", argv[i]);
            return EXIT_FAILURE;
        }
        size_t size = fread(data, 1, CORPUS_FILE_MAX, from);
        fclose(from);
        LLVMFuzzerTestOneInput(data, size);
    }
    return EXIT_SUCCESS;
}
