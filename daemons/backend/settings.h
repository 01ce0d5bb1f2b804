/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h: the table of the backend's settings, and the tokens that they name. */
#ifndef BACKEND_SETTINGS_H
#define BACKEND_SETTINGS_H

#include <config/config.h>

#include "auth/auth.h"

extern const config_program backend_program;

/* host and port of the setting listen; 0, or -1 (err is filled). host: at least 64 bytes. */
int settings_listen(const config_section *values, char *host, uint16_t *port, config_error *err);

/* Who may call, from auth.* and tokens, with one reference; NULL with err filled. The settings need
 * not outlive it. */
principals *settings_tokens(const config_section *values, config_error *err);

/* The one-time code, NULL where none is set. 0, or -1 with err filled. The caller frees *out. */
int settings_code(char **out, const config_section *values, config_error *err);

#endif
