/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/profilers_impl.h"

#include <stddef.h>

/*
 * Agents that contain async-profiler, each with a part of the path to which it unpacks the library:
 * Pyroscope "<tmp>/<user>-pyroscope<n>/", Alloy "<tmp>/alloy-asprof-...", Coroot "/tmp/coroot...",
 * gProfiler "/tmp/gprofiler_tmp/", Elastic "<tmp>/elastic-apm...", OpenTelemetry's extension
 * "inferred".
 */
static const struct {
    const char *part;
    attach__profiler profiler;
} owners[] = {
    {"-pyroscope", {"Pyroscope", false}}, {"/alloy-", {"Grafana Alloy", false}},
    {"/coroot", {"Coroot", false}},       {"/gprofiler", {"gProfiler", false}},
    {"elastic", {"Elastic APM", false}},  {"inferred", {"OpenTelemetry", false}},
};

static bool is_library(attach__span base, const char *name)
{
    return attach__span_starts(base, name) && attach__span_find(base, ".so") >= 0;
}

const attach__profiler *attach__profiler_of(attach__span path)
{
    static const attach__profiler datadog = {"Datadog", false};
    static const attach__profiler plain = {"async-profiler", true};
    attach__span base = attach__span_basename(path);
    if (is_library(base, "libjavaProfiler"))
        return &datadog;
    if (!is_library(base, "libasyncProfiler"))
        return NULL;
    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
        if (attach__span_find(path, owners[i].part) >= 0)
            return &owners[i].profiler;
    return &plain;
}
