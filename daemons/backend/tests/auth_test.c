/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "auth/auth.h"
#include "run_suite.h"

#define TOKEN_OLD "token-old-0123456789"
#define TOKEN_NEW "token-new-0123456789"
#define TOKEN_IN  "token-in-00123456789"
#define CODE      "code-00000123456789ab"

static uint64_t clock_ms;
static auth *a;
static char session[SESSION_CHARS + 1], renewed[SESSION_CHARS + 1];

static uint64_t now(void *clock)
{
    (void)clock;
    return clock_ms;
}

static const principal ann_old = {.name = "ann", .role = ROLE_USER, .token = TOKEN_OLD};
static const principal ann_new = {.name = "ann", .role = ROLE_USER, .token = TOKEN_NEW};
static const principal node = {.name = "node", .role = ROLE_COLLECTOR, .token = TOKEN_IN};

static principals *set_of(const principal *const *list, size_t count)
{
    principals *set = principals_new();

    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(principals_add(set, list[i]), 0);
    return set;
}

/* Makes a replica of the backend with these tokens. */
static auth *new_auth(const principal *const *list, size_t count, const char *code)
{
    principals *set = set_of(list, count);
    auth *made = auth_new(&(auth_options){set, code, now, NULL});

    principals_release(set);
    return made;
}

static void replace(const principal *const *list, size_t count)
{
    principals *set = set_of(list, count);

    auth_replace(a, set);
    principals_release(set);
}

static void set_up(void)
{
    clock_ms = 1000000000;
    a = new_auth((const principal *[]){&ann_old, &ann_new, &node}, 3, CODE);
}

static void tear_down(void)
{
    auth_free(a);
}

/* Returns the name of a token's principal, or "". */
static const char *name_of(const char *token)
{
    static char name[64];
    const principal *who = NULL;
    admission_answer answer = auth_authenticator.decide(a, token, strlen(token), &who);

    ck_assert_int_eq(answer, who != NULL ? ADMISSION_KNOWN : ADMISSION_STRANGER);
    snprintf(name, sizeof(name), "%s", who != NULL ? who->name : "");
    principal_release(who);
    return name;
}

/* Checks a session on one replica; fills `renewed`. */
static const char *user_of(auth *by, const char *sealed)
{
    static char name[64];
    const principal *who = auth_by_session(by, sealed, renewed);

    snprintf(name, sizeof(name), "%s", who != NULL ? who->name : "");
    principal_release(who);
    return name;
}

static void log_in(void)
{
    ck_assert_int_eq(auth_login(a, TOKEN_NEW, NULL, "1.1.1.1", session), LOGIN_OK);
}

START_TEST(test_tokens)
{
    ck_assert_str_eq(name_of(TOKEN_OLD), "ann");
    ck_assert_str_eq(name_of(TOKEN_NEW), "ann");
    ck_assert_str_eq(name_of(TOKEN_IN), "node");
    static const char *const wrong[] = {"",
                                        "t",
                                        "token-old-012345678",
                                        "token-old-01234567890",
                                        "Token-old-0123456789",
                                        (TOKEN_OLD TOKEN_OLD)};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_str_eq(name_of(wrong[i]), "");
}
END_TEST

START_TEST(test_tokens_are_replaced)
{
    const principal *before = NULL;

    ck_assert_int_eq(auth_authenticator.decide(a, TOKEN_OLD, strlen(TOKEN_OLD), &before),
                     ADMISSION_KNOWN);
    replace((const principal *[]){&ann_new}, 1);
    ck_assert_uint_eq(auth_tokens(a), 1);
    ck_assert_str_eq(name_of(TOKEN_OLD), "");
    ck_assert_str_eq(name_of(TOKEN_IN), "");
    ck_assert_str_eq(name_of(TOKEN_NEW), "ann");
    /* A call that was admitted before keeps its principal. */
    ck_assert_str_eq(before->token, TOKEN_OLD);
    principal_release(before);
}
END_TEST

START_TEST(test_a_session_lives_and_ends)
{
    log_in();
    ck_assert_uint_eq(strlen(session), SESSION_CHARS);
    ck_assert_str_eq(user_of(a, session), "ann");
    ck_assert_str_eq(renewed, "");
    for (size_t i = 0; i < SESSION_CHARS; i++) {
        char kept = session[i];
        session[i] = kept == 'a' ? 'b' : 'a';
        ck_assert_str_eq(user_of(a, session), "");
        session[i] = kept;
    }
    clock_ms += SESSION_SECONDS * 1000ull - 1;
    ck_assert_str_eq(user_of(a, session), "ann");
    clock_ms++;
    ck_assert_str_eq(user_of(a, session), "");
    ck_assert_str_eq(user_of(a, ""), "");
}
END_TEST

START_TEST(test_a_session_in_use_is_renewed_up_to_half_a_day)
{
    uint64_t began_ms = clock_ms;

    log_in();
    for (;;) {
        clock_ms += SESSION_RENEW_SECONDS * 1000ull;
        if (user_of(a, session)[0] == '\0')
            break;
        if (renewed[0] != '\0')
            memcpy(session, renewed, sizeof(session));
    }
    ck_assert_uint_eq(clock_ms, began_ms + SESSION_MOST_SECONDS * 1000ull);
}
END_TEST

