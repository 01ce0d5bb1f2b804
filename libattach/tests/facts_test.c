/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the facts that a JVM states: command line, hsperfdata, release file; and its answer to
 * load. */
#include "run_suite.h"
#include "span.h"

#include <stdlib.h>
#include <string.h>

#include "jvm/hsperf_impl.h"
#include "jvm/jvm_facts_impl.h"
#include "proc/cgroup_limits_impl.h"
#include <attach/load_answer_impl.h>

#define ARGS(literal) attach__span_of(literal, sizeof(literal))

START_TEST(command_line_names_the_main_class)
{
    const struct {
        attach__span args;
        const char *main;
        const char *line;
        const char *program;
    } rows[] = {
        {ARGS("java\0-Xmx1g\0-cp\0a.jar:b.jar\0com.acme.Main\0arg"), "com.acme.Main",
         "java -Xmx1g -cp a.jar:b.jar com.acme.Main arg", "java"},
        {ARGS("/bin/java\0-jar\0/app/x.jar\0-v"), "/app/x.jar", "/bin/java -jar /app/x.jar -v", ""},
        {ARGS("java\0--module-path\0m\0-m\0mod/com.acme.Main"), "mod/com.acme.Main",
         "java --module-path m -m mod/com.acme.Main", ""},
        {ARGS("java\0@options\0Main"), "Main", "java @options Main", ""},
        {ARGS("java\0-jar"), "", "java -jar", ""},
        {ARGS("java"), "", "java", ""},
        {ARGS("shop\0-cp\0a.jar\0Main"), "Main", "shop -cp a.jar Main", "java"}, /* exec -a */
        {ARGS("./orders\0-java-home\0/usr/lib/jvm/x\0org.acme.Boot"), "orders",
         "./orders -java-home /usr/lib/jvm/x org.acme.Boot", ""},
        {ARGS("java\0-user\0t\0Boot"), "jsvc", "java -user t Boot", "jsvc"},
        {attach__span_of("", 0), "", "", ""},
    };
    for (int i = 0; i < ROWS(rows); i++) {
        attach_jvm jvm = {0};
        attach__flags flags = {0};
        attach__cmdline_read(&jvm, &flags, rows[i].args, rows[i].program);
        ck_assert_str_eq(jvm.main_class, rows[i].main);
        ck_assert_str_eq(jvm.command_line, rows[i].line);
    }
}
END_TEST

START_TEST(last_flag_counts)
{
    attach_jvm jvm = {0};
    attach__flags flags = {0};
    attach__cmdline_read(&jvm, &flags,
                         ARGS("java\0-XX:+DisableAttachMechanism\0-XX:-EnableDynamicAgentLoading\0"
                              "-XX:-DisableAttachMechanism\0Main\0-XX:+DisableAttachMechanism"),
                         "java");
    ck_assert(!flags.attach_disabled); /* arguments after the main class are the program's */
    ck_assert(flags.agent_loading_disabled);
}
END_TEST

START_TEST(flags_from_variables)
{
    static const char environment[] =
        "PATH=/bin\0JAVA_TOOL_OPTIONS=-Dx=y\t'-XX:+DisableAttachMechanism' \"-XX:+PerfDisableShared"
        "Mem\"\n-XX:-EnableDynamicAgentLoading\0X_JAVA_OPTIONS=-XX:-DisableAttachMechanism\0"
        "_JAVA_OPTIONS=-XX:+EnableDynamicAgentLoading -XX:+Unterminated'\0";
    attach__span text = ARGS(environment);
    attach__flags flags = {0};
    attach__flags_note_variable(&flags, text, "JAVA_TOOL_OPTIONS");
    ck_assert(flags.attach_disabled && flags.agent_loading_disabled && flags.perf_data_off);
    attach__flags_note_variable(&flags, text, "_JAVA_OPTIONS");
    ck_assert(flags.attach_disabled && !flags.agent_loading_disabled);
    attach__flags_note_words(&flags,
                             span("-XX:-DisableAttachMechanism -XX: -XX:+ -XX:=UsePerfData"));
    ck_assert(!flags.attach_disabled && flags.perf_data_off);
    attach__flags_note_words(&flags, span("-XX:-PerfDisableSharedMem"));
    ck_assert(!flags.perf_data_off);
    attach__flags_note(&flags, span("-XX:-UsePerfData"));
    ck_assert(flags.perf_data_off);
}
END_TEST

