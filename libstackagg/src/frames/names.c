/* SPDX-License-Identifier: Apache-2.0 */
#include "frames/names_impl.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct wanted {
    const sagg__names *names;
    sagg_str text;
};

static bool is_wanted(const void *context, uint32_t value)
{
    const struct wanted *wanted = context;
    return sagg__name_is(wanted->names, value, wanted->text);
}

sagg_str sagg__name_get(const sagg__names *names, uint32_t number)
{
    const sagg__name *name = (const sagg__name *)names->names.items + number;
    return (sagg_str){(const char *)names->bytes.items + name->start, name->size};
}

bool sagg__name_is(const sagg__names *names, uint32_t number, sagg_str text)
{
    const sagg_str name = sagg__name_get(names, number);
    return name.size == text.size &&
           (text.size == 0 || memcmp(name.data, text.data, text.size) == 0);
}

static int append(sagg__mem *mem, sagg__names *names, sagg_str text, uint64_t hash,
                  uint32_t *number)
{
    if (text.size > UINT32_MAX - 1 - names->size || names->count == UINT32_MAX - 1)
        return SAGG_ERR_LIMIT;
    int rc = sagg__index_reserve(mem, &names->index);
    if (rc == 0)
        rc = sagg__extend(mem, &names->names, (size_t)names->count + 1, sizeof(sagg__name));
    if (rc == 0)
        rc = sagg__extend(mem, &names->bytes, (size_t)names->size + text.size, 1);
    if (rc != 0)
        return rc;
    if (text.size > 0)
        memcpy((char *)names->bytes.items + names->size, text.data, text.size);
    ((sagg__name *)names->names.items)[names->count] =
        (sagg__name){names->size, (uint32_t)text.size};
    names->size += (uint32_t)text.size;
    *number = names->count++;
    sagg__index_put(&names->index, hash, *number);
    return 0;
}

int sagg__name_add(sagg__mem *mem, sagg__names *names, sagg_str text, uint32_t *number)
{
    if (text.size == 0 && names->count > 0) {
        *number = 0;
        return 0;
    }
    uint64_t hash = XXH3_64bits(text.data, text.size);
    struct wanted wanted = {names, text};
    if (sagg__index_find(&names->index, hash, is_wanted, &wanted, number))
        return 0;
    return append(mem, names, text, hash, number);
}

int sagg__names_init(sagg__mem *mem, sagg__names *names)
{
    uint32_t number;
    *names = (sagg__names){0};
    int rc = sagg__extend(mem, &names->bytes, 1, 1);
    return rc != 0 ? rc : sagg__name_add(mem, names, (sagg_str){"", 0}, &number);
}

void sagg__names_free(sagg__mem *mem, sagg__names *names)
{
    sagg__array_free(mem, &names->bytes, 1);
    sagg__array_free(mem, &names->names, sizeof(sagg__name));
    sagg__index_free(mem, &names->index);
}

void sagg__names_compact(sagg__names *names, const uint8_t *keep, uint32_t *moved)
{
    sagg__name *all = names->names.items;
    char *bytes = names->bytes.items;
    uint32_t count = 0;
    uint32_t size = 0;
    sagg__index_clear(&names->index);
    for (uint32_t i = 0; i < names->count; i++) {
        if (i > 0 && !keep[i])
            continue;
        memmove(bytes + size, bytes + all[i].start, all[i].size);
        all[count] = (sagg__name){size, all[i].size};
        sagg__index_put(&names->index, XXH3_64bits(bytes + size, all[i].size), count);
        size += all[count].size;
        moved[i] = count++;
    }
    names->count = count;
    names->size = size;
}
