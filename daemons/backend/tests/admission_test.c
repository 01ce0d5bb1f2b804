/* SPDX-License-Identifier: Apache-2.0 */
/* Tests decisions about tokens with an authenticator that is slow. */
#include <check.h>
#include <pthread.h>
#include <string.h>

#include "auth/admission.h"
#include "run_suite.h"

enum { KEPT = 8, KEEP_MS = 1000, ASKING = 2 };

static uint64_t clock_ms;
static admission *a;
static principals *known;

/* Accepts every token that begins with "good"; makes those with "slow" wait. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned asked, waiting;
    bool answers, fails;
} fake;

static uint64_t now(void *clock)
{
    (void)clock;
    return clock_ms;
}

static admission_answer decide(void *self, const char *token, size_t length, const principal **who)
{
    (void)self, (void)length;
    pthread_mutex_lock(&fake.lock);
    fake.asked++;
    if (strstr(token, "slow") != NULL) {
        fake.waiting++;
        pthread_cond_broadcast(&fake.changed);
        while (!fake.answers)
            pthread_cond_wait(&fake.changed, &fake.lock);
    }
    bool fails = fake.fails;
    pthread_mutex_unlock(&fake.lock);
    *who = NULL;
    if (fails)
        return ADMISSION_UNDECIDED;
    if (strncmp(token, "good", 4) != 0)
        return ADMISSION_STRANGER;
    *who = principal_hold(principals_get(known, 0));
    return ADMISSION_KNOWN;
}

static void set_up(void)
{
    static const authenticator_ops ops = {decide};
    const principal ann = {.name = "ann", .role = ROLE_USER, .token = ""};

    memset(&fake, 0, sizeof(fake));
    pthread_mutex_init(&fake.lock, NULL);
    pthread_cond_init(&fake.changed, NULL);
    clock_ms = 1000000;
    known = principals_new();
    ck_assert_int_eq(principals_add(known, &ann), 0);
    a = admission_new(&(admission_options){
        .ops = &ops, .kept = KEPT, .keep_ms = KEEP_MS, .asking = ASKING, .now_ms = now});
}

static void tear_down(void)
{
    admission_free(a);
    principals_release(known);
}

static admission_answer ask(const char *token)
{
    const principal *who;
    admission_answer answer = admission_decide(a, token, strlen(token), &who);

    ck_assert_int_eq(who != NULL, answer == ADMISSION_KNOWN);
    principal_release(who);
    return answer;
}

static void await_waiting(unsigned count)
{
    pthread_mutex_lock(&fake.lock);
    while (fake.waiting < count)
        pthread_cond_wait(&fake.changed, &fake.lock);
    pthread_mutex_unlock(&fake.lock);
}

static void let_answer(void)
{
    pthread_mutex_lock(&fake.lock);
    fake.answers = true;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

START_TEST(test_a_decision_is_kept_for_a_while)
{
    ck_assert_int_eq(ask("good-1"), ADMISSION_KNOWN);
    clock_ms += KEEP_MS - 1;
    ck_assert_int_eq(ask("good-1"), ADMISSION_KNOWN);
    ck_assert_uint_eq(fake.asked, 1);
    clock_ms++;
    ck_assert_int_eq(ask("good-1"), ADMISSION_KNOWN);
    ck_assert_uint_eq(fake.asked, 2);
    clock_ms -= 500000;
    ck_assert_int_eq(ask("good-1"), ADMISSION_KNOWN);
    ck_assert_uint_eq(fake.asked, 3);
    admission_stats stats = admission_read(a);
    ck_assert_uint_eq(stats.kept, 1);
    ck_assert_uint_eq(stats.hits, 1);
    ck_assert_uint_eq(stats.misses, 3);
}
END_TEST

START_TEST(test_strangers_are_not_kept)
{
    for (unsigned i = 1; i <= 3; i++) {
        ck_assert_int_eq(ask("bad"), ADMISSION_STRANGER);
        ck_assert_uint_eq(fake.asked, i);
    }
    fake.fails = true;
    ck_assert_int_eq(ask("good-1"), ADMISSION_UNDECIDED);
    fake.fails = false;
    ck_assert_int_eq(ask("good-1"), ADMISSION_KNOWN);
    ck_assert_uint_eq(admission_read(a).undecided, 1);
}
END_TEST

START_TEST(test_memory_is_bounded)
{
    char token[16] = "good-";

    for (int c = '0'; c < '0' + 64; c++) {
        token[5] = (char)c;
        ck_assert_int_eq(ask(token), ADMISSION_KNOWN);
        clock_ms++;
    }
    ck_assert_uint_le(admission_read(a).kept, KEPT);
    ck_assert_uint_eq(fake.asked, 64);
    ck_assert_int_eq(ask(token), ADMISSION_KNOWN);
    ck_assert_uint_eq(fake.asked, 64);
}
END_TEST

START_TEST(test_what_is_forgotten_is_asked_again)
{
    ck_assert_int_eq(ask("good-1"), ADMISSION_KNOWN);
    admission_forget(a);
    ck_assert_uint_eq(admission_read(a).kept, 0);
    ck_assert_int_eq(ask("good-1"), ADMISSION_KNOWN);
    ck_assert_uint_eq(fake.asked, 2);
}
END_TEST

static void *ask_on_a_thread(void *token)
{
    return ask(token) == ADMISSION_KNOWN ? token : NULL;
}

START_TEST(test_a_slow_authenticator_leaves_threads_for_others)
{
    static char slow[ASKING][16] = {"good-slow-1", "good-slow-2"};
    pthread_t threads[ASKING];
    void *known_token;

    ck_assert_int_eq(ask("good-1"), ADMISSION_KNOWN);
    for (unsigned i = 0; i < ASKING; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_on_a_thread, slow[i]), 0);
    await_waiting(ASKING);
    ck_assert_int_eq(ask("good-1"), ADMISSION_KNOWN);
    ck_assert_int_eq(ask("good-2"), ADMISSION_UNDECIDED);
    let_answer();
    for (unsigned i = 0; i < ASKING; i++) {
        pthread_join(threads[i], &known_token);
        ck_assert_ptr_eq(known_token, slow[i]);
    }
    ck_assert_int_eq(ask("good-2"), ADMISSION_KNOWN);
}
END_TEST

/* An answer from before a change is neither kept nor returned. */
START_TEST(test_an_answer_that_was_overtaken_is_asked_for_again)
{
    static char slow[] = "good-slow-1";
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, ask_on_a_thread, slow), 0);
    await_waiting(1);
    admission_forget(a);
    let_answer();
    pthread_join(thread, NULL);
    ck_assert_uint_eq(fake.asked, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-admission");
    TCase *tcase = tcase_create("admission");

    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_a_decision_is_kept_for_a_while);
    tcase_add_test(tcase, test_strangers_are_not_kept);
    tcase_add_test(tcase, test_memory_is_bounded);
    tcase_add_test(tcase, test_what_is_forgotten_is_asked_again);
    tcase_add_test(tcase, test_a_slow_authenticator_leaves_threads_for_others);
    tcase_add_test(tcase, test_an_answer_that_was_overtaken_is_asked_for_again);
    return run_suite(suite);
}
