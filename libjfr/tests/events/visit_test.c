/* SPDX-License-Identifier: Apache-2.0 */
#include "support/anything.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char seen[4096];
static jfr_visitor visitor;
static const char *skipped; /* a field that begin skips */

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
    size_t len = strlen(seen);
    va_list args;
    va_start(args, format);
    vsnprintf(seen + len, sizeof(seen) - len, format, args);
    va_end(args);
}

static void note_name(const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    if (value->is_element)
        note(" %u:", index);
    else if (field != NULL)
        note(" %.*s=", (int)field->name.len, field->name.data);
}

static int on_begin(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    (void)ctx;
    note_name(field, index, value);
    if (field != NULL && skipped != NULL && strlen(skipped) == field->name.len &&
        memcmp(skipped, field->name.data, field->name.len) == 0) {
        note("-");
        return 1;
    }
    note(value->kind == JFR_VARIANT_ARRAY ? "[" : "{");
    return 0;
}

static int on_end(void *ctx, const jfr_field *field, const jfr_variant *value)
{
    (void)ctx;
    (void)field;
    note(value->kind == JFR_VARIANT_ARRAY ? " ]" : " }");
    return 0;
}

static int on_scalar(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    (void)ctx;
    note_name(field, index, value);
    switch (value->kind) {
    case JFR_VARIANT_NULL:
        note("null");
        break;
    case JFR_VARIANT_STRING:
        note("%.*s", (int)value->text.len, value->text.data);
        break;
    case JFR_VARIANT_CUT:
        note("cut");
        break;
    case JFR_VARIANT_FLOAT:
    case JFR_VARIANT_DOUBLE:
        note("%g", value->number);
        break;
    default:
        note("%" PRId64, value->integer);
    }
    return 0;
}

static void setup(void)
{
    fixture_setup();
    w.rich = true;
    seen[0] = '\0';
    skipped = NULL;
    visitor = (jfr_visitor)JFR_VISITOR_INIT;
    visitor.begin = on_begin;
    visitor.end = on_end;
    visitor.scalar = on_scalar;
}

static int visit(const jfr_variant *value)
{
    return jfr_variant_visit(chunk, value, &visitor, &err);
}

#define THREAD                                                                                     \
    "{ osName=os-main osThreadId=1234 javaName=main javaThreadId=1"                                \
    " group={ parent=null name=workers } virtual=0 }"
#define CLASS  "{ name=java/util/HashMap modifiers=0 }"
#define METHOD "{ type=" CLASS " name=put descriptor=(I)V hidden=0 }"

START_TEST(whole_tree)
{
    jfr_event event = open_anything(_i == 1);
    ck_assert_int_eq(visit(&event.value), 0);
    ck_assert_str_eq(
        seen,
        "{ startTime=700 duration=250 flag=1 small=254 letter=120 amount=1000 ratio=0.1"
        " precise=-2.5 text=hi none=null pooled=pooled state=STATE_RUNNABLE eventThread=" THREAD
        " stackTrace={ truncated=0 frames=["
        " 0:{ method=" METHOD " lineNumber=42 bytecodeIndex=0 type=JIT compiled }"
        " 1:{ method=" METHOD " lineNumber=7 bytecodeIndex=0 type=Interpreted } ] }"
        " weird={ c=99 s=-1 f=0.5 d=0.25 inner={ type=" CLASS
        " name=put descriptor=(I)V hidden=1 } texts=[ 0:x 1:null ] bytes=[ 0:9 1:8 ]"
        " frames=[ 0:{ method=" METHOD " lineNumber=11 bytecodeIndex=0 type=JIT compiled } ] }"
        " numbers=[ 0:1 1:2 2:3 ] names=[ 0:a 1:b ] span=5 }");
}
END_TEST

static const char *const skippable[] = {"stackTrace", "weird", "inner", "frames",
                                        "numbers",    "names", "texts", "method"};