/* A replica with the session's token can verify the session; a replica without it cannot. */
START_TEST(test_any_replica_takes_a_session)
{
    auth *second = new_auth((const principal *[]){&node, &ann_new}, 2, NULL);
    auth *other = new_auth((const principal *[]){&ann_old, &node}, 2, NULL);

    log_in();
    clock_ms += SESSION_RENEW_SECONDS * 1000ull;
    ck_assert_str_eq(user_of(second, session), "ann");
    ck_assert_str_eq(user_of(a, renewed), "ann");
    ck_assert_str_eq(user_of(other, session), "");
    auth_free(second);
    auth_free(other);
}
END_TEST

START_TEST(test_a_removed_token_ends_its_sessions)
{
    log_in();
    replace((const principal *[]){&ann_old, &node}, 2);
    ck_assert_str_eq(user_of(a, session), "");
    replace((const principal *[]){&ann_old, &ann_new}, 2);
    ck_assert_str_eq(user_of(a, session), "ann");
}
END_TEST

START_TEST(test_logout)
{
    char other[SESSION_CHARS + 1];

    log_in();
    memcpy(other, session, sizeof(other));
    log_in();
    clock_ms += SESSION_RENEW_SECONDS * 1000ull;
    (void)user_of(a, session);
    auth_logout(a, session);
    ck_assert_str_eq(user_of(a, session), "");
    ck_assert_str_eq(user_of(a, renewed), "");
    ck_assert_str_eq(user_of(a, other), "ann");
    auth_logout(a, "nothing");
}
END_TEST

/* If more sessions were ended than can be remembered, older ones end, too. */
START_TEST(test_no_ended_session_comes_to_life_again)
{
    char first[SESSION_CHARS + 1];

    log_in();
    memcpy(first, session, sizeof(first));
    auth_logout(a, first);
    for (int i = 0; i < SESSION_REVOKED_MAX; i++) {
        clock_ms++;
        log_in();
        auth_logout(a, session);
        ck_assert_str_eq(user_of(a, first), "");
    }
    clock_ms++;
    log_in();
    ck_assert_str_eq(user_of(a, session), "ann");
}
END_TEST

START_TEST(test_collectors_do_not_log_in)
{
    ck_assert_int_eq(auth_login(a, TOKEN_IN, NULL, "1.1.1.1", session), LOGIN_WRONG);
}
END_TEST

START_TEST(test_a_code_works_once)
{
    auth *second = new_auth((const principal *[]){&ann_new}, 1, CODE);

    ck_assert_int_eq(auth_login(a, NULL, "code-00000123456789ac", "1.1.1.1", session), LOGIN_WRONG);
    ck_assert_int_eq(auth_login(a, NULL, CODE, "1.1.1.1", session), LOGIN_OK);
    ck_assert_str_eq(user_of(a, session), "one-time-code");
    ck_assert_str_eq(user_of(second, session), "");
    ck_assert_int_eq(auth_login(a, NULL, CODE, "1.1.1.1", session), LOGIN_WRONG);
    ck_assert_int_eq(auth_login(a, NULL, "", "1.1.1.1", session), LOGIN_WRONG);
    auth_free(second);
}
END_TEST

START_TEST(test_a_code_works_for_a_short_time)
{
    clock_ms += AUTH_CODE_SECONDS * 1000ull;
    ck_assert_int_eq(auth_login(a, NULL, CODE, "1.1.1.1", session), LOGIN_WRONG);
}
END_TEST

START_TEST(test_failures_are_limited_by_address)
{
    for (int i = 0; i < AUTH_FAILURES; i++)
        ck_assert_int_eq(auth_login(a, "guess-0123456789", NULL, "6.6.6.6", session), LOGIN_WRONG);
    ck_assert_int_eq(auth_login(a, TOKEN_NEW, NULL, "6.6.6.6", session), LOGIN_LIMITED);
    ck_assert_int_eq(auth_login(a, TOKEN_NEW, NULL, "1.1.1.1", session), LOGIN_OK);
    clock_ms += AUTH_FAILURE_WINDOW_SECONDS * 1000ull;
    ck_assert_int_eq(auth_login(a, TOKEN_NEW, NULL, "6.6.6.6", session), LOGIN_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-auth");
    TCase *tcase = tcase_create("auth");

    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_tokens);
    tcase_add_test(tcase, test_tokens_are_replaced);
    tcase_add_test(tcase, test_a_session_lives_and_ends);
    tcase_add_test(tcase, test_a_session_in_use_is_renewed_up_to_half_a_day);
    tcase_add_test(tcase, test_any_replica_takes_a_session);
    tcase_add_test(tcase, test_a_removed_token_ends_its_sessions);
    tcase_add_test(tcase, test_logout);
    tcase_add_test(tcase, test_no_ended_session_comes_to_life_again);
    tcase_add_test(tcase, test_collectors_do_not_log_in);
    tcase_add_test(tcase, test_a_code_works_once);
    tcase_add_test(tcase, test_a_code_works_for_a_short_time);
    tcase_add_test(tcase, test_failures_are_limited_by_address);
    return run_suite(suite);
}
