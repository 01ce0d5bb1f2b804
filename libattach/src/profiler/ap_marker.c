/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ap_marker_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "error_impl.h"

#define FIRST_LINE "hotstack-session 1"

static const char *const engine_names[] = {
    [ATTACH_AP_ENGINE_AUTO] = "auto",     [ATTACH_AP_ENGINE_PERF] = "perf_events",
    [ATTACH_AP_ENGINE_CTIMER] = "ctimer", [ATTACH_AP_ENGINE_ITIMER] = "itimer",
    [ATTACH_AP_ENGINE_OFF] = "off",       [ATTACH_AP_ENGINE_JFR] = "jfr",
};

static const char *const recorder_names[] = {
    [ATTACH_AP_RECORDER_AUTO] = "auto",
    [ATTACH_AP_RECORDER_ASYNC_PROFILER] = "async-profiler",
    [ATTACH_AP_RECORDER_JFR] = "jfr",
};

#define N_RECORDERS (sizeof(recorder_names) / sizeof(recorder_names[0]))

#define N_ENGINES (sizeof(engine_names) / sizeof(engine_names[0]))

const char *attach_ap_engine_name(attach_ap_engine engine)
{
    return (unsigned)engine < N_ENGINES ? engine_names[engine] : "auto";
}

const char *attach_ap_recorder_name(attach_ap_recorder recorder)
{
    return (unsigned)recorder < N_RECORDERS ? recorder_names[recorder] : "auto";
}

static bool recorder_from_name(attach__span name, attach_ap_recorder *out)
{
    for (size_t i = 0; i < N_RECORDERS; i++) {
        if (attach__span_is(name, recorder_names[i])) {
            *out = (attach_ap_recorder)i;
            return true;
        }
    }
    return false;
}

bool attach__engine_from_name(attach__span name, attach_ap_engine *out)
{
    for (size_t i = 0; i < N_ENGINES; i++) {
        if (attach__span_is(name, engine_names[i])) {
            *out = (attach_ap_engine)i;
            return true;
        }
    }
    return false;
}

const char *attach_ap_state_name(attach_ap_state state)
{
    static const char *const names[] = {
        [ATTACH_AP_NONE] = "none",         [ATTACH_AP_OWNED] = "owned",
        [ATTACH_AP_ADOPTED] = "adopted",   [ATTACH_AP_ORPHANED] = "orphaned",
        [ATTACH_AP_EXTERNAL] = "external", [ATTACH_AP_UNKNOWN] = "unknown",
    };
    return (unsigned)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

bool attach__is_installation_id(attach__span id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!((id.p[i] >= 'a' && id.p[i] <= 'z') || (id.p[i] >= '0' && id.p[i] <= '9')))
            return false;
    return id.n > 0 && id.n <= ATTACH_INSTALLATION_MAX;
}

static bool parse_time(attach__span value, int64_t *out)
{
    uint64_t ms = 0;
    if (!attach__parse_u64(value, 10, &ms) || ms > INT64_MAX)
        return false;
    *out = (int64_t)ms;
    return true;
}

static bool parse_pid(attach__span value, int32_t *out)
{
    uint32_t pid = 0;
    if (!attach__parse_u32(value, &pid) || pid == 0 || pid > INT32_MAX)
        return false;
    *out = (int32_t)pid;
    return true;
}