START_TEST(limits_are_read)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t bytes;
    } memory[] = {{"max\n", true, 0},
                  {"1073741824\n", true, 1073741824},
                  {"9223372036854771712\n", true, 0},
                  {"", false, 0},
                  {"-1\n", false, 0},
                  {"99999999999999999999\n", false, 0}};
    static const struct {
        const char *text;
        bool ok;
        uint32_t millis;
    } cpu[] = {{"max 100000\n", true, 0},
               {"50000 100000\n", true, 500},
               {"150000 100000", true, 1500},
               {"1 0\n", false, 0},
               {"50000\n", false, 0},
               {"", false, 0},
               {"18446744073709551615 1\n", false, 0}};
    for (int i = 0; i < ROWS(memory); i++) {
        uint64_t bytes = 1;
        ck_assert_int_eq(attach__limit_bytes(span(memory[i].text), &bytes), memory[i].ok);
        if (memory[i].ok)
            ck_assert_uint_eq(bytes, memory[i].bytes);
    }
    for (int i = 0; i < ROWS(cpu); i++) {
        uint32_t millis = 1;
        ck_assert_int_eq(attach__limit_cpu(span(cpu[i].text), &millis), cpu[i].ok);
        ck_assert_uint_eq(millis, cpu[i].millis);
    }
}
END_TEST

/* A file of hsperfdata 2.0 with string entries, little-endian. */
typedef struct perf_file {
    uint8_t bytes[1024];
    size_t n;
    uint32_t entries;
} perf_file;

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void add_entry(perf_file *f, const char *name, const char *value)
{
    uint8_t *e = f->bytes + f->n;
    uint32_t name_size = (uint32_t)strlen(name) + 1, value_size = (uint32_t)strlen(value) + 1;
    put_u32(e, 20 + name_size + value_size);
    put_u32(e + 4, 20);
    put_u32(e + 8, value_size);
    e[12] = 'B';
    put_u32(e + 16, 20 + name_size);
    memcpy(e + 20, name, name_size);
    memcpy(e + 20 + name_size, value, value_size);
    f->n += 20 + name_size + value_size;
    f->entries++;
    put_u32(f->bytes + 8, (uint32_t)f->n);
    put_u32(f->bytes + 28, f->entries);
}

static perf_file a_perf_file(void)
{
    static const uint8_t prologue[] = {0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1};
    perf_file f = {.n = 32};
    memcpy(f.bytes, prologue, sizeof(prologue));
    put_u32(f.bytes + 24, 32);
    add_entry(&f, "java.property.java.version", "17.0.9");
    add_entry(&f, "java.property.java.vm.vendor", "Acme");
    add_entry(&f, "sun.rt.javaCommand", "com.acme.Main -v x");
    add_entry(&f, "java.rt.vmArgs", "-Xmx1g -XX:-EnableDynamicAgentLoading");
    add_entry(&f, "sun.rt.jvmCapabilities", "0100000000");
    return f;
}

START_TEST(counters_are_read)
{
    perf_file f = a_perf_file();
    attach_jvm jvm = {0};
    attach__flags flags = {0};
    attach__hsperf_read(&jvm, &flags, attach__span_of((const char *)f.bytes, f.n));
    ck_assert_str_eq(jvm.version, "17.0.9");
    ck_assert_str_eq(jvm.vendor, "Acme");
    ck_assert_str_eq(jvm.main_class, "com.acme.Main");
    ck_assert(flags.agent_loading_disabled);
    ck_assert(flags.attach_disabled);
}
END_TEST

START_TEST(counters_with_any_byte_changed_do_no_harm)
{
    const perf_file f = a_perf_file();
    for (size_t at = 0; at < f.n; at++) {
        for (int value = 0; value < 256; value += 51) {
            uint8_t *copy = malloc(f.n); /* exact size: ASan and valgrind see a read beyond */
            attach_jvm jvm = {0};
            attach__flags flags = {0};
            ck_assert_ptr_nonnull(copy);
            memcpy(copy, f.bytes, f.n);
            copy[at] = (uint8_t)value;
            attach__hsperf_read(&jvm, &flags, attach__span_of((const char *)copy, f.n));
            free(copy);
        }
    }
}
END_TEST

