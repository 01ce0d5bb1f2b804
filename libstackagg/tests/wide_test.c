/* SPDX-License-Identifier: Apache-2.0 */
/* Tests aggregates with more frames than 16 bits can number: stacks of small numbers together with
 * stacks of large ones. */
#include "support.h"

#include <stdlib.h>

enum { OTHERS = 70000, STACKS = 3000, MOST = 24 };

/* Adds frames that no stack has, so that the frames after them have large numbers. */
static void add_others(sagg *agg)
{
    uint32_t method, index;
    sagg_frame frame = {.class_name = str("other"), .method = str("o")};
    ck_assert_int_eq(sagg_add_method(agg, &method, &frame, NULL), 0);
    for (uint32_t line = 1; line <= OTHERS; line++)
        ck_assert_int_eq(sagg_add_line(agg, &index, method, line, NULL), 0);
}

/* Makes the frames of a random stack, leaf first; many stacks end alike. */
static uint32_t make_stack(sagg_frame *frames, uint32_t number)
{
    static const char *const names[] = {"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"};
    uint64_t state = number + 1;
    uint32_t count = next_random(&state, MOST);
    uint64_t trunk = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *from = count - i < MOST / 2 ? &trunk : &state;
        frames[i] =
            (sagg_frame){.class_name = str("a.B"), .method = str(names[next_random(from, 8)])};
        frames[i].line = 1 + next_random(from, 40);
    }
    return count;
}

static uint32_t add_numbered(sagg *agg, uint32_t number)
{
    sagg_frame frames[MOST];
    uint32_t known[MOST];
    uint32_t index;
    uint32_t count = make_stack(frames, number);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_int_eq(sagg_add_frame(agg, &known[i], &frames[i], NULL), 0);
    ck_assert_int_eq(sagg_add_stack(agg, &index, known, count, NULL), 0);
    add(agg, CPU, 0, index, 1 + number % 7);
    return index;
}

static void check_stack(const sagg *agg, uint32_t index, uint32_t number)
{
    sagg_frame wanted[MOST], found;
    sagg_stack_id id, got;
    sagg_stack row;
    uint32_t count = make_stack(wanted, number);
    ck_assert(sagg_stack_at(agg, index, &row));
    ck_assert_uint_eq(row.count, count);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert(sagg_frame_at(agg, sagg_stack_frame(&row, i), &found));
        ck_assert_uint_eq(found.line, wanted[i].line);
        ck_assert_mem_eq(found.method.data, wanted[i].method.data, wanted[i].method.size);
    }
    ck_assert_int_eq(sagg_stack_id_of(&id, wanted, count, 1, NULL), 0);
    ck_assert(sagg_stack_id_at(agg, index, &got));
    ck_assert_mem_eq(&id, &got, sizeof(id));
}

/* Adds all stacks; the other frames are added before stack `others`. */
static sagg *fill(const sagg_options *options, uint32_t others, uint32_t *indices)
{
    sagg *agg = make(options);
    for (uint32_t i = 0; i < STACKS; i++) {
        if (i == others)
            add_others(agg);
        indices[i] = add_numbered(agg, i);
    }
    return agg;
}

/* The stack before which the other frames are added: before all, so that few have small numbers;
 * among them; never. */
static const uint32_t places[] = {0, 3, 40, STACKS};

START_TEST(frames_of_any_number_come_back)
{
    static uint32_t indices[STACKS];
    sagg *agg = fill(NULL, places[_i], indices);
    uint32_t wide = 0;
    for (uint32_t i = 0; i < STACKS; i++) {
        sagg_stack row;
        check_stack(agg, indices[i], i);
        ck_assert_uint_eq(add_numbered(agg, i), indices[i]);
        ck_assert(sagg_stack_at(agg, indices[i], &row));
        wide += row.width == 4;
    }
    ck_assert(places[_i] == STACKS ? wide == 0 : wide > 0);
    sagg_free(agg);
}
END_TEST

START_TEST(outputs_do_not_depend_on_how_large_numbers_are)
{
    static uint32_t indices[STACKS];
    sagg_collapsed_options options = SAGG_COLLAPSED_OPTIONS_INIT;
    sagg *agg = fill(NULL, places[_i], indices);
    sagg *small = fill(NULL, STACKS, indices);
    sagg *merged = make(NULL);
    add_others(merged);
    ck_assert_int_eq(sagg_merge(merged, small, NULL), 0);
    for (int lines = 0; lines < 2; lines++) {
        options.lines = lines != 0;
        char *wanted = collapsed(small, CPU, &options);
        char *texts[] = {collapsed(agg, CPU, &options), collapsed(merged, CPU, &options)};
        for (size_t i = 0; i < 2; i++) {
            ck_assert(strcmp(texts[i], wanted) == 0);
            free(texts[i]);
        }
        free(wanted);
    }
    char *wanted = json(small, CPU, 0);
    char *text = json(agg, CPU, 0);
    ck_assert(strcmp(text, wanted) == 0);
    free(text);
    free(wanted);
    sagg_free(merged);
    sagg_free(small);
    sagg_free(agg);
}
END_TEST

START_TEST(compaction_moves_frames_of_any_number)
{
    static uint32_t indices[STACKS];
    sagg_options options = two_types();
    options.max_stacks = STACKS / 2;
    sagg *agg = fill(&options, places[_i], indices);
    for (uint32_t i = 1; i < STACKS; i += 3)
        add(agg, CPU, 0, indices[i], 1000);
    ck_assert_int_eq(sagg_compact(agg, NULL), 0);
    ck_assert_uint_le(sagg_stack_count(agg), STACKS / 2 + 1);
    for (uint32_t i = 1; i < STACKS; i += 3)
        check_stack(agg, add_numbered(agg, i), i);
    ck_assert_uint_le(sagg_stack_count(agg), STACKS / 2 + 1);
    sagg_free(agg);
}
END_TEST

int main(void)
{
    enum { PLACES = sizeof(places) / sizeof(places[0]) };
    Suite *suite = suite_create("wide");
    TCase *tcase = tcase_create("wide");
    tcase_add_loop_test(tcase, frames_of_any_number_come_back, 0, PLACES);
    tcase_add_loop_test(tcase, outputs_do_not_depend_on_how_large_numbers_are, 0, PLACES);
    tcase_add_loop_test(tcase, compaction_moves_frames_of_any_number, 0, PLACES);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
