/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    event_intervals events;
    bool off;
    uint64_t startup_delay_ms;
    uint64_t threads_ms;
} rule;

struct rule_set {
    rule **rules;
    size_t count;
    size_t room;
};

int events_parse(event_intervals *out, const char *text, char *message, size_t size)
{
    static const event_intervals defaults = {{[EVENT_CPU] = 10000000,
                                              [EVENT_ALLOC] = 2097152,
                                              [EVENT_LOCK] = 10000000,
                                              [EVENT_WALL] = 100000000,
                                              [EVENT_LIVE] = 2097152,
                                              [EVENT_NATIVEMEM] = 2097152}};
    char why[200] = "";
    if (event_intervals_parse(out, text, &defaults, why, sizeof(why)) != 0) {
        (void)snprintf(message, size, "events: %s", why);
        return -1;
    }
    return 0;
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
        return 0; /* matches any value */
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

/* Makes "Shop" of "com.example.Shop", and "shop" of "/srv/shop.jar". */
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
    out->off = one->off;
    out->events = one->events;
    out->startup_delay_ms = one->startup_delay_ms;
    out->threads_ms = one->threads_ms;
}
