/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any bytes as a pprof profile: the values that were accepted add up to those of the
 * aggregate. */
#include <stdlib.h>

#include <import/import.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    recording_options options = RECORDING_OPTIONS_INIT;
    import_options limits = IMPORT_OPTIONS_INIT;
    import_report report;
    recording_error err = {0};
    recording *rec;
    options.max_bytes = 4 << 20;
    options.max_stacks = 100;
    limits.max_unpacked_bytes = 1 << 20;
    limits.max_memory = 16 << 20;
    if (recording_new(&rec, &options, NULL) != 0)
        abort();
    int rc = import_pprof(rec, data, size, &limits, &report, &err);
    if (rc != 0 && (err.code != rc || err.message[0] == '\0'))
        abort();
    const sagg *agg = recording_aggregate(rec);
    sagg_totals sums[PROFILE_TYPE_END] = {0};
    sagg_entry entry;
    size_t cursor = 0;
    while (agg != NULL && sagg_next(agg, &cursor, &entry))
        if (__builtin_add_overflow(sums[entry.type].value, entry.totals.value,
                                   &sums[entry.type].value))
            sums[entry.type].value = UINT64_MAX;
    for (unsigned type = 1; agg != NULL && type < PROFILE_TYPE_END; type++)
        if (sums[type].value != sagg_type_totals(agg, type).value)
            abort();
    recording_free(rec);
    return 0;
}
