/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any bytes as collapsed stacks: an error names a byte of the input; frames are within it. */
#include <stdlib.h>

#include <import/import.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frame(const uint8_t *data, size_t size)
{
    sagg_frame frame;
    import_frame(&frame, (sagg_str){(const char *)data, size});
    if (frame.class_name.size + frame.method.size > size || frame.kind > SAGG_UNKNOWN)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    recording_options options = RECORDING_OPTIONS_INIT;
    import_options limits = IMPORT_OPTIONS_INIT;
    recording_error err = {0};
    recording *rec;
    options.max_bytes = 4 << 20;
    options.max_stacks = 100;
    limits.type = PROFILE_TYPE_CPU;
    check_frame(data, size);
    if (recording_new(&rec, &options, NULL) != 0)
        abort();
    int rc = import_collapsed(rec, data, size, &limits, &err);
    if (rc != 0 && (err.code != rc || err.message[0] == '\0' || err.offset >= size))
        abort();
    (void)import_kind_of(data, size);
    recording_free(rec);
    return 0;
}
