/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/auth/sessions.h: browser sessions that need no state in a replica.
 *
 * A session is a text that the browser holds in a cookie: when it began, when it ends, a random id,
 * and an HMAC-SHA256 of these with the token of its principal as the key. Every replica that has
 * the token can verify and renew it. When a token is removed, its sessions end everywhere at once.
 * A session ends 15 minutes after its last renewal and 12 hours after it began.
 *
 * The replica that receives a logout remembers it until no text of the session could be valid any
 * more; other replicas accept the text until it ends. Thread rule: any thread.
 */
#ifndef BACKEND_SESSIONS_H
#define BACKEND_SESSIONS_H

#include <pthread.h>

#include "principals.h"

enum {
    SESSION_CHARS = 128, /* of the text: two times, an id, a MAC */
    SESSION_SECONDS = 15 * 60,
    SESSION_RENEW_SECONDS = 5 * 60, /* the age at which a call renews it */
    SESSION_MOST_SECONDS = 12 * 3600,
    SESSION_REVOKED_MAX = 1024
};

/* The content of a session's text, after the MAC was verified. */
typedef struct session_claims {
    uint64_t began_ms, ends_ms, id[2];
} session_claims;

/* Sessions that were ended early. */
typedef struct revoked_sessions {
    pthread_mutex_t lock;
    size_t count;
    session_claims all[SESSION_REVOKED_MAX]; /* ends_ms: until then it must be remembered */
    uint64_t ended_ms; /* sessions that began before are refused, because some revoked ones were
                          forgotten */
} revoked_sessions;

void revoked_init(revoked_sessions *r);
void revoked_destroy(revoked_sessions *r);

/* Writes the text of a new session; SESSION_CHARS + 1 bytes. Returns false without randomness. */
bool session_begin(char *out, const principal *who, uint64_t now_ms);

/* Reads a text; false unless it was signed for `who` and has not ended. */
bool session_read(session_claims *out, const char *sealed, const principal *who, uint64_t now_ms);

/* Writes the text of the same session with a later end; returns false if that is not needed or not
 * allowed. */
bool session_renew(char *out, const session_claims *from, const principal *who, uint64_t now_ms);

void session_revoke(revoked_sessions *r, const session_claims *ended, uint64_t now_ms);
bool session_is_revoked(revoked_sessions *r, const session_claims *asked);

#endif
