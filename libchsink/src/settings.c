/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "settings_impl.h"
#include "sql_impl.h"

static chs_setting *find(const chs__settings *settings, const char *name)
{
    size_t i;

    for (i = 0; i < settings->count; i++)
        if (strcmp(settings->list[i].name, name) == 0)
            return &settings->list[i];
    return NULL;
}

static int append(chs__settings *settings, const char *name, const char *value, chs_error *err)
{
    chs_setting *list = realloc(settings->list, (settings->count + 1) * sizeof *list);

    if (!list)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for the setting %s", name);
    list[settings->count].name = name;
    list[settings->count].value = value;
    settings->list = list;
    settings->count++;
    return 0;
}

int chs__settings_set(chs__settings *settings, const char *name, const char *value, chs_error *err)
{
    chs_setting *setting = find(settings, name);

    if (!setting)
        return append(settings, name, value, err);
    setting->value = value;
    return 0;
}

int chs__settings_add(chs__settings *settings, const chs_setting *list, size_t count,
                      chs_error *err)
{
    size_t i;

    for (i = 0; i < count; i++) {
        int rc = chs__settings_set(settings, list[i].name, list[i].value, err);

        if (rc)
            return rc;
    }
    return 0;
}

const char *chs__settings_get(const chs__settings *settings, const char *name)
{
    const chs_setting *setting = find(settings, name);

    return setting ? setting->value : NULL;
}

void chs__settings_free(chs__settings *settings)
{
    free(settings->list);
    memset(settings, 0, sizeof *settings);
}

static int own_one(chs__settings *out, const chs_setting *setting, chs_error *err)
{
    char *name, *value;

    if (find(out, setting->name))
        return CHS__FAIL(err, CHS_ERR_USAGE, "Setting %s is given twice", setting->name);
    name = strdup(setting->name);
    value = strdup(setting->value);
    if (name && value && append(out, name, value, err) == 0)
        return 0;
    free(name);
    free(value);
    return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for the settings of a transport");
}

int chs__settings_own(chs__settings *out, const chs_setting *list, size_t count, chs_error *err)
{
    int rc = chs__check_settings(list, count, err);
    size_t i;

    memset(out, 0, sizeof *out);
    for (i = 0; i < count && !rc; i++)
        rc = own_one(out, &list[i], err);
    if (rc)
        chs__settings_disown(out);
    return rc;
}

void chs__settings_disown(chs__settings *settings)
{
    size_t i;

    for (i = 0; i < settings->count; i++) {
        free((void *)(uintptr_t)settings->list[i].name);
        free((void *)(uintptr_t)settings->list[i].value);
    }
    chs__settings_free(settings);
}
