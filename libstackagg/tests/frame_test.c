/* SPDX-License-Identifier: Apache-2.0 */
/* Tests docs/formats/stack-id.md with the vectors of a second implementation. */
#include <jansson.h>
#include <stdlib.h>

#include "support.h"

static json_t *document;

static void load(void)
{
    json_error_t error;
    document = json_load_file(VECTORS, 0, &error);
    ck_assert_msg(document != NULL, "%s: %s", VECTORS, error.text);
}

static void unload(void)
{
    json_decref(document);
}

static size_t unhex(char *out, const char *hex)
{
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        ck_assert_int_eq(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (char)byte;
    }
    return size;
}

/* Returns the bytes of "key" or "key_hex", repeated "key_repeat" times; free data. */
static sagg_str name_of(const json_t *frame, const char *key)
{
    char variant[32];
    (void)snprintf(variant, sizeof(variant), "%s_repeat", key);
    size_t repeat = (size_t)json_integer_value(json_object_get(frame, variant));
    const json_t *plain = json_object_get(frame, key);
    (void)snprintf(variant, sizeof(variant), "%s_hex", key);
    const char *hex = json_string_value(json_object_get(frame, variant));
    size_t size = plain != NULL ? json_string_length(plain) : strlen(hex) / 2;
    repeat = repeat > 0 ? repeat : 1;
    char *data = malloc(size * repeat + 1);
    ck_assert_ptr_nonnull(data);
    if (plain != NULL)
        memcpy(data, json_string_value(plain), size);
    else
        (void)unhex(data, hex);
    for (size_t i = 1; i < repeat; i++)
        memcpy(data + i * size, data, size);
    return (sagg_str){data, size * repeat};
}

static uint64_t integer(const json_t *row, const char *key)
{
    return strtoull(json_string_value(json_object_get(row, key)), NULL, 16);
}

static void check_name(const json_t *row, const char *key, sagg_str got, const char *name)
{
    const json_t *want = json_object_get(row, key);
    if (want == NULL)
        return;
    ck_assert_msg(got.size == json_string_length(want) &&
                      memcmp(got.data, json_string_value(want), got.size) == 0,
                  "%s: %s is '%.*s', not '%s'", name, key, (int)got.size, got.data,
                  json_string_value(want));
}

static void check_frame(const json_t *row, const sagg_frame *given, int version, const char *name)
{
    sagg_frame normal = {0};
    sagg_frame again = {0};
    char *storage = NULL;
    char *storage_again = NULL;
    uint64_t method_hash, frame_id;
    ck_assert_int_eq(sagg_frame_normalise(&normal, &storage, given, version, NULL), 0);
    check_name(row, "normal_class", normal.class_name, name);
    check_name(row, "normal_method", normal.method, name);
    sagg_frame_hash(&method_hash, &frame_id, &normal);
    ck_assert_msg(method_hash == integer(row, "method_hash"), "%s: method hash", name);
    ck_assert_msg(frame_id == integer(row, "frame_id"), "%s: frame id", name);
    /* Normalising twice changes nothing. */
    ck_assert_int_eq(sagg_frame_normalise(&again, &storage_again, &normal, version, NULL), 0);
    ck_assert_msg(again.class_name.size == normal.class_name.size &&
                      again.method.size == normal.method.size,
                  "%s: not idempotent", name);
    free(storage);
    free(storage_again);
}

static void read_frames(const json_t *rows, sagg_frame *frames)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        frames[i] = (sagg_frame){
            .class_name = name_of(row, "class"),
            .method = name_of(row, "method"),
            .line = (uint32_t)json_integer_value(json_object_get(row, "line")),
            .kind = (uint8_t)json_integer_value(json_object_get(row, "kind")),
        };
    }
}

static void free_name(sagg_str name)
{
    free((void *)(uintptr_t)name.data);
}

/* Checks the id that an aggregate computes for the same stack. */
static void check_aggregate(const sagg_frame *frames, size_t count, int version, const char *want)
{
    sagg_options options = two_types();
    options.normaliser = version;
    sagg *agg = make(&options);
    uint32_t indices[64] = {0};
    uint32_t index;
    sagg_stack_id id;
    char hex[33];
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(sagg_add_frame(agg, &indices[i], &frames[i], NULL), 0);
    ck_assert_int_eq(sagg_add_stack(agg, &index, indices, count, NULL), 0);
    ck_assert(sagg_stack_id_at(agg, index, &id));
    sagg_stack_id_hex(hex, &id);
    ck_assert_str_eq(hex, want);
    sagg_free(agg);
}

