/* SPDX-License-Identifier: Apache-2.0 */
#include "auth.h"

#include <base/hex.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

typedef struct session {
    char id[AUTH_SESSION_CHARS + 1]; /* "" = free */
    const principal *who;
    uint64_t expires_ms;
} session;

/* Failed logins of one address. */
typedef struct failures {
    char peer[64]; /* "" = free */
    uint64_t since_ms;
    unsigned count;
} failures;

enum { PEERS = 256 };

struct auth {
    auth_options options;
    principal by_code; /* who a session made from the code is */
    char code[AUTH_TOKEN_MAX + 1];
    uint64_t code_expires_ms;
    pthread_mutex_t lock; /* of all below */
    session sessions[AUTH_SESSIONS];
    failures failed[PEERS];
};

auth *auth_new(const auth_options *options)
{
    auth *a = calloc(1, sizeof(*a));

    if (a == NULL)
        return NULL;
    a->options = *options;
    a->by_code = (principal){.name = "one-time-code", .role = ROLE_USER};
    if (options->one_time_code != NULL && strlen(options->one_time_code) <= AUTH_TOKEN_MAX) {
        memcpy(a->code, options->one_time_code, strlen(options->one_time_code) + 1);
        a->code_expires_ms = options->now_ms(options->clock) + AUTH_CODE_SECONDS * 1000ull;
    }
    pthread_mutex_init(&a->lock, NULL);
    return a;
}

void auth_free(auth *a)
{
    if (a == NULL)
        return;
    pthread_mutex_destroy(&a->lock);
    explicit_bzero(a, sizeof(*a));
    free(a);
}

/*
 * Whether two texts are equal, in time that depends on the given one's length only: secret is read
 * as often as given has bytes, whatever it holds.
 */
static bool equal_secret(const char *secret, const char *given, size_t length)
{
    size_t secret_length = strlen(secret);
    unsigned difference = secret_length == length ? 0 : 1;

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)secret[secret_length > 0 ? i % secret_length : 0];
        difference |= (unsigned)(byte ^ (unsigned char)given[i]);
    }
    return difference == 0 && length > 0;
}

const principal *auth_by_token(auth *a, const char *token, size_t length)
{
    const principal *found = NULL;

    if (length > AUTH_TOKEN_MAX)
        return NULL;
    for (size_t i = 0; i < a->options.count; i++) {
        const principal *p = &a->options.principals[i];
        if (p->token != NULL && equal_secret(p->token, token, length) && found == NULL)
            found = p;
    }
    return found;
}

static session *find_session(auth *a, const char *id, uint64_t now_ms)
{
    size_t length = strlen(id);
    session *found = NULL;

    for (size_t i = 0; i < AUTH_SESSIONS; i++) {
        session *s = &a->sessions[i];
        if (s->id[0] != '\0' && equal_secret(s->id, id, length) && now_ms < s->expires_ms)
            found = s;
    }
    return found;
}

const principal *auth_by_session(auth *a, const char *id, uint64_t *expires_ms)
{
    uint64_t now_ms = a->options.now_ms(a->options.clock);

    pthread_mutex_lock(&a->lock);
    const session *s = find_session(a, id, now_ms);
    const principal *who = s != NULL ? s->who : NULL;
    if (s != NULL && expires_ms != NULL)
        *expires_ms = s->expires_ms;
    pthread_mutex_unlock(&a->lock);
    return who;
}

static bool make_id(char *out)
{
    unsigned char bytes[AUTH_SESSION_CHARS / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return false;
    (void)hex_write(out, bytes, sizeof(bytes));
    return true;
}

/* A free place, or that of the session which ends first. */
static session *place_for_session(auth *a, uint64_t now_ms)
{
    session *best = &a->sessions[0];

    for (size_t i = 0; i < AUTH_SESSIONS; i++) {
        session *s = &a->sessions[i];
        if (s->id[0] == '\0' || s->expires_ms <= now_ms)
            return s;
        if (s->expires_ms < best->expires_ms)
            best = s;
    }
    return best;
}

/* The entry of an address, with its window begun anew where it has passed. */
static failures *failures_of(auth *a, const char *peer, uint64_t now_ms)
{
    failures *oldest = &a->failed[0], *found = NULL;

    for (size_t i = 0; i < PEERS && found == NULL; i++) {
        if (strncmp(a->failed[i].peer, peer, sizeof(a->failed[i].peer) - 1) == 0)
            found = &a->failed[i];
        if (a->failed[i].since_ms < oldest->since_ms)
            oldest = &a->failed[i];
    }
    failures *f = found != NULL ? found : oldest;
    if (found == NULL || now_ms - f->since_ms >= AUTH_FAILURE_WINDOW_SECONDS * 1000ull) {
        snprintf(f->peer, sizeof(f->peer), "%s", peer);
        f->since_ms = now_ms;
        f->count = 0;
    }
    return f;
}

/* The user behind a code, which is gone then. */
static const principal *take_code(auth *a, const char *code, uint64_t now_ms)
{
    bool right = a->code[0] != '\0' && equal_secret(a->code, code, strlen(code));

    if (!right || now_ms >= a->code_expires_ms)
        return NULL;
    explicit_bzero(a->code, sizeof(a->code));
    return &a->by_code;
}

static login login_locked(auth *a, const char *token, const char *code, const char *peer, char *out)
{
    uint64_t now_ms = a->options.now_ms(a->options.clock);
    failures *f = failures_of(a, peer, now_ms);

    if (f->count >= AUTH_FAILURES)
        return LOGIN_LIMITED;
    const principal *who =
        token != NULL ? auth_by_token(a, token, strlen(token)) : take_code(a, code, now_ms);
    if (who == NULL || who->role != ROLE_USER) {
        f->count++;
        return LOGIN_WRONG;
    }
    session *s = place_for_session(a, now_ms);
    if (!make_id(s->id)) {
        s->id[0] = '\0';
        return LOGIN_WRONG;
    }
    s->who = who;
    s->expires_ms = now_ms + AUTH_SESSION_SECONDS * 1000ull;
    memcpy(out, s->id, sizeof(s->id));
    return LOGIN_OK;
}

login auth_login(auth *a, const char *token, const char *code, const char *peer, char *out)
{
    pthread_mutex_lock(&a->lock);
    login result = login_locked(a, token, code, peer, out);
    pthread_mutex_unlock(&a->lock);
    return result;
}

void auth_logout(auth *a, const char *id)
{
    pthread_mutex_lock(&a->lock);
    session *s = find_session(a, id, a->options.now_ms(a->options.clock));
    if (s != NULL)
        explicit_bzero(s, sizeof(*s));
    pthread_mutex_unlock(&a->lock);
}
