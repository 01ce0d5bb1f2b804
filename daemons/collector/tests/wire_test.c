/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the contract's wire form: encoding and decoding, known stacks, answers. */
#include "../adapters/wire.h"
#include "collector_tests.h"
#include "contract_verdict.h"

#include "ingest.pb-c.h"

#include <catalogue/state.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static wire *contract;

static void set_up(void)
{
    const wire_sender sender = {"cluster", "node", "instance", "0.1.0", 42};
    contract = wire_new(&sender);
    ck_assert_ptr_nonnull(contract);
}

static void tear_down(void)
{
    wire_free(contract);
}

static uint8_t *entry_of(uint8_t id, uint32_t windows, uint32_t rows, size_t *length)
{
    batch one;
    uint8_t *entry = NULL;
    sample_batch(&one, id, windows, rows);
    ck_assert_int_eq(batch_order(&one), 0);
    ck_assert_int_eq(wire_encode(contract, &one, &entry, length), 0);
    batch_clear(&one);
    return entry;
}

static Hotstack__V1__ProfileBatch *packed(const uint8_t *entry, size_t length, bool all)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    const entry_tries tries = {.attempt = 2, .waited_ms = 1500};
    ck_assert_int_eq(wire_pack_entry(contract, entry, length, all, &tries, &bytes, &size), 0);
    Hotstack__V1__ProfileBatch *message = hotstack__v1__profile_batch__unpack(NULL, size, bytes);
    ck_assert_ptr_nonnull(message);
    free(bytes);
    return message;
}

START_TEST(a_batch_comes_back_as_it_was)
{
    size_t length = 0;
    uint8_t *entry = entry_of(9, 3, 6, &length);
    batch back;
    ck_assert_int_eq(wire_decode(contract, entry, length, &back), 0);
    assert_contract_holds(&back, NOON);
    ck_assert_uint_eq(back.id[0], 9);
    ck_assert_uint_eq(back.window_count, 3);
    ck_assert_uint_eq(back.row_count, 18);
    ck_assert_uint_eq(back.frames.count, 6);
    ck_assert_uint_eq(back.created_ms, NOON);
    uint8_t *again = NULL;
    size_t again_length = 0;
    ck_assert_int_eq(wire_encode(contract, &back, &again, &again_length), 0);
    ck_assert_uint_eq(again_length, length);
    ck_assert(memcmp(again, entry, length) == 0);
    free(again);
    batch_clear(&back);
    free(entry);
}
END_TEST

START_TEST(the_digest_covers_the_body)
{
    size_t length = 0;
    uint8_t *entry = entry_of(9, 1, 2, &length);
    Hotstack__V1__ProfileBatch *message = packed(entry, length, true);
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(message->body.data, message->body.len));
    ck_assert_uint_eq(message->digest.len, 16);
    ck_assert(memcmp(message->digest.data, digest.digest, 16) == 0);
    Hotstack__V1__ProfileBody *body =
        hotstack__v1__profile_body__unpack(NULL, message->body.len, message->body.data);
    ck_assert_uint_eq(body->contract, 1);
    ck_assert_str_eq(body->collector->instance, "instance");
    ck_assert_uint_eq(body->day, NOON / MS_PER_DAY);
    ck_assert_uint_eq(body->stack_ids.len, 32);
    hotstack__v1__profile_body__free_unpacked(body, NULL);
    hotstack__v1__profile_batch__free_unpacked(message, NULL);
    free(entry);
}
END_TEST

/* As two processes make it that cut the same batch in two. */
START_TEST(a_batch_that_another_run_makes_again_is_the_same)
{
    const wire_sender other_run = {"cluster", "node", "instance", "0.1.0", 43};
    size_t length = 0, other_length = 0;
    uint8_t *entry = entry_of(9, 1, 2, &length);
    tear_down();
    contract = wire_new(&other_run);
    uint8_t *other = entry_of(9, 1, 2, &other_length);
    ck_assert_uint_eq(length, other_length);
    ck_assert_mem_eq(entry, other, length);
    free(entry);
    free(other);
}
END_TEST

