/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/auth/sessions.h: browser sessions that no replica keeps.
 *
 * A session is a text that the browser holds in a cookie: when it began, when it ends, a random id,
 * and a HMAC-SHA256 of these under the token of its principal. Every replica that has the token can
 * verify and renew it, and a token that is removed takes its sessions along, everywhere and at
 * once. A session ends 15 minutes after it was last renewed and 12 hours after it began.
 *
 * A logout is remembered by the replica that was told, until no text of the session could be valid
 * any more; other replicas take the text until it ends.
 * Thread rule: any thread.
 */
#ifndef BACKEND_SESSIONS_H
#define BACKEND_SESSIONS_H

#include <pthread.h>

#include "principals.h"

enum {
    SESSION_CHARS = 128, /* of the text: two times, an id, a MAC */
    SESSION_SECONDS = 15 * 60,
    SESSION_RENEW_SECONDS = 5 * 60, /* its age, from which on it is renewed in use */
    SESSION_MOST_SECONDS = 12 * 3600,
    SESSION_REVOKED_MAX = 1024
};

/* What its text says, once the MAC has been found right. */
typedef struct session_claims {
    uint64_t began_ms, ends_ms, id[2];
} session_claims;

/* Sessions that were ended before their time. */
typedef struct revoked_sessions {
    pthread_mutex_t lock;
    size_t count;
    session_claims all[SESSION_REVOKED_MAX]; /* ends_ms: until it need not be remembered */
    uint64_t ended_ms; /* no session that began before is taken: some of them were forgotten */
} revoked_sessions;

void revoked_init(revoked_sessions *r);
void revoked_destroy(revoked_sessions *r);

/* Writes the text of a new session; SESSION_CHARS + 1 bytes. False: there is no randomness. */
bool session_begin(char *out, const principal *who, uint64_t now_ms);

/* Reads a text that was signed for `who` and has not ended. */
bool session_read(session_claims *out, const char *sealed, const principal *who, uint64_t now_ms);

/* Writes the text of the same session with a later end; false where it need not or must not be. */
bool session_renew(char *out, const session_claims *from, const principal *who, uint64_t now_ms);

void session_revoke(revoked_sessions *r, const session_claims *ended, uint64_t now_ms);
bool session_is_revoked(revoked_sessions *r, const session_claims *asked);

#endif
