/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of one call: the library's own, the transport's, the call's; later ones win. */
#ifndef CHSINK_SRC_SETTINGS_H
#define CHSINK_SRC_SETTINGS_H

#include <chsink/transport.h>

#include "chsink_impl.h"

/* Names and values are borrowed but for those of owned transports (chs__settings_own). */
typedef struct chs__settings {
    chs_setting *list;
    size_t count;
} chs__settings;

/* Sets one; replaces a setting of the same name. 0 or CHS_ERR_NO_MEMORY. */
int chs__settings_set(chs__settings *settings, const char *name, const char *value, chs_error *err);

/* Sets several. */
int chs__settings_add(chs__settings *settings, const chs_setting *list, size_t count,
                      chs_error *err);

/* NULL when it is not set. */
const char *chs__settings_get(const chs__settings *settings, const char *name);

void chs__settings_free(chs__settings *settings);

/* Copies of names and values, checked; frees with chs__settings_disown. */
int chs__settings_own(chs__settings *out, const chs_setting *list, size_t count, chs_error *err);
void chs__settings_disown(chs__settings *settings);

#endif
