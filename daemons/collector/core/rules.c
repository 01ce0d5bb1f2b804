/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPU_DEFAULT_NS = 10000000, ALLOC_DEFAULT_BYTES = 2097152, LOCK_DEFAULT_NS = 10000000 };

typedef struct expression {
    bool any;
    regex_t compiled;
} expression;

typedef struct rule {
    expression main_class;
    expression command_line;
    expression user;
    char namespace_name[64];
    char workload[254];
    event_choice events;
    bool off;
    uint64_t startup_delay_ms;
    uint64_t threads_ms;
} rule;

struct rule_set {
    rule **rules;
    size_t count;
    size_t room;
};

typedef struct scale {
    const char *suffix;
    uint64_t factor;
} scale;

static const scale times[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
static const scale sizes[] = {{"", 1}, {"k", 1024}, {"m", 1048576}, {"g", 1073741824}, {NULL, 0}};

static bool parse_amount(uint64_t *out, const char *text, size_t length, const scale *scales)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    size_t digits = (size_t)(end - text);
    if (text[0] < '0' || text[0] > '9' || errno != 0 || digits > length || number == 0)
        return false;
    for (; scales->suffix != NULL; scales++) {
        if (strlen(scales->suffix) == length - digits &&
            memcmp(end, scales->suffix, length - digits) == 0)
            return !__builtin_mul_overflow((uint64_t)number, scales->factor, out);
    }
    return false;
}

typedef struct event_kind {
    const char *name;
    size_t offset; /* of its interval in event_choice */
    uint64_t fallback;
    const scale *scales;
    const char *allowed;
} event_kind;

static const event_kind kinds[] = {
    {"cpu", offsetof(event_choice, cpu_ns), CPU_DEFAULT_NS, times, "a time such as 10ms"},
    {"alloc", offsetof(event_choice, alloc_bytes), ALLOC_DEFAULT_BYTES, sizes, "a size such as 2m"},
    {"lock", offsetof(event_choice, lock_ns), LOCK_DEFAULT_NS, times, "a time such as 10ms"},
};

static const event_kind *find_kind(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, text, length) == 0)
            return &kinds[i];
    }
    return NULL;
}

static int parse_event(event_choice *out, const char *text, size_t length, char *message,
                       size_t size)
{
    size_t name = strcspn(text, "=,");
    name = name < length ? name : length;
    const event_kind *kind = find_kind(text, name);
    if (kind == NULL) {
        (void)snprintf(message, size, "events: \"%.*s\" is not one of cpu, alloc, lock", (int)name,
                       text);
        return -1;
    }
    uint64_t amount = kind->fallback;
    if (name < length && !parse_amount(&amount, text + name + 1, length - name - 1, kind->scales)) {
        (void)snprintf(message, size, "events: \"%.*s\" takes %s", (int)length, text,
                       kind->allowed);
        return -1;
    }
    memcpy((char *)out + kind->offset, &amount, sizeof(amount));
    return 0;
}

int events_parse(event_choice *out, const char *text, char *message, size_t size)
{
    *out = (event_choice){0};
    for (;;) {
        size_t length = strcspn(text, ",");
        if (parse_event(out, text, length, message, size) != 0)
            return -1;
        if (text[length] == '\0')
            return 0;
        text += length + 1;
    }
}

rule_set *rule_set_new(void)
{
    return calloc(1, sizeof(rule_set));
}

static void free_expression(expression *one)
{
    if (!one->any)
        regfree(&one->compiled);
}

static void free_rule(rule *one)
{
    free_expression(&one->main_class);
    free_expression(&one->command_line);
    free_expression(&one->user);
    free(one);
}

void rule_set_free(rule_set *rules)
{
    if (rules == NULL)
        return;
    for (size_t i = 0; i < rules->count; i++)
        free_rule(rules->rules[i]);
    free(rules->rules);
    free(rules);
}

static int compile(expression *out, const char *key, const char *text, char *message, size_t size)
{
    if (text[0] == '\0')
        return 0; /* stays `any` */
    regex_t compiled;
    int rc = regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB);
    if (rc != 0) {
        char why[128];
        regerror(rc, NULL, why, sizeof(why));
        (void)snprintf(message, size, "%s: \"%.80s\" is not a regular expression: %s", key, text,
                       why);
        return -1;
    }
    out->compiled = compiled;
    out->any = false;
    return 0;
}

