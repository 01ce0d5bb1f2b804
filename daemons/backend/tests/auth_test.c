/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "auth.h"
#include "run_suite.h"

#define TOKEN_OLD "token-old-0123456789"
#define TOKEN_NEW "token-new-0123456789"
#define TOKEN_IN  "token-in-00123456789"
#define CODE      "code-00000123456789ab"

static uint64_t clock_ms;
static auth *a;
static char session[AUTH_SESSION_CHARS + 1];

static uint64_t now(void *clock)
{
    (void)clock;
    return clock_ms;
}

static const principal principals[] = {
    {.name = "ann", .role = ROLE_USER, .token = TOKEN_OLD},
    {.name = "ann", .role = ROLE_USER, .token = TOKEN_NEW},
    {.name = "node", .role = ROLE_COLLECTOR, .token = TOKEN_IN},
};

static void set_up(void)
{
    clock_ms = 1000000;
    a = auth_new(&(auth_options){principals, 3, CODE, now, NULL});
}

static void tear_down(void)
{
    auth_free(a);
}

static const principal *by_token(const char *token)
{
    return auth_by_token(a, token, strlen(token));
}

START_TEST(test_tokens)
{
    ck_assert_ptr_eq(by_token(TOKEN_OLD), &principals[0]);
    ck_assert_ptr_eq(by_token(TOKEN_NEW), &principals[1]);
    ck_assert_ptr_eq(by_token(TOKEN_IN), &principals[2]);
    static const char *const wrong[] = {"",
                                        "t",
                                        "token-old-012345678",
                                        "token-old-01234567890",
                                        "Token-old-0123456789",
                                        (TOKEN_OLD TOKEN_OLD)};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_ptr_null(by_token(wrong[i]));
}
END_TEST

START_TEST(test_a_session_lives_and_ends)
{
    uint64_t expires = 0;

    ck_assert_int_eq(auth_login(a, TOKEN_NEW, NULL, "1.1.1.1", session), LOGIN_OK);
    ck_assert_uint_eq(strlen(session), AUTH_SESSION_CHARS);
    ck_assert_ptr_eq(auth_by_session(a, session, &expires), &principals[1]);
    ck_assert_uint_eq(expires, clock_ms + AUTH_SESSION_SECONDS * 1000ull);
    session[0] = session[0] == 'a' ? 'b' : 'a';
    ck_assert_ptr_null(auth_by_session(a, session, NULL));
    session[0] = '\0';
    ck_assert_ptr_null(auth_by_session(a, session, NULL));
    ck_assert_int_eq(auth_login(a, TOKEN_NEW, NULL, "1.1.1.1", session), LOGIN_OK);
    clock_ms += AUTH_SESSION_SECONDS * 1000ull;
    ck_assert_ptr_null(auth_by_session(a, session, NULL));
}
END_TEST

START_TEST(test_logout)
{
    ck_assert_int_eq(auth_login(a, TOKEN_NEW, NULL, "1.1.1.1", session), LOGIN_OK);
    auth_logout(a, session);
    ck_assert_ptr_null(auth_by_session(a, session, NULL));
    auth_logout(a, "nothing");
}
END_TEST

START_TEST(test_collectors_do_not_log_in)
{
    ck_assert_int_eq(auth_login(a, TOKEN_IN, NULL, "1.1.1.1", session), LOGIN_WRONG);
}
END_TEST

START_TEST(test_a_code_works_once)
{
    ck_assert_int_eq(auth_login(a, NULL, "code-00000123456789ac", "1.1.1.1", session), LOGIN_WRONG);
    ck_assert_int_eq(auth_login(a, NULL, CODE, "1.1.1.1", session), LOGIN_OK);
    ck_assert_int_eq(auth_by_session(a, session, NULL)->role, ROLE_USER);
    ck_assert_int_eq(auth_login(a, NULL, CODE, "1.1.1.1", session), LOGIN_WRONG);
    ck_assert_int_eq(auth_login(a, NULL, "", "1.1.1.1", session), LOGIN_WRONG);
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

START_TEST(test_many_sessions_push_out_the_oldest)
{
    char first[AUTH_SESSION_CHARS + 1];

    ck_assert_int_eq(auth_login(a, TOKEN_NEW, NULL, "1.1.1.1", first), LOGIN_OK);
    for (int i = 0; i < AUTH_SESSIONS; i++) {
        clock_ms++;
        ck_assert_int_eq(auth_login(a, TOKEN_NEW, NULL, "1.1.1.1", session), LOGIN_OK);
    }
    ck_assert_ptr_null(auth_by_session(a, first, NULL));
    ck_assert_ptr_nonnull(auth_by_session(a, session, NULL));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-auth");
    TCase *tcase = tcase_create("auth");

    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_tokens);
    tcase_add_test(tcase, test_a_session_lives_and_ends);
    tcase_add_test(tcase, test_logout);
    tcase_add_test(tcase, test_collectors_do_not_log_in);
    tcase_add_test(tcase, test_a_code_works_once);
    tcase_add_test(tcase, test_a_code_works_for_a_short_time);
    tcase_add_test(tcase, test_failures_are_limited_by_address);
    tcase_add_test(tcase, test_many_sessions_push_out_the_oldest);
    return run_suite(suite);
}
