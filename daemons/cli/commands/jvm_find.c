/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/jvm_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

#define NAMED_MAX 5 /* how many candidates a complaint lists */

typedef bool (*fits_fn)(const attach_jvm *jvm, const char *wanted);

void jvm_short_name(char *out, size_t cap, const char *main_class)
{
    const char *slash = strrchr(main_class, '/');
    const char *name = slash == NULL ? main_class : slash + 1;
    size_t n = strlen(name);
    bool jar = n > 4 && strcmp(name + n - 4, ".jar") == 0;
    const char *dot = jar ? NULL : strrchr(name, '.');
    (void)snprintf(out, cap, "%s", dot == NULL ? name : dot + 1);
}

static bool is_whole(const attach_jvm *jvm, const char *wanted)
{
    return strcmp(jvm->main_class, wanted) == 0;
}

static bool is_last_part(const attach_jvm *jvm, const char *wanted)
{
    char name[sizeof(jvm->main_class)];
    jvm_short_name(name, sizeof(name), jvm->main_class);
    size_t n = strlen(wanted);
    return strcmp(name, wanted) == 0 ||
           (strncmp(name, wanted, n) == 0 && strcmp(name + n, ".jar") == 0);
}

static bool is_part(const attach_jvm *jvm, const char *wanted)
{
    return strstr(jvm->main_class, wanted) != NULL;
}

static size_t count(const attach_jvm_list *list, fits_fn fits, const char *wanted,
                    const attach_jvm **one)
{
    size_t n = 0;
    for (size_t i = 0; i < attach_jvm_list_count(list); i++) {
        const attach_jvm *jvm = attach_jvm_list_at(list, i);
        if (!fits(jvm, wanted))
            continue;
        *one = jvm;
        n++;
    }
    return n;
}

static void complain_of_several(const attach_jvm_list *list, fits_fn fits, const char *wanted,
                                size_t n)
{
    complain("%zu JVMs are called '%s': name one by its process id", n, wanted);
    size_t shown = 0;
    for (size_t i = 0; i < attach_jvm_list_count(list) && shown < NAMED_MAX; i++) {
        const attach_jvm *jvm = attach_jvm_list_at(list, i);
        if (!fits(jvm, wanted))
            continue;
        complain("  %d %s", jvm->identity.pid, jvm->main_class);
        shown++;
    }
}

static bool find_by_name(attach_jvm *out, const attach_jvm_list *list, const char *wanted)
{
    static const fits_fn rules[] = {is_whole, is_last_part, is_part};
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const attach_jvm *one = NULL;
        size_t n = count(list, rules[i], wanted, &one);
        if (n == 1) {
            *out = *one;
            return true;
        }
        if (n > 1) {
            complain_of_several(list, rules[i], wanted, n);
            return false;
        }
    }
    complain("no JVM is called '%s'; `hotstack ps` lists them", wanted);
    return false;
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

bool jvm_find(attach_jvm *out, const char *wanted)
{
    attach_error err = {0};
    attach_jvm_list *list = NULL;
    if (is_number(wanted)) {
        unsigned long pid = strtoul(wanted, NULL, 10);
        if (pid > 0 && pid <= INT32_MAX && attach_jvm_read(out, (int32_t)pid, NULL, &err) == 0)
            return true;
        complain("%s", err.message[0] == '\0' ? "that is no process id" : err.message);
        return false;
    }
    if (attach_jvm_list_read(&list, NULL, &err) != ATTACH_OK) {
        complain("%s", err.message);
        return false;
    }
    bool found = find_by_name(out, list, wanted);
    attach_jvm_list_free(list);
    return found;
}
