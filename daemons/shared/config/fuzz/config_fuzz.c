/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any bytes as a configuration: the result is an error or settings, never a crash. */
#include <config/config.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const config_field rule_fields[] = {
    {.key = "name", .type = CONFIG_STRING, .flags = CONFIG_REQUIRED, .help = "Name."},
    {.key = "tags", .type = CONFIG_LIST, .help = "Words."},
};

static const config_field fields[] = {
    {.key = "a.text", .type = CONFIG_STRING, .help = "Text."},
    {.key = "a.secret", .type = CONFIG_STRING, .flags = CONFIG_SECRET, .help = "Secret."},
    {.key = "a.time", .type = CONFIG_DURATION, .fallback = "10s", .max = 60000, .help = "Time."},
    {.key = "a.size", .type = CONFIG_BYTES, .fallback = "1m", .help = "Size."},
    {.key = "count", .type = CONFIG_INT, .help = "Count."},
    {.key = "on", .type = CONFIG_BOOL, .help = "On."},
    {.key = "tags", .type = CONFIG_LIST, .help = "Words."},
    {.key = "rules", .type = CONFIG_RULES, .items = rule_fields, .item_count = 2, .help = "Rules."},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const config_program program = {
        .name = "fuzz", .fields = fields, .count = sizeof(fields) / sizeof(fields[0])};
    config *settings = NULL;
    config_error err;
    if (config_load_text(&settings, &program, "fuzz", (const char *)data, size, &err) == 0)
        config_free(settings);
    return 0;
}
