/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h: the table of the backend's settings, and functions that read some of them. */
#ifndef BACKEND_SETTINGS_H
#define BACKEND_SETTINGS_H

#include <config/config.h>

#include "auth/auth.h"

extern const config_program backend_program;

/* Gets host and port of the setting listen; returns 0, or -1 (err is filled). host: at least 64
 * bytes. */
int settings_listen(const config_section *values, char *host, uint16_t *port, config_error *err);

/* Makes the set of principals from auth.* and tokens, with one reference; NULL with err filled. It
 * does not refer to the settings. */
principals *settings_tokens(const config_section *values, config_error *err);

/* Gets the one-time code, NULL where none is set. Returns 0, or -1 with err filled. The caller
 * frees *out. */
int settings_code(char **out, const config_section *values, config_error *err);

#endif