START_TEST(known_stacks_are_left_out_until_all_are_asked_for)
{
    size_t length = 0;
    size_t more_length = 0;
    uint8_t *entry = entry_of(1, 1, 4, &length);
    uint8_t *more = entry_of(2, 1, 6, &more_length); /* the same four, and two new ones */
    entry_sums sums;
    ck_assert_int_eq(wire_note_stored(contract, entry, length, &sums), 0);
    ck_assert_uint_eq(sums.rows, 4);
    ck_assert_uint_eq(sums.of[1].raw_amount, 1 + 2 + 3 + 4);
    Hotstack__V1__ProfileBatch *message = packed(more, more_length, false);
    const Hotstack__V1__StackDictionary *stacks = message->stacks;
    ck_assert_uint_eq(stacks->stack_ids.len, 2 * 16);
    ck_assert_uint_eq(stacks->n_stack_depth, 2);
    ck_assert_uint_eq(stacks->n_frame_class_str, 2);
    ck_assert_uint_eq(stacks->strings->n_length, 3);
    ck_assert_uint_eq(stacks->strings->length[0], 0);
    /* Stacks are in the order of their ids, which are hashes. */
    ck_assert_uint_eq(stacks->strings->data.len, 14);
    ck_assert(memcmp(stacks->strings->data.data, "method5method6", 14) == 0 ||
              memcmp(stacks->strings->data.data, "method6method5", 14) == 0);
    ck_assert_uint_eq(stacks->frame_method_str[stacks->stack_frame[1]], 2);
    hotstack__v1__profile_batch__free_unpacked(message, NULL);
    message = packed(more, more_length, true);
    ck_assert_uint_eq(message->stacks->stack_ids.len, 6 * 16);
    hotstack__v1__profile_batch__free_unpacked(message, NULL);
    free(entry);
    free(more);
}
END_TEST

START_TEST(a_damaged_entry_is_refused_at_every_bit)
{
    size_t length = 0;
    uint8_t *entry = entry_of(1, 2, 3, &length);
    const entry_tries first = {.attempt = 1};
    for (size_t cut = 0; cut < length; cut++) {
        batch back;
        ck_assert_int_eq(wire_decode(contract, entry, cut, &back), -1);
    }
    uint8_t *whole = NULL;
    size_t whole_size = 0;
    ck_assert_int_eq(wire_pack_entry(contract, entry, length, true, &first, &whole, &whole_size),
                     0);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        uint8_t *bytes = NULL;
        size_t size = 0;
        entry[bit / 8] ^= (uint8_t)(1 << bit % 8);
        int rc = wire_pack_entry(contract, entry, length, true, &first, &bytes, &size);
        ck_assert_msg(rc != 0 || (size == whole_size && memcmp(bytes, whole, size) == 0),
                      "a batch with another bit %zu is sent", bit);
        entry[bit / 8] ^= (uint8_t)(1 << bit % 8);
        free(bytes);
    }
    free(whole);
    free(entry);
}
END_TEST

START_TEST(answers_are_read)
{
    Hotstack__V1__IngestAnswer answer = HOTSTACK__V1__INGEST_ANSWER__INIT;
    Hotstack__V1__Limits limits = HOTSTACK__V1__LIMITS__INIT;
    char code[] = "store_busy";
    uint8_t bytes[256];
    answer.outcome = HOTSTACK__V1__OUTCOME__OUTCOME_RETRY;
    answer.code = code;
    answer.retry_after_ms = 1500;
    limits.rows_per_batch = 77;
    limits.payload_bytes = 1000;
    limits.compressed_bytes = 900;
    limits.flush_interval_ms = 120000;
    limits.report_interval_ms = 20000;
    answer.limits = &limits;
    size_t length = hotstack__v1__ingest_answer__pack(&answer, bytes);
    upload_answer got = {0};
    wire_read_answer(bytes, length, &got);
    ck_assert_int_eq(got.outcome, UPLOAD_RETRY);
    ck_assert_str_eq(got.code, "store_busy");
    ck_assert_uint_eq(got.retry_after_ms, 1500);
    ck_assert(got.has_limits);
    ck_assert_uint_eq(got.limits.rows, 77);
    ck_assert_uint_eq(got.limits.payload_bytes, 900);
    ck_assert_uint_eq(got.flush_interval_ms, 120000);
    ck_assert_uint_eq(got.report_interval_ms, 20000);
    got = (upload_answer){0};
    wire_read_answer((const uint8_t *)"<html>", 6, &got);
    ck_assert_int_eq(got.outcome, UPLOAD_NO_ANSWER);
}
END_TEST

