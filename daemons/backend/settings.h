/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h: the table of the backend's settings, and the tokens that they name. */
#ifndef BACKEND_SETTINGS_H
#define BACKEND_SETTINGS_H

#include <config/config.h>

#include "auth.h"

extern const config_program backend_program;

/* host and port of the setting listen; 0, or -1 (err is filled). host: at least 64 bytes. */
int settings_listen(const config_section *values, char *host, uint16_t *port, config_error *err);

/* Who may call, from auth.* and tokens. */
typedef struct settings_tokens {
    principal *principals;
    size_t count;
    char *one_time_code; /* NULL: none */
    const char **lists;  /* owned: what the scopes point into */
} settings_tokens;

/* 0, or -1 with err filled. Free with settings_tokens_free either way; the configuration outlives
 * it. */
int settings_tokens_read(settings_tokens *out, const config_section *values, config_error *err);
void settings_tokens_free(settings_tokens *tokens);

#endif
