/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/payload.h>

#include <string.h>

#include <xxhash.h>

enum { BOOT_ID_BYTES = 36 };

text string_at(const string_columns *table, uint32_t index)
{
    /* A table of empty strings has no data at all. */
    if (table->length.at[index] == 0)
        return (text){"", 0};
    return (text){table->data.data + table->offset[index], table->length.at[index]};
}

static void put_little_endian(unsigned char *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

uint64_t target_id(text boot_id, uint32_t host_pid, uint64_t start_ticks)
{
    unsigned char key[BOOT_ID_BYTES + 4 + 8] = {0};
    size_t length = boot_id.length < BOOT_ID_BYTES ? boot_id.length : BOOT_ID_BYTES;

    memcpy(key, boot_id.data, length);
    put_little_endian(key + BOOT_ID_BYTES, host_pid, 4);
    put_little_endian(key + BOOT_ID_BYTES + 4, start_ticks, 8);
    return XXH3_64bits(key, sizeof(key));
}

uint64_t target_id_at(const target_columns *targets, const string_columns *strings, uint32_t index)
{
    return target_id(string_at(strings, targets->boot_id.at[index]), targets->host_pid.at[index],
                     targets->start_ticks.at[index]);
}
