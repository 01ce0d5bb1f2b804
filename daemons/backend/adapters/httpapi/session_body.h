/* SPDX-License-Identifier: Apache-2.0 */
/* adapters/httpapi/session_body.h: reads the JSON of POST /v1/session. */
#ifndef BACKEND_SESSION_BODY_H
#define BACKEND_SESSION_BODY_H

#include <stddef.h>

#include "auth/auth.h"

/* One of the two is set, the other is "". */
typedef struct session_body {
    char token[AUTH_TOKEN_MAX + 1];
    char code[AUTH_TOKEN_MAX + 1];
} session_body;

/* Reads {"token": "..."} or {"code": "..."}, and accepts nothing else. Returns 0, or -1. */
int session_body_parse(session_body *out, const char *data, size_t length);

#endif