/* The values after a skipped one are read correctly, whether it is inline or a constant. */
START_TEST(passed_over)
{
    jfr_event event = open_anything(false);
    skipped = skippable[_i];
    ck_assert_int_eq(visit(&event.value), 0);
    char expected[64];
    snprintf(expected, sizeof(expected), " %s=-", skipped);
    ck_assert_ptr_nonnull(strstr(seen, expected));
    ck_assert_ptr_nonnull(strstr(seen, " span=5 }"));
    ck_assert_uint_eq(strlen(seen) - strlen(strstr(seen, " span=5 }")), strlen(seen) - 9);
}
END_TEST

START_TEST(deeper_than_max_depth_is_cut)
{
    jfr_event event = open_anything(false);
    visitor.max_depth = 2;
    ck_assert_int_eq(visit(&event.value), 0);
    ck_assert_ptr_nonnull(strstr(seen, " frames=cut"));
    ck_assert_ptr_nonnull(strstr(seen, " group=cut"));
    ck_assert_ptr_nonnull(strstr(seen, " inner=cut texts=cut bytes=cut frames=cut }"));
    ck_assert_ptr_nonnull(strstr(seen, " numbers=[ 0:1 1:2 2:3 ] names=[ 0:a 1:b ] span=5 }"));
}
END_TEST

START_TEST(more_than_max_values_fails)
{
    jfr_event event = open_anything(false);
    visitor.max_values = 20;
    ck_assert_int_eq(visit(&event.value), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_values"));
    visitor.max_values = 200;
    ck_assert_int_eq(visit(&event.value), 0);
}
END_TEST

START_TEST(constant_within_itself_is_null)
{
    begin_chunk(&w, &params);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_GROUP, 2);
    put_long(&w, 5);
    put_long(&w, 6);
    put_text(&w, "five");
    put_long(&w, 6);
    put_long(&w, 5);
    put_text(&w, "six");
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
    open_first_chunk();
    jfr_variant group;
    ck_assert_int_eq(jfr_chunk_constant(chunk, T_GROUP, 0, &group, &err), 0);
    ck_assert_int_eq(visit(&group), 0);
    ck_assert_str_eq(seen, "{ parent={ parent=null name=six } name=five }");
}
END_TEST

START_TEST(scalar_root)
{
    (void)open_anything(false);
    jfr_variant text;
    ck_assert_int_eq(jfr_chunk_constant(chunk, T_STRING, 0, &text, &err), 0);
    ck_assert_int_eq(visit(&text), 0);
    ck_assert_str_eq(seen, "pooled");
}
END_TEST

static int refuse(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    (void)ctx;
    (void)field;
    (void)index;
    (void)value;
    return -77;
}

START_TEST(callback_stops_the_visit)
{
    jfr_event event = open_anything(false);
    visitor.scalar = refuse;
    ck_assert_int_eq(visit(&event.value), -77);
    visitor.begin = refuse;
    ck_assert_int_eq(visit(&event.value), -77);
}
END_TEST

START_TEST(event_cut_short)
{
    jfr_event event = open_anything(false);
    event.value.end -= 1;
    ck_assert_int_eq(visit(&event.value), JFR_ERR_FORMAT);
}
END_TEST

START_TEST(visitor_is_checked)
{
    jfr_event event = open_anything(false);
    visitor.end = NULL;
    ck_assert_int_eq(visit(&event.value), JFR_ERR_USAGE);
    visitor.end = on_end;
    visitor.max_depth = 100000;
    ck_assert_int_eq(visit(&event.value), JFR_ERR_USAGE);
    visitor.max_depth = 0;
    visitor.size = 8;
    ck_assert_int_eq(visit(&event.value), JFR_ERR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("visit");
    TCase *t = tcase_create("visit");
    tcase_add_checked_fixture(t, setup, fixture_teardown);
    tcase_add_loop_test(t, whole_tree, 0, 2);
    tcase_add_loop_test(t, passed_over, 0, (int)(sizeof(skippable) / sizeof(skippable[0])));
    tcase_add_test(t, deeper_than_max_depth_is_cut);
    tcase_add_test(t, more_than_max_values_fails);
    tcase_add_test(t, constant_within_itself_is_null);
    tcase_add_test(t, scalar_root);
    tcase_add_test(t, callback_stops_the_visit);
    tcase_add_test(t, event_cut_short);
    tcase_add_test(t, visitor_is_checked);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
