/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/auth.h: who is asking, and what may they see.
 *
 * Tokens are compared in time that does not depend on where they differ, and all of them always.
 * Several may stand for one name: the old and the new one while it is rotated. Sessions are random
 * ids that the browser holds in a cookie; a one-time code opens one session and is gone.
 * Thread rule: any thread; the state inside is locked. Nothing here blocks.
 */
#ifndef BACKEND_AUTH_H
#define BACKEND_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store.h"

typedef enum role {
    ROLE_COLLECTOR, /* may ingest */
    ROLE_USER       /* may query */
} role;

/* A token and what it allows. Everything is borrowed for the life of the auth object. */
typedef struct principal {
    const char *name;
    role role;
    const char *token; /* NULL: only sessions made from a code have it */
    scope scope;
} principal;

enum {
    AUTH_TOKEN_MIN = 16, /* characters of a token or code */
    AUTH_TOKEN_MAX = 512,
    AUTH_SESSION_CHARS = 64,
    AUTH_SESSIONS = 256,
    AUTH_SESSION_SECONDS = 12 * 3600,
    AUTH_CODE_SECONDS = 600,
    AUTH_FAILURES = 10, /* of one address within the window below, then it waits */
    AUTH_FAILURE_WINDOW_SECONDS = 60
};

typedef struct auth auth;

typedef struct auth_options {
    const principal *principals;
    size_t count;
    const char *one_time_code;       /* NULL: none */
    uint64_t (*now_ms)(void *clock); /* Unix time */
    void *clock;
} auth_options;

/* NULL when there is no memory or randomness. */
auth *auth_new(const auth_options *options);
void auth_free(auth *a);

/* The principal of a token, or NULL. */
const principal *auth_by_token(auth *a, const char *token, size_t length);

/* The principal of a session, or NULL; *expires_ms (may be NULL) is when it ends. */
const principal *auth_by_session(auth *a, const char *session, uint64_t *expires_ms);

typedef enum login {
    LOGIN_OK,
    LOGIN_WRONG,
    LOGIN_LIMITED /* too many failures from this address */
} login;

/*
 * Opens a session. token, code: one of them, the other NULL. peer: the client's address.
 * session: AUTH_SESSION_CHARS + 1 bytes, filled on LOGIN_OK. Only users may log in.
 */
login auth_login(auth *a, const char *token, const char *code, const char *peer, char *session);

/* Ends a session; nothing happens when there is none. */
void auth_logout(auth *a, const char *session);

#endif