START_TEST(a_status_report_holds_every_target)
{
    target_status targets[2] = {{.jvm = sample_jvm(7), .state = 1, .observed_ms = NOON},
                                {.jvm = sample_jvm(8),
                                 .state = 4,
                                 .reason = 12,
                                 .mode = TARGET_MODE_TEMPORARY,
                                 .until_ms = NOON + 600000,
                                 .last_length_ms = 10000,
                                 .last_covered_ms = 9990,
                                 .collector_ns = 7}};
    strcpy(targets[1].detail, "a sentence");
    strcpy(targets[1].labels.workload, "shop");
    const status_report report = {.targets = targets, .count = 2};
    uint8_t *bytes = NULL;
    size_t length = 0;
    ck_assert_int_eq(wire_encode_status(contract, &report, &bytes, &length), 0);
    Hotstack__V1__StatusReport *message = hotstack__v1__status_report__unpack(NULL, length, bytes);
    ck_assert_ptr_nonnull(message);
    ck_assert_uint_eq(message->targets->n_host_pid, 2);
    ck_assert_uint_eq(message->targets->n_image_str, 2);
    ck_assert_uint_eq(message->status->n_state, 2);
    ck_assert_uint_eq(message->status->state[1], 4);
    ck_assert_uint_eq(message->status->reason[1], 12);
    ck_assert_uint_gt(message->status->detail_str[1], 0);
    ck_assert_uint_eq(message->status->n_mode, 2);
    ck_assert_uint_eq(message->status->mode[1], TARGET_MODE_TEMPORARY);
    ck_assert_uint_eq(message->status->until_ms[1], NOON + 600000);
    ck_assert_uint_eq(message->status->last_length_ms[1], 10000);
    ck_assert_uint_eq(message->status->last_covered_ms[1], 9990);
    ck_assert_uint_eq(message->status->collector_ns[1], 7);
    hotstack__v1__status_report__free_unpacked(message, NULL);
    free(bytes);
}
END_TEST

START_TEST(a_heartbeat_tells_of_the_queue_and_what_was_lost)
{
    heartbeat beat = {.sent_ms = NOON,
                      .started_ms = NOON - 1000,
                      .engine = "async-profiler 4.6",
                      .queued = {.bytes = 5,
                                 .entries = 2,
                                 .max_bytes = 100,
                                 .oldest_ms = NOON - 500,
                                 .pushed = 9,
                                 .drops = {[DROP_REJECTED] = {.entries = 3,
                                                              .oldest_ms = NOON - 900,
                                                              .newest_ms = NOON - 800}}},
                      .split_batches = 1,
                      .last_success_ms = NOON - 600};
    uint8_t *bytes = NULL;
    size_t length = 0;
    ck_assert_int_eq(wire_encode_heartbeat(contract, &beat, &bytes, &length), 0);
    Hotstack__V1__Heartbeat *message = hotstack__v1__heartbeat__unpack(NULL, length, bytes);
    ck_assert_ptr_nonnull(message);
    ck_assert_str_eq(message->engine, "async-profiler 4.6");
    ck_assert_uint_eq(message->oldest_queued_ms, NOON - 500);
    ck_assert_uint_eq(message->queue_bytes, 100);
    ck_assert_uint_eq(message->cut_batches, 8);
    ck_assert_uint_eq(message->drops->n_cause, 1);
    ck_assert_uint_eq(message->drops->cause[0], DROP_REJECTED);
    ck_assert_uint_eq(message->drops->batches[0], 3);
    ck_assert_uint_eq(message->drops->oldest_ms[0], NOON - 900);
    ck_assert_uint_eq(message->drops->newest_ms[0], NOON - 800);
    hotstack__v1__heartbeat__free_unpacked(message, NULL);
    free(bytes);
}
END_TEST

TCase *wire_tests(void)
{
    TCase *tests = tcase_create("wire");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_batch_comes_back_as_it_was);
    tcase_add_test(tests, the_digest_covers_the_body);
    tcase_add_test(tests, a_batch_that_another_run_makes_again_is_the_same);
    tcase_add_test(tests, known_stacks_are_left_out_until_all_are_asked_for);
    tcase_add_test(tests, a_damaged_entry_is_refused_at_every_bit);
    tcase_add_test(tests, answers_are_read);
    tcase_add_test(tests, a_status_report_holds_every_target);
    tcase_add_test(tests, a_heartbeat_tells_of_the_queue_and_what_was_lost);
    return tests;
}