static int fill_rule(rule *one, const rule_text *from, char *message, size_t size)
{
    if (strlen(from->workload) >= sizeof(one->workload) ||
        strlen(from->namespace_name) >= sizeof(one->namespace_name)) {
        (void)snprintf(message, size, "workload takes at most %zu bytes, namespace %zu",
                       sizeof(one->workload) - 1, sizeof(one->namespace_name) - 1);
        return -1;
    }
    (void)snprintf(one->workload, sizeof(one->workload), "%s", from->workload);
    (void)snprintf(one->namespace_name, sizeof(one->namespace_name), "%s", from->namespace_name);
    one->off = from->off;
    one->startup_delay_ms = from->startup_delay_ms;
    one->threads_ms = from->threads_ms;
    if (compile(&one->main_class, "main_class", from->main_class, message, size) != 0 ||
        compile(&one->command_line, "command_line", from->command_line, message, size) != 0 ||
        compile(&one->user, "user", from->user, message, size) != 0)
        return -1;
    return events_parse(&one->events, from->events, message, size);
}

int rule_set_add(rule_set *rules, const rule_text *from, char *message, size_t size)
{
    rule *one = calloc(1, sizeof(*one));
    if (one == NULL ||
        array_reserve((void **)&rules->rules, &rules->room, rules->count,
                      /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
                      sizeof(*rules->rules)) != 0) {
        free(one);
        (void)snprintf(message, size, "out of memory");
        return -1;
    }
    one->main_class.any = one->command_line.any = one->user.any = true;
    if (fill_rule(one, from, message, size) != 0) {
        free_rule(one);
        return -1;
    }
    rules->rules[rules->count++] = one;
    return 0;
}

static bool fits(const expression *one, const char *text)
{
    return one->any || regexec(&one->compiled, text, 0, NULL, 0) == 0;
}

static bool rule_fits(const rule *one, const local_jvm *jvm, const char *user)
{
    char number[16];
    (void)snprintf(number, sizeof(number), "%u", jvm->uid);
    return fits(&one->main_class, jvm->main_class) && fits(&one->command_line, jvm->command_line) &&
           (fits(&one->user, user) || fits(&one->user, number));
}

/* "com.example.Shop" -> "Shop", "/srv/shop.jar" -> "shop". */
static void name_of(char *out, size_t size, const local_jvm *jvm)
{
    char text[sizeof(jvm->main_class)];
    (void)snprintf(text, sizeof(text), "%s", jvm->main_class);
    size_t length = strlen(text);
    if (length > 4 && strcmp(text + length - 4, ".jar") == 0)
        text[length - 4] = '\0';
    const char *word = strrchr(text, '/');
    word = word != NULL ? word + 1 : text;
    const char *dot = length > 4 && text[length - 4] == '\0' ? NULL : strrchr(word, '.');
    word = dot != NULL ? dot + 1 : word;
    if (word[0] != '\0')
        (void)snprintf(out, size, "%s", word);
    else
        (void)snprintf(out, size, "java-%u", jvm->id.host_pid);
}

static const rule *choose(const rule_set *rules, const local_jvm *jvm, const char *user)
{
    const rule *chosen = NULL;
    for (size_t i = 0; i < rules->count; i++) {
        const rule *one = rules->rules[i];
        if ((chosen == NULL || one->off) && rule_fits(one, jvm, user)) {
            if (one->off)
                return one;
            chosen = one;
        }
    }
    return chosen;
}

void rule_set_match(const rule_set *rules, const local_jvm *jvm, const char *user,
                    rule_verdict *out)
{
    *out = (rule_verdict){0};
    const rule *one = choose(rules, jvm, user);
    (void)snprintf(out->labels.workload_kind, sizeof(out->labels.workload_kind), "process");
    name_of(out->labels.workload, sizeof(out->labels.workload), jvm);
    if (one == NULL)
        return;
    (void)snprintf(out->labels.namespace_name, sizeof(out->labels.namespace_name), "%s",
                   one->namespace_name);
    if (one->workload[0] != '\0')
        (void)snprintf(out->labels.workload, sizeof(out->labels.workload), "%s", one->workload);
    out->profiled = !one->off;
    out->events = one->events;
    out->startup_delay_ms = one->startup_delay_ms;
    out->threads_ms = one->threads_ms;
}