static const struct {
    size_t at;
    uint8_t byte;
} bad_prologues[] = {{0, 0}, {4, 2}, {5, 1}, {7, 0}};

START_TEST(other_files_are_no_counters)
{
    perf_file f = a_perf_file();
    attach__hsperf file;
    f.bytes[bad_prologues[_i].at] = bad_prologues[_i].byte;
    ck_assert_int_eq(attach__hsperf_open(&file, f.bytes, f.n, NULL), ATTACH_ERR_FORMAT);
    ck_assert_int_eq(attach__hsperf_open(&file, f.bytes, 31, NULL), ATTACH_ERR_FORMAT);
}
END_TEST

START_TEST(release_fills_gaps)
{
    attach_jvm jvm = {.vendor = "known"};
    attach__release_read(&jvm, span("JAVA_VERSION=\"21.0.8\"\nIMPLEMENTOR=\"Acme\"\nX\nY=\nZ=\""));
    ck_assert_str_eq(jvm.version, "21.0.8");
    ck_assert_str_eq(jvm.vendor, "known");
}
END_TEST

/* Recorded from JDK 11, 17, 21 and 25; see docs/formats/attach.md. */
static const struct {
    int reply;
    const char *text;
    int rc;
    int agent_code;
    attach_reason reason;
} answers[] = {
    {0, "return code: 0\n", ATTACH_OK, 0, ATTACH_REASON_NONE},
    {0, "return code: 200\n", ATTACH_OK, 200, ATTACH_REASON_NONE},
    {0, "0\n", ATTACH_OK, 0, ATTACH_REASON_NONE},
    {-1, "/x.so was not loaded.\n/x.so: cannot open shared object file\n", ATTACH_ERR_TARGET, -1,
     ATTACH_REASON_LIBRARY_LOAD_FAILED},
    {0, "/x.so was not loaded.\n/x.so: cannot open shared object file\n", ATTACH_ERR_TARGET, -1,
     ATTACH_REASON_LIBRARY_LOAD_FAILED},
    {-1, "Dynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading",
     ATTACH_ERR_TARGET, -1, ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED},
    {0, "Dynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading\n",
     ATTACH_ERR_TARGET, -1, ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED},
    {0, "", ATTACH_ERR_TARGET, -1, ATTACH_REASON_LIBRARY_LOAD_FAILED},
    {0, "return code: 99999999999\n", ATTACH_ERR_TARGET, -1, ATTACH_REASON_LIBRARY_LOAD_FAILED},
    {102, "return code: 0\n", ATTACH_ERR_TARGET, -1, ATTACH_REASON_LIBRARY_LOAD_FAILED},
};

START_TEST(load_answers_are_read_as_text)
{
    int code = 0;
    attach_error err = {0};
    ck_assert_int_eq(
        attach__load_answer_read(&code, answers[_i].reply, span(answers[_i].text), &err),
        answers[_i].rc);
    if (answers[_i].rc == ATTACH_OK)
        ck_assert_int_eq(code, answers[_i].agent_code);
    ck_assert_int_eq(err.reason, answers[_i].reason);
}
END_TEST

START_TEST(reasons_have_names)
{
    for (int r = ATTACH_REASON_NONE; r <= ATTACH_REASON_THREAD_AGENT_ERROR; r++)
        ck_assert_int_eq(attach_reason_from_name(attach_reason_name((attach_reason)r)), r);
    ck_assert_int_eq(attach_reason_from_name("no such"), ATTACH_REASON_NONE);
    ck_assert_int_eq(attach_reason_from_name(NULL), ATTACH_REASON_NONE);
    ck_assert_str_eq(attach_reason_name((attach_reason)999), "none");
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("facts");
    tcase_add_test(tc, command_line_names_the_main_class);
    tcase_add_test(tc, last_flag_counts);
    tcase_add_test(tc, flags_from_variables);
    tcase_add_test(tc, limits_are_read);
    tcase_add_test(tc, counters_are_read);
    tcase_add_test(tc, counters_with_any_byte_changed_do_no_harm);
    tcase_add_loop_test(tc, other_files_are_no_counters, 0, ROWS(bad_prologues));
    tcase_add_test(tc, release_fills_gaps);
    tcase_add_loop_test(tc, load_answers_are_read_as_text, 0, ROWS(answers));
    tcase_add_test(tc, reasons_have_names);
    Suite *suite = suite_create("facts");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
