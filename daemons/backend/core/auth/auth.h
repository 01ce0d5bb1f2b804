/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/auth/auth.h: who is asking: by a token, by a session, or by the one-time code.
 *
 * The tokens may be replaced while calls run. What a removed token gave is refused from then on,
 * its sessions too; calls that were admitted before end as they began. Thread rule: any thread; the
 * state inside is locked. Nothing here blocks.
 */
#ifndef BACKEND_AUTH_H
#define BACKEND_AUTH_H

#include "admission.h"
#include "sessions.h"

enum {
    AUTH_TOKEN_MIN = 16, /* characters of a token or code */
    AUTH_TOKEN_MAX = 512,
    AUTH_CODE_SECONDS = 600,
    AUTH_FAILURES = 10, /* of one address within the window below, then it waits */
    AUTH_FAILURE_WINDOW_SECONDS = 60
};

typedef struct auth auth;

typedef struct auth_options {
    principals *tokens;              /* held by the object */
    const char *one_time_code;       /* NULL: none */
    uint64_t (*now_ms)(void *clock); /* Unix time */
    void *clock;
} auth_options;

/* NULL when there is no memory or randomness. */
auth *auth_new(const auth_options *options);
void auth_free(auth *a);

/* From now on these tokens are in force; held by the object. */
void auth_replace(auth *a, principals *tokens);

/* How many tokens are in force. */
size_t auth_tokens(auth *a);

/* The tokens as an authenticator; its self is an auth. */
extern const authenticator_ops auth_authenticator;

/*
 * The principal of a session, held, or NULL. renewed: SESSION_CHARS + 1 bytes, filled with the text
 * that takes the session's place, or "".
 */
const principal *auth_by_session(auth *a, const char *session, char *renewed);

typedef enum login {
    LOGIN_OK,
    LOGIN_WRONG,
    LOGIN_LIMITED /* too many failures from this address */
} login;

/*
 * Opens a session. token, code: one of them, the other NULL. peer: the client's address.
 * session: SESSION_CHARS + 1 bytes, filled on LOGIN_OK. Only users may log in. A session that was
 * opened by the code is for this replica alone.
 */
login auth_login(auth *a, const char *token, const char *code, const char *peer, char *session);

/* Ends a session; nothing happens when there is none. */
void auth_logout(auth *a, const char *session);

#endif
