/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of one call: the library's own, the transport's, the call's; later ones override. */
#ifndef CHSINK_SRC_SETTINGS_H
#define CHSINK_SRC_SETTINGS_H

#include <chsink/transport.h>

#include "chsink_impl.h"

/* A list of settings. Names and values are borrowed, except in those of chs__settings_own. */
typedef struct chs__settings {
    chs_setting *list;
    size_t count;
} chs__settings;

/* Sets one setting; replaces a setting with the same name. Returns 0 or CHS_ERR_NO_MEMORY. */
int chs__settings_set(chs__settings *settings, const char *name, const char *value, chs_error *err);

/* Sets several settings. */
int chs__settings_add(chs__settings *settings, const chs_setting *list, size_t count,
                      chs_error *err);

/* Returns the value of a setting; NULL when it is not set. */
const char *chs__settings_get(const chs__settings *settings, const char *name);

void chs__settings_free(chs__settings *settings);

/* Copies names and values after checking them; free with chs__settings_disown. */
int chs__settings_own(chs__settings *out, const chs_setting *list, size_t count, chs_error *err);
void chs__settings_disown(chs__settings *settings);

#endif
