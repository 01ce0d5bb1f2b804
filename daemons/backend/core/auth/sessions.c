/* SPDX-License-Identifier: Apache-2.0 */
#include "sessions.h"

#include <base/hex.h>

#include <string.h>
#include <sys/random.h>

#include <nettle/hmac.h>
#include <nettle/memops.h>

enum { NUMBER_CHARS = 16, BODY_CHARS = 4 * NUMBER_CHARS };

/* Signs the body, whose fields have fixed places, so that no two sessions share a text. */
static void sign(uint8_t mac[SHA256_DIGEST_SIZE], const char *body, const principal *who)
{
    static const uint8_t purpose[] = "hotstack session 1";
    struct hmac_sha256_ctx context;

    hmac_sha256_set_key(&context, strlen(who->token), (const uint8_t *)who->token);
    hmac_sha256_update(&context, sizeof(purpose), purpose);
    hmac_sha256_update(&context, BODY_CHARS, (const uint8_t *)body);
    hmac_sha256_digest(&context, SHA256_DIGEST_SIZE, mac);
    explicit_bzero(&context, sizeof(context));
}

static void write_number(char *out, uint64_t number)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (56 - 8 * i));
    (void)hex_write(out, bytes, sizeof(bytes));
}

static void write_text(char *out, const session_claims *from, const principal *who)
{
    const uint64_t numbers[] = {from->began_ms, from->ends_ms, from->id[0], from->id[1]};
    uint8_t mac[SHA256_DIGEST_SIZE];

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        write_number(out + i * NUMBER_CHARS, numbers[i]);
    sign(mac, out, who);
    (void)hex_write(out + BODY_CHARS, mac, sizeof(mac));
}

static uint64_t end_of(uint64_t began_ms, uint64_t now_ms)
{
    uint64_t most_ms = began_ms + SESSION_MOST_SECONDS * 1000ull;
    uint64_t ends_ms = now_ms + SESSION_SECONDS * 1000ull;

    return ends_ms < most_ms ? ends_ms : most_ms;
}

bool session_begin(char *out, const principal *who, uint64_t now_ms)
{
    session_claims fresh = {.began_ms = now_ms, .ends_ms = end_of(now_ms, now_ms)};

    if (getrandom(fresh.id, sizeof(fresh.id), 0) != (ssize_t)sizeof(fresh.id))
        return false;
    write_text(out, &fresh, who);
    return true;
}

bool session_read(session_claims *out, const char *sealed, const principal *who, uint64_t now_ms)
{
    uint64_t *const numbers[] = {&out->began_ms, &out->ends_ms, &out->id[0], &out->id[1]};
    uint8_t mac[SHA256_DIGEST_SIZE];
    char expected[2 * SHA256_DIGEST_SIZE + 1];

    if (strlen(sealed) != SESSION_CHARS)
        return false;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (!hex_read_number(numbers[i], sealed + i * NUMBER_CHARS))
            return false;
    }
    if (now_ms >= out->ends_ms)
        return false;
    sign(mac, sealed, who);
    (void)hex_write(expected, mac, sizeof(mac));
    return memeql_sec(expected, sealed + BODY_CHARS, 2 * (size_t)SHA256_DIGEST_SIZE) != 0;
}

bool session_renew(char *out, const session_claims *from, const principal *who, uint64_t now_ms)
{
    session_claims later = *from;

    later.ends_ms = end_of(from->began_ms, now_ms);
    if (later.ends_ms < from->ends_ms + SESSION_RENEW_SECONDS * 1000ull)
        return false;
    write_text(out, &later, who);
    return true;
}

/* ---- revoked ones ---- */

void revoked_init(revoked_sessions *r)
{
    pthread_mutex_init(&r->lock, NULL);
    r->count = 0;
    r->ended_ms = 0;
}

void revoked_destroy(revoked_sessions *r)
{
    pthread_mutex_destroy(&r->lock);
}

/* Returns a place for one more. If all are taken, it is that of the session that began first, and
 * every session that began as early ends, too. */
static session_claims *make_place(revoked_sessions *r, uint64_t now_ms)
{
    session_claims *first = &r->all[0];

    for (size_t i = 0; i < r->count; i++) {
        if (r->all[i].ends_ms <= now_ms)
            return &r->all[i];
        if (r->all[i].began_ms < first->began_ms)
            first = &r->all[i];
    }
    if (r->count < SESSION_REVOKED_MAX)
        return &r->all[r->count++];
    if (r->ended_ms <= first->began_ms)
        r->ended_ms = first->began_ms + 1;
    return first;
}

void session_revoke(revoked_sessions *r, const session_claims *ended, uint64_t now_ms)
{
    pthread_mutex_lock(&r->lock);
    session_claims *place = make_place(r, now_ms);
    *place = *ended;
    /* A text that was renewed just now is valid until then. */
    place->ends_ms = now_ms + SESSION_SECONDS * 1000ull;
    pthread_mutex_unlock(&r->lock);
}

bool session_is_revoked(revoked_sessions *r, const session_claims *asked)
{
    pthread_mutex_lock(&r->lock);
    bool revoked = asked->began_ms < r->ended_ms;
    for (size_t i = 0; i < r->count && !revoked; i++)
        revoked = memcmp(r->all[i].id, asked->id, sizeof(asked->id)) == 0;
    pthread_mutex_unlock(&r->lock);
    return revoked;
}
