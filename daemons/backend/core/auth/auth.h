/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/auth/auth.h: finds the caller by a token, by a session, or by the one-time code.
 *
 * The tokens may be replaced while calls run. A removed token and its sessions are refused from
 * then on; calls that were already admitted are completed. Thread rule: any thread; a lock guards
 * the state. Nothing here blocks.
 */
#ifndef BACKEND_AUTH_H
#define BACKEND_AUTH_H

#include "admission.h"
#include "sessions.h"

enum {
    AUTH_TOKEN_MIN = 16, /* characters of a token or code */
    AUTH_TOKEN_MAX = 512,
    AUTH_CODE_SECONDS = 600,
    /* Failures of one address within the window below, after which it must wait. */
    AUTH_FAILURES = 10,
    AUTH_FAILURE_WINDOW_SECONDS = 60
};

typedef struct auth auth;

typedef struct auth_options {
    principals *tokens;              /* the object holds a reference */
    const char *one_time_code;       /* NULL: none */
    uint64_t (*now_ms)(void *clock); /* Unix time */
    void *clock;
} auth_options;

/* Returns NULL when there is no memory or randomness. */
auth *auth_new(const auth_options *options);
void auth_free(auth *a);

/* Puts other tokens in force; the object holds a reference. */
void auth_replace(auth *a, principals *tokens);

/* Returns how many tokens are in force. */
size_t auth_tokens(auth *a);

/* The tokens as an authenticator; its self is an auth. */
extern const authenticator_ops auth_authenticator;

/*
 * Returns the principal of a session, held, or NULL. renewed: SESSION_CHARS + 1 bytes, filled with
 * the text that replaces the session, or "".
 */
const principal *auth_by_session(auth *a, const char *session, char *renewed);

typedef enum login {
    LOGIN_OK,
    LOGIN_WRONG,
    LOGIN_LIMITED /* too many failures from this address */
} login;

/*
 * Opens a session. token, code: one of them, the other NULL. peer: the client's address. session:
 * SESSION_CHARS + 1 bytes, filled on LOGIN_OK. Only users may log in. A session opened with the
 * code is valid in this replica only.
 */
login auth_login(auth *a, const char *token, const char *code, const char *peer, char *session);

/* Ends a session; does nothing when there is none. */
void auth_logout(auth *a, const char *session);

#endif