START_TEST(vectors_hold)
{
    size_t i;
    json_t *row;
    ck_assert_int_eq(json_integer_value(json_object_get(document, "format")), 1);
    ck_assert_uint_gt(json_array_size(json_object_get(document, "cases")), 80);
    json_array_foreach(json_object_get(document, "cases"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        const char *want = json_string_value(json_object_get(row, "stack_id"));
        int version = (int)json_integer_value(json_object_get(row, "version"));
        const json_t *rows = json_object_get(row, "frames");
        size_t count = json_array_size(rows);
        sagg_frame frames[64] = {0};
        ck_assert_uint_le(count, 64);
        read_frames(rows, frames);
        for (size_t f = 0; f < count; f++)
            check_frame(json_array_get(rows, f), &frames[f], version, name);
        sagg_stack_id id;
        char hex[33];
        ck_assert_int_eq(sagg_stack_id_of(&id, frames, count, version, NULL), 0);
        sagg_stack_id_hex(hex, &id);
        ck_assert_msg(strcmp(hex, want) == 0, "%s: id %s, not %s", name, hex, want);
        check_aggregate(frames, count, version, want);
        for (size_t f = 0; f < count; f++) {
            free_name(frames[f].class_name);
            free_name(frames[f].method);
        }
    }
}
END_TEST

START_TEST(unknown_kinds_and_versions_are_refused)
{
    sagg_frame frame = {.kind = 5};
    sagg_stack_id id;
    sagg_error err = {0};
    ck_assert_int_eq(sagg_stack_id_of(&id, &frame, 1, 1, &err), SAGG_ERR_USAGE);
    ck_assert_int_eq(err.code, SAGG_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "kind 5"));
    ck_assert_int_eq(sagg_stack_id_of(&id, NULL, 0, 2, &err), SAGG_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "version 2"));
}
END_TEST

/* A hidden class, named by five JVM and recorder combinations, is one class. */
START_TEST(one_lambda_has_one_id)
{
    static const char *const names[] = {"T$$Lambda$1/1521118594", "T$$Lambda$3.0x0000000800001a00",
                                        "T$$Lambda$76+0x00000008000c6a08/1414506856",
                                        "T$$Lambda/0x0000000099142800",
                                        "T$$Lambda.0x000000009e080210"};
    sagg_stack_id first = {0};
    sagg_stack_id id = {0};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        sagg_frame frame = {.class_name = str(names[i]), .method = str("run"), .line = 3};
        ck_assert_int_eq(sagg_stack_id_of(i == 0 ? &first : &id, &frame, 1, 1, NULL), 0);
        if (i > 0)
            ck_assert_mem_eq(&id, &first, sizeof(id));
    }
}
END_TEST

/* 130 and 300 frames are hashed in pieces. */
START_TEST(ids_of_frame_ids_are_those_of_frames)
{
    static const size_t counts[] = {0, 1, 41, 128, 129, 300};
    sagg_frame frames[300];
    uint64_t ids[300];
    char names[300][8];
    for (uint32_t i = 0; i < 300; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "m%u", i);
        frames[i] = (sagg_frame){.class_name = str("a.B"), .method = str(names[i]), .line = i};
        sagg_frame_hash(NULL, &ids[i], &frames[i]);
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        sagg_stack_id whole, quick;
        ck_assert_int_eq(sagg_stack_id_of(&whole, frames, counts[i], 1, NULL), 0);
        ck_assert_int_eq(sagg_stack_id_of_frame_ids(&quick, ids, counts[i], 1, NULL), 0);
        ck_assert_mem_eq(whole.bytes, quick.bytes, sizeof(whole.bytes));
    }
    sagg_stack_id id;
    ck_assert_int_eq(sagg_stack_id_of_frame_ids(&id, ids, 1, 2, NULL), SAGG_ERR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frame");
    TCase *vectors = tcase_create("vectors");
    tcase_add_unchecked_fixture(vectors, load, unload);
    tcase_add_test(vectors, vectors_hold);
    tcase_add_test(vectors, ids_of_frame_ids_are_those_of_frames);
    suite_add_tcase(suite, vectors);
    TCase *rules = tcase_create("rules");
    tcase_add_test(rules, unknown_kinds_and_versions_are_refused);
    tcase_add_test(rules, one_lambda_has_one_id);
    suite_add_tcase(suite, rules);
    return run_suite(suite);
}