static bool take_number(attach__marker *out, attach__span key, attach__span value)
{
    const struct {
        const char *key;
        uint64_t *slot;
    } numbers[] = {
        {"start_ticks", &out->identity.start_ticks},
        {"namespace", &out->namespace_id},
        {"cpu_interval_ns", &out->cpu_interval_ns},
        {"alloc_bytes", &out->alloc_bytes},
        {"lock_ns", &out->lock_ns},
        {"memlimit_bytes", &out->memlimit_bytes},
        {"rate_limit", &out->rate_limit},
        {"wall_ns", &out->wall_ns},
        {"nativemem_bytes", &out->nativemem_bytes},
        {"live", &out->live},
        {"absent", &out->absent},
        {"handed", &out->handed},
        {"skipped", &out->skipped},
        {"until_ns", &out->until_ns},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (attach__span_is(key, numbers[i].key))
            return attach__parse_u64(value, 10, numbers[i].slot);
    return true; /* a key of a later version */
}

static bool take(attach__marker *out, attach__span key, attach__span value)
{
    if (attach__span_is(key, "installation"))
        return attach__is_installation_id(value) &&
               attach__copy_exact(out->installation, sizeof(out->installation), value);
    if (attach__span_is(key, "boot_id"))
        return attach__copy_exact(out->identity.boot_id, sizeof(out->identity.boot_id), value);
    if (attach__span_is(key, "pid"))
        return parse_pid(value, &out->identity.pid);
    if (attach__span_is(key, "wanted"))
        return attach__engine_from_name(value, &out->wanted);
    if (attach__span_is(key, "engine"))
        return attach__engine_from_name(value, &out->engine);
    if (attach__span_is(key, "engine_reason")) {
        attach__copy_text(out->engine_reason, sizeof(out->engine_reason), value);
        return true;
    }
    if (attach__span_is(key, "absent_reason")) {
        attach__copy_text(out->absent_reason, sizeof(out->absent_reason), value);
        return true;
    }
    if (attach__span_is(key, "recorder"))
        return recorder_from_name(value, &out->recorder);
    if (attach__span_is(key, "owner")) {
        attach__copy_text(out->owner, sizeof(out->owner), value);
        return true;
    }
    if (attach__span_is(key, "started_ms"))
        return parse_time(value, &out->started_ms);
    if (attach__span_is(key, "until_ms"))
        return parse_time(value, &out->until_ms);
    return take_number(out, key, value);
}

int attach__marker_parse(attach__marker *out, attach__span text, attach_error *err)
{
    attach__span rest = text, line, key;
    memset(out, 0, sizeof(*out));
    if (!attach__next_line(&rest, &line) || !attach__span_is(line, FIRST_LINE))
        return attach__fail_at(err, ATTACH_ERR_FORMAT, 0, "the marker is not of version 1");
    while (attach__next_line(&rest, &line)) {
        uint64_t at = (uint64_t)(line.p - text.p);
        if (!attach__next_field(&line, ' ', &key) || !take(out, key, line))
            return attach__fail_at(err, ATTACH_ERR_FORMAT, at, "the marker has a malformed line");
    }
    if (out->installation[0] == '\0' || out->identity.pid == 0)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, text.n, "the marker is cut short");
    return ATTACH_OK;
}

size_t attach__marker_format(char buf[ATTACH__MARKER_MAX], const attach__marker *marker)
{
    int n = snprintf(
        buf, ATTACH__MARKER_MAX,
        FIRST_LINE
        "\ninstallation %s\nboot_id %s\npid %d\nstart_ticks %" PRIu64 "\nnamespace %" PRIu64
        "\nwanted %s\nengine %s\nengine_reason %s\ncpu_interval_ns %" PRIu64
        "\nalloc_bytes %" PRIu64 "\nlock_ns %" PRIu64 "\nmemlimit_bytes %" PRIu64
        "\nstarted_ms %" PRId64 "\nuntil_ms %" PRId64 "\nhanded %" PRIu64 "\nuntil_ns %" PRIu64
        "\nrate_limit %" PRIu64 "\nskipped %" PRIu64 "\nwall_ns %" PRIu64
        "\nnativemem_bytes %" PRIu64 "\nlive %" PRIu64 "\nabsent %" PRIu64
        "\nabsent_reason %s\nrecorder %s\nowner %s\n",
        marker->installation, marker->identity.boot_id, marker->identity.pid,
        marker->identity.start_ticks, marker->namespace_id, attach_ap_engine_name(marker->wanted),
        attach_ap_engine_name(marker->engine), marker->engine_reason, marker->cpu_interval_ns,
        marker->alloc_bytes, marker->lock_ns, marker->memlimit_bytes, marker->started_ms,
        marker->until_ms, marker->handed, marker->until_ns, marker->rate_limit, marker->skipped,
        marker->wall_ns, marker->nativemem_bytes, marker->live, marker->absent,
        marker->absent_reason, attach_ap_recorder_name(marker->recorder), marker->owner);
    return n < 0 ? 0 : (size_t)n;
}
