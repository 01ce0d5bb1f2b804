/* SPDX-License-Identifier: Apache-2.0 */
#include "auth.h"

#include <base/hex.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <nettle/memops.h>

/* Failed logins from one address. */
typedef struct failures {
    char peer[64]; /* "" = free */
    uint64_t since_ms;
    unsigned count;
} failures;

enum { PEERS = 256 };

struct auth {
    auth_options options;
    principals *by_code; /* the one principal that signs sessions opened with the code */
    char code[AUTH_TOKEN_MAX + 1];
    uint64_t code_expires_ms;
    revoked_sessions revoked;
    pthread_mutex_t lock; /* guards the code, the tokens and the failures */
    principals *tokens;
    failures failed[PEERS];
};

/* Makes the user for the code. The key of its sessions is random and never leaves this process. */
static principals *make_user_of_code(void)
{
    unsigned char secret[32];
    char key[2 * sizeof(secret) + 1];
    principals *set = principals_new();
    const principal user = {.name = "one-time-code", .role = ROLE_USER, .token = key};

    if (set == NULL || getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret)) {
        principals_release(set);
        return NULL;
    }
    (void)hex_write(key, secret, sizeof(secret));
    int rc = principals_add(set, &user);
    explicit_bzero(secret, sizeof(secret));
    explicit_bzero(key, sizeof(key));
    if (rc == 0)
        return set;
    principals_release(set);
    return NULL;
}

auth *auth_new(const auth_options *options)
{
    auth *a = calloc(1, sizeof(*a));

    if (a == NULL)
        return NULL;
    a->options = *options;
    a->tokens = principals_hold(options->tokens);
    a->by_code = make_user_of_code();
    pthread_mutex_init(&a->lock, NULL);
    revoked_init(&a->revoked);
    if (a->by_code == NULL) {
        auth_free(a);
        return NULL;
    }
    if (options->one_time_code != NULL && strlen(options->one_time_code) <= AUTH_TOKEN_MAX) {
        memcpy(a->code, options->one_time_code, strlen(options->one_time_code) + 1);
        a->code_expires_ms = options->now_ms(options->clock) + AUTH_CODE_SECONDS * 1000ull;
    }
    return a;
}

void auth_free(auth *a)
{
    if (a == NULL)
        return;
    principals_release(a->tokens);
    principals_release(a->by_code);
    revoked_destroy(&a->revoked);
    pthread_mutex_destroy(&a->lock);
    explicit_bzero(a, sizeof(*a));
    free(a);
}

static principals *hold_tokens(auth *a)
{
    pthread_mutex_lock(&a->lock);
    principals *tokens = principals_hold(a->tokens);
    pthread_mutex_unlock(&a->lock);
    return tokens;
}

void auth_replace(auth *a, principals *tokens)
{
    pthread_mutex_lock(&a->lock);
    principals *before = a->tokens;
    a->tokens = principals_hold(tokens);
    pthread_mutex_unlock(&a->lock);
    principals_release(before);
}

size_t auth_tokens(auth *a)
{
    principals *tokens = hold_tokens(a);
    size_t count = principals_count(tokens);

    principals_release(tokens);
    return count;
}

/* ---- by a token ---- */

static const principal *by_token(auth *a, const char *token, size_t length)
{
    principals *tokens = hold_tokens(a);
    const principal *who = length <= AUTH_TOKEN_MAX ? principals_find(tokens, token, length) : NULL;

    if (who != NULL)
        (void)principal_hold(who);
    principals_release(tokens);
    return who;
}

static admission_answer decide(void *self, const char *token, size_t length, const principal **who)
{
    *who = by_token(self, token, length);
    return *who != NULL ? ADMISSION_KNOWN : ADMISSION_STRANGER;
}

const authenticator_ops auth_authenticator = {decide};

/* ---- by a session ---- */

/* Returns the principal of a set that signed the session, held; NULL: none did. */
static const principal *find_signer(const principals *set, const char *sealed, uint64_t now_ms,
                                    session_claims *out)
{
    for (size_t i = 0; i < principals_count(set); i++) {
        const principal *one = principals_get(set, i);
        if (one->role == ROLE_USER && session_read(out, sealed, one, now_ms))
            return principal_hold(one);
    }
    return NULL;
}

static const principal *find_session(auth *a, const char *sealed, uint64_t now_ms,
                                     session_claims *out)
{
    principals *tokens = hold_tokens(a);
    const principal *who = find_signer(tokens, sealed, now_ms, out);

    principals_release(tokens);
    if (who == NULL)
        who = find_signer(a->by_code, sealed, now_ms, out);
    if (who == NULL || !session_is_revoked(&a->revoked, out))
        return who;
    principal_release(who);
    return NULL;
}

const principal *auth_by_session(auth *a, const char *sealed, char *renewed)
{
    uint64_t now_ms = a->options.now_ms(a->options.clock);
    session_claims found;
    const principal *who = find_session(a, sealed, now_ms, &found);

    if (who == NULL || !session_renew(renewed, &found, who, now_ms))
        renewed[0] = '\0';
    return who;
}

void auth_logout(auth *a, const char *sealed)
{
    uint64_t now_ms = a->options.now_ms(a->options.clock);
    session_claims found;
    const principal *who = find_session(a, sealed, now_ms, &found);

    if (who != NULL)
        session_revoke(&a->revoked, &found, now_ms);
    principal_release(who);
}

/* ---- logins ---- */

/* Returns the entry of an address, and begins its window anew if that has ended. */
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

/* Returns true once, for the right code, which is then deleted. */
static bool take_code(auth *a, const char *code, uint64_t now_ms)
{
    size_t length = strlen(a->code);

    if (length == 0 || strlen(code) != length || now_ms >= a->code_expires_ms ||
        !memeql_sec(a->code, code, length))
        return false;
    explicit_bzero(a->code, sizeof(a->code));
    return true;
}

/* Whether this address may try once more. */
static bool may_try(auth *a, const char *peer, uint64_t now_ms)
{
    pthread_mutex_lock(&a->lock);
    bool may = failures_of(a, peer, now_ms)->count < AUTH_FAILURES;
    pthread_mutex_unlock(&a->lock);
    return may;
}

static const principal *by_code(auth *a, const char *code, uint64_t now_ms)
{
    pthread_mutex_lock(&a->lock);
    bool right = take_code(a, code, now_ms);
    pthread_mutex_unlock(&a->lock);
    return right ? principal_hold(principals_get(a->by_code, 0)) : NULL;
}

login auth_login(auth *a, const char *token, const char *code, const char *peer, char *out)
{
    uint64_t now_ms = a->options.now_ms(a->options.clock);

    if (!may_try(a, peer, now_ms))
        return LOGIN_LIMITED;
    const principal *who =
        token != NULL ? by_token(a, token, strlen(token)) : by_code(a, code, now_ms);
    bool opened = who != NULL && who->role == ROLE_USER && session_begin(out, who, now_ms);
    principal_release(who);
    if (opened)
        return LOGIN_OK;
    pthread_mutex_lock(&a->lock);
    failures_of(a, peer, now_ms)->count++;
    pthread_mutex_unlock(&a->lock);
    return LOGIN_WRONG;
}
