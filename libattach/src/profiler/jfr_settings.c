/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/jfr_settings_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MS                1000000u
#define SHORTEST_PERIOD   ((uint64_t)10 * MS) /* the shortest that every version supports */
#define FIRST_WITH_SAMPLE 16                  /* first release with jdk.ObjectAllocationSample */

typedef struct writer {
    char *p;
    size_t n;
} writer;

__attribute__((format(printf, 2, 3))) static void add(writer *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->p + t->n, ATTACH__JFR_SETTINGS_MAX - t->n, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < ATTACH__JFR_SETTINGS_MAX - t->n)
        t->n += (size_t)n;
}

static void add_setting(writer *t, const char *name, const char *value)
{
    add(t, "    <setting name=\"%s\">%s</setting>\n", name, value);
}

/* Adds an event with stacks and one more setting; `name` NULL = no other setting. */
static void add_event(writer *t, const char *event, const char *name, const char *value)
{
    add(t, "  <event name=\"%s\">\n", event);
    add_setting(t, "enabled", "true");
    add_setting(t, "stackTrace", "true");
    if (name != NULL)
        add_setting(t, name, value);
    add(t, "  </event>\n");
}

static void add_allocation(writer *t, unsigned java_release)
{
    if (java_release >= FIRST_WITH_SAMPLE) {
        add_event(t, "jdk.ObjectAllocationSample", "throttle", "300/s");
        return;
    }
    add_event(t, "jdk.ObjectAllocationInNewTLAB", NULL, NULL);
    add_event(t, "jdk.ObjectAllocationOutsideTLAB", NULL, NULL);
}

size_t attach__jfr_settings(char out[ATTACH__JFR_SETTINGS_MAX], const attach__marker *marker,
                            unsigned java_release)
{
    writer t = {out, 0};
    char value[40];
    add(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<configuration version=\"2.0\" label=\"Hotstack\" provider=\"Hotstack\">\n");
    add_event(&t, "jdk.ActiveRecording", NULL, NULL);
    add_event(&t, "jdk.ActiveSetting", NULL, NULL);
    add_event(&t, "jdk.JVMInformation", NULL, NULL);
    if (marker->cpu_interval_ns > 0) {
        uint64_t period =
            marker->cpu_interval_ns < SHORTEST_PERIOD ? SHORTEST_PERIOD : marker->cpu_interval_ns;
        (void)snprintf(value, sizeof(value), "%" PRIu64 " ms", period / MS);
        add_event(&t, "jdk.ExecutionSample", "period", value);
    }
    if (marker->alloc_bytes > 0)
        add_allocation(&t, java_release);
    if (marker->lock_ns > 0) {
        (void)snprintf(value, sizeof(value), "%" PRIu64 " ns", marker->lock_ns);
        add_event(&t, "jdk.JavaMonitorEnter", "threshold", value);
        add_event(&t, "jdk.ThreadPark", "threshold", value);
    }
    add(&t, "</configuration>\n");
    return t.n;
}

unsigned attach__jfr_java_release(attach__span text)
{
    static const char prefix[] = "JDK ";
    attach__span line, number;
    while (attach__next_line(&text, &line)) {
        uint32_t release = 0;
        if (!attach__span_starts(line, prefix))
            continue;
        line = attach__span_skip(line, sizeof(prefix) - 1);
        size_t digits = 0;
        while (digits < line.n && line.p[digits] >= '0' && line.p[digits] <= '9')
            digits++;
        number = attach__span_of(line.p, digits);
        if (attach__parse_u32(number, &release))
            return release;
    }
    return 0;
}
