/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <stdio.h>
#include <string.h>

static const char *const profile_choices[] = {"continuous", "off", NULL};

static const config_field rule_fields[] = {
    {.key = "main_class",
     .type = CONFIG_STRING,
     .help = "POSIX extended regular expression on the main class, or the path of the jar; empty "
             "matches all."},
    {.key = "command_line",
     .type = CONFIG_STRING,
     .help = "Regular expression on the JVM's command line, its first 1,023 bytes; empty matches "
             "all."},
    {.key = "user",
     .type = CONFIG_STRING,
     .help = "Regular expression on the user's name or number; empty matches all."},
    {.key = "profile",
     .type = CONFIG_STRING,
     .fallback = "continuous",
     .choices = profile_choices,
     .help = "Whether to profile. A matching rule that says off wins, wherever it is in the list; "
             "else the "
             "first that matches."},
    {.key = "namespace",
     .type = CONFIG_STRING,
     .help = "Namespace under which the data is stored; at most 63 bytes."},
    {.key = "workload",
     .type = CONFIG_STRING,
     .help = "Name under which the data is stored; empty = the last word of the main class."},
    {.key = "events",
     .type = CONFIG_STRING,
     .fallback = "cpu,alloc,lock",
     .help = "What to record, with intervals: cpu=10ms, alloc=2m, lock=10ms; and where wanted "
             "wall=100ms, "
             "live=2m (with the allocations that it samples), nativemem=2m."},
    {.key = "startup_delay",
     .type = CONFIG_DURATION,
     .fallback = "10s",
     .max = 86400000,
     .help = "How long after its start a JVM is left alone."},
    {.key = "threads",
     .type = CONFIG_DURATION,
     .fallback = "60s",
     .max = 600000,
     .help = "Time between two thread snapshots, at least 1s; 0 = none."},
};

static const config_field fields[] = {
    {.key = "cluster",
     .type = CONFIG_STRING,
     .flags = CONFIG_REQUIRED,
     .fallback = "default",
     .help = "Name of the cluster, or group of hosts, under which data is stored; 1 to 253 bytes."},
    {.key = "node", .type = CONFIG_STRING, .help = "Name of this host; empty = its host name."},
    {.key = "instance",
     .type = CONFIG_STRING,
     .help = "This collector's own name, the same over restarts; empty = the node's."},
    {.key = "attachd.socket",
     .type = CONFIG_STRING,
     .flags = CONFIG_REQUIRED,
     .fallback = "/run/hotstack/attachd.sock",
     .help = "Socket of hotstack-attachd."},
    {.key = "backend.url",
     .type = CONFIG_STRING,
     .flags = CONFIG_REQUIRED,
     .fallback = "http://127.0.0.1:7700",
     .help = "The backend: http:// or https://, host and port."},
    {.key = "backend.token",
     .type = CONFIG_STRING,
     .flags = CONFIG_SECRET,
     .help = "Collector token. From a file (backend.token_file) it may change while the collector "
             "runs."},
    {.key = "backend.ca_file",
     .type = CONFIG_STRING,
     .help = "Certificates that vouch for the backend, PEM; empty = the system's."},
    {.key = "backend.timeout",
     .type = CONFIG_DURATION,
     .fallback = "30s",
     .min = 1000,
     .max = 600000,
     .help = "The longest that one call may take."},
    {.key = "rules",
     .type = CONFIG_RULES,
     .items = rule_fields,
     .item_count = sizeof(rule_fields) / sizeof(rule_fields[0]),
     .help = "Which JVMs are profiled, as what, and how. Without a rule none is."},
    {.key = "kubernetes.enabled",
     .type = CONFIG_BOOL,
     .fallback = "false",
     .help = "Whether annotations of pods and namespaces choose JVMs; needs node, and an account "
             "that may get, list and watch pods and namespaces."},
    {.key = "kubernetes.api_server",
     .type = CONFIG_STRING,
     .help = "The API server, https://HOST:PORT; empty = KUBERNETES_SERVICE_HOST and "
             "KUBERNETES_SERVICE_PORT of the environment."},
    {.key = "kubernetes.token_file",
     .type = CONFIG_STRING,
     .fallback = "/var/run/secrets/kubernetes.io/serviceaccount/token",
     .help = "Token for the API server, read anew for each request; empty = none."},
    {.key = "kubernetes.ca_file",
     .type = CONFIG_STRING,
     .fallback = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
     .help = "Certificates that vouch for the API server, PEM; empty = the system's."},
    {.key = "kubernetes.namespaces",
     .type = CONFIG_BOOL,
     .fallback = "true",
     .help = "Whether annotations of namespaces count; false = namespaces are not read, and the "
             "account needs pods alone."},
    {.key = "kubernetes.events",
     .type = CONFIG_STRING,
     .fallback = "cpu,alloc,lock",
     .help = "What to record where no hotstack.dev/events says otherwise."},
    {.key = "kubernetes.startup_delay",
     .type = CONFIG_DURATION,
     .fallback = "10s",
     .max = 86400000,
     .help = "How long after its start a JVM in a pod is left alone, where no "
             "hotstack.dev/startup-delay says otherwise."},
    {.key = "kubernetes.state_dir",
     .type = CONFIG_STRING,
     .fallback = "/var/lib/hotstack/collector",
     .help = "Directory for the file that remembers when each hotstack.dev/profile-for began."},
    {.key = "window.length",
     .type = CONFIG_DURATION,
     .fallback = "60s",
     .min = 1000,
     .max = 3600000,
     .help = "Length of a window, aligned to UTC."},
    {.key = "window.jitter",
     .type = CONFIG_DURATION,
     .fallback = "2s",
     .max = 3600000,
     .help = "Windows of different JVMs end up to this much apart; must be shorter than a window."},
    {.key = "discovery.interval",
     .type = CONFIG_DURATION,
     .fallback = "5s",
     .min = 500,
     .max = 600000,
     .help = "How often the host's JVMs are listed."},
    {.key = "session.operation_timeout",
     .type = CONFIG_DURATION,
     .fallback = "30s",
     .min = 1000,
     .max = 600000,
     .help = "The longest that one operation on a JVM may take."},
    {.key = "session.memlimit",
     .type = CONFIG_BYTES,
     .fallback = "64m",
     .min = 1048576,
     .help = "The most that the profiler may keep of stacks inside the JVM."},
    {.key = "session.rate_limit",
     .type = CONFIG_INT,
     .fallback = "10000",
     .min = 1,
     .max = INT32_MAX,
     .help = "The most events of one kind (cpu, alloc, lock ...) that the profiler records in one "
             "second in one JVM. It drops the rest, and each window tells how many."},
    {.key = "session.cooldown_min",
     .type = CONFIG_DURATION,
     .fallback = "10s",
     .min = 1000,
     .help = "Wait after a session's first failure; doubled from failure to failure."},
    {.key = "session.cooldown_max",
     .type = CONFIG_DURATION,
     .fallback = "10m",
     .min = 1000,
     .help = "The longest wait between two tries."},
    {.key = "session.leave",
     .type = CONFIG_BOOL,
     .fallback = "false",
     .help =
         "At the end leave sessions running, to be taken over by the next start without a gap."},
    {.key = "session.read_grace",
     .type = CONFIG_DURATION,
     .fallback = "20s",
     .max = 600000,
     .help = "How long at the end the last windows may take to be read. Those that are not read by "
             "then "
             "are lost, and the log says so."},
    {.key = "flush_interval",
     .type = CONFIG_DURATION,
     .fallback = "60s",
     .max = 300000,
     .help = "Time in which the windows of all JVMs become one batch. The backend's "
             "ingest.flush_interval is in force as soon as a heartbeat has been answered; this is "
             "for the time before."},
    {.key = "queue.dir",
     .type = CONFIG_STRING,
     .flags = CONFIG_REQUIRED,
     .fallback = "/var/lib/hotstack/collector/queue",
     .help = "Directory of batches that wait for the backend; its parent must exist."},
    {.key = "limits.queue_bytes",
     .type = CONFIG_BYTES,
     .fallback = "512m",
     .min = 65536,
     .help = "The most that waits there; past it the oldest batches are dropped and counted."},
    {.key = "limits.queue_batches",
     .type = CONFIG_INT,
     .fallback = "10000",
     .min = 1,
     .max = 1000000,
     .help = "The same as a number of batches."},
    {.key = "limits.targets",
     .type = CONFIG_INT,
     .fallback = "200",
     .min = 1,
     .max = 4096,
     .help = "JVMs profiled at once."},
    {.key = "limits.lanes",
     .type = CONFIG_INT,
     .fallback = "64",
     .min = 1,
     .max = 1024,
     .help = "Sessions and thread snapshots that are worked on at once, each on a thread of its "
             "own; the rest wait, the longest due first. At most limits.operations of "
             "hotstack-attachd."},
    {.key = "limits.workload_series",
     .type = CONFIG_INT,
     .fallback = "200",
     .max = 10000,
     .help = "Workloads of this node that metrics tell apart; the others are summed under the name "
             "[other]. A workload whose JVMs have ended makes room for another."},
    {.key = "limits.pods",
     .type = CONFIG_INT,
     .fallback = "1024",
     .min = 1,
     .max = 65536,
     .help = "Pods of this node that are known; JVMs of the rest are not profiled."},
    {.key = "limits.namespaces",
     .type = CONFIG_INT,
     .fallback = "4096",
     .min = 1,
     .max = 65536,
     .help = "Namespaces with hotstack.dev settings; those of the rest are not read."},
    {.key = "limits.api_event_bytes",
     .type = CONFIG_BYTES,
     .fallback = "4m",
     .min = 65536,
     .max = 67108864,
     .help = "One event of the API server; a larger one leads to a new list."},
    {.key = "limits.api_page_bytes",
     .type = CONFIG_BYTES,
     .fallback = "32m",
     .min = 65536,
     .max = 268435456,
     .help = "One page of a list of the API server; where one is larger, pages get fewer objects."},
    {.key = "limits.events",
     .type = CONFIG_INT,
     .fallback = "2000000",
     .min = 1000,
     .max = 1000000000,
     .help = "Events of one window whose stacks are told apart; those after them are summed as "
             "[dropped]."},
    {.key = "limits.stacks",
     .type = CONFIG_INT,
     .fallback = "20000",
     .min = 16,
     .max = 100000,
     .help = "Distinct stacks of one window; the heaviest stay, the rest is summed as [dropped]."},
    {.key = "limits.threads",
     .type = CONFIG_INT,
     .fallback = "2000",
     .min = 16,
     .max = 100000,
     .help = "Exact threads of one window; the rest is counted with their pools."},
    {.key = "limits.snapshot_threads",
     .type = CONFIG_INT,
     .fallback = "2000",
     .min = 16,
     .max = 100000,
     .help = "Threads of one thread snapshot; of more, deadlocked ones stay, then those with most "
             "CPU time since the snapshot before, then the oldest, and the answer says that it is "
             "short."},
    {.key = "limits.rows",
     .type = CONFIG_INT,
     .fallback = "20000",
     .min = 64,
     .max = 100000,
     .help = "Rows of one window and type; the heaviest stay, the rest is summed as [dropped]."},
    {.key = "limits.batch_rows",
     .type = CONFIG_INT,
     .fallback = "100000",
     .min = 64,
     .max = 100000,
     .help = "Rows of one batch."},
    {.key = "limits.batch_bytes",
     .type = CONFIG_BYTES,
     .fallback = "16m",
     .min = 65536,
     .help = "Bytes of one batch before compression."},
    {.key = "limits.parse_bytes",
     .type = CONFIG_BYTES,
     .fallback = "64m",
     .min = 1048576,
     .help = "Memory that reading one recording may take."},
    {.key = "upload.backoff_min",
     .type = CONFIG_DURATION,
     .fallback = "1s",
     .min = 10,
     .help = "Wait after a failed call; doubled from failure to failure, with jitter."},
    {.key = "upload.backoff_max",
     .type = CONFIG_DURATION,
     .fallback = "60s",
     .min = 10,
     .help = "The longest such wait; the backend may ask for a longer one."},
    {.key = "upload.grace",
     .type = CONFIG_DURATION,
     .fallback = "5s",
     .max = 600000,
     .help = "How long at the end the last batches may take; what is left stays in the queue."},
    {.key = "status.interval",
     .type = CONFIG_DURATION,
     .fallback = "60s",
     .min = 1000,
     .help = "Status reports go out on every change and at least this often; more often where the "
             "backend's status.silent_after is less than three times as long."},
    {.key = "heartbeat.interval",
     .type = CONFIG_DURATION,
     .fallback = "30s",
     .min = 1000,
     .help = "How often the collector says that it lives; more often where the backend's "
             "status.silent_after is less than three times as long."},
    {.key = "workers",
     .type = CONFIG_INT,
     .fallback = "4",
     .min = 1,
     .max = 64,
     .help = "Recordings that are read side by side. Each JVM's sessions and snapshots have "
             "threads of their own."},
    {.key = "listen.address",
     .type = CONFIG_STRING,
     .fallback = "127.0.0.1",
     .help = "Numeric address for /metrics, /healthz, /readyz and /v1/profile."},
    {.key = "listen.port",
     .type = CONFIG_INT,
     .fallback = "7701",
     .max = 65535,
     .help = "Its port; 0 = no listener."},
    {.key = "listen.token",
     .type = CONFIG_STRING,
     .flags = CONFIG_SECRET,
     .help = "Token that /metrics and the calls of /v1/profile take; empty = /metrics is open, and "
             "the calls are closed."},
    {.key = "sandbox",
     .type = CONFIG_BOOL,
     .fallback = "true",
     .help = "Whether the collector enters a seccomp filter at its start; the log names system "
             "calls that it refuses."},
    {.key = "socket",
     .type = CONFIG_STRING,
     .help = "Socket for `hotstack collector status`, an absolute path of at most 100 bytes; empty "
             "= collector.sock beside queue.dir."},
    {.key = "debug.keep_recordings",
     .type = CONFIG_STRING,
     .help = "For tests: a directory where copies of all recordings are kept."},
    {.key = "debug.ledger",
     .type = CONFIG_STRING,
     .help = "For tests: a file where each batch that the backend settled is a JSON line."},
};

const config_program collector_program = {
    .name = "hotstack-collector",
    .version = HOTSTACK_VERSION,
    .summary =
        "Profiles the JVMs of this host that its rules choose, through hotstack-attachd, and "
        "sends the profiles to a Hotstack backend.",
    .default_file = "/etc/hotstack/collector.yaml",
    .fields = fields,
    .count = sizeof(fields) / sizeof(fields[0]),
};

rule_set *settings_rules(const config *loaded, char *message, size_t size)
{
    const config_section *settings = config_values(loaded);
    rule_set *rules = rule_set_new();
    if (rules == NULL) {
        (void)snprintf(message, size, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < config_rule_count(settings, "rules"); i++) {
        const config_section *one = config_rule(settings, "rules", i);
        const rule_text text = {
            .main_class = config_string(one, "main_class"),
            .command_line = config_string(one, "command_line"),
            .user = config_string(one, "user"),
            .namespace_name = config_string(one, "namespace"),
            .workload = config_string(one, "workload"),
            .events = config_string(one, "events"),
            .off = strcmp(config_string(one, "profile"), "off") == 0,
            .startup_delay_ms = (uint64_t)config_duration_ms(one, "startup_delay"),
            .threads_ms = (uint64_t)config_duration_ms(one, "threads"),
        };
        char why[256] = "";
        if (rule_set_add(rules, &text, why, sizeof(why)) != 0) {
            (void)snprintf(message, size, "%s:%u: rules[%zu]: %s", config_file(loaded),
                           config_line(settings, "rules"), i, why);
            rule_set_free(rules);
            return NULL;
        }
    }
    return rules;
}

int settings_pods(const config *loaded, pods_options *out, char *message, size_t size)
{
    enum { TEMPORARY_MS = 10000, SNAPSHOTS_MS = 60000, TEMPORARY_SNAPSHOTS_MS = 5000 };
    const config_section *settings = config_values(loaded);
    uint64_t window = (uint64_t)config_duration_ms(settings, "window.length");
    char why[200] = "";
    *out = (pods_options){
        .max_pods = (size_t)config_int(settings, "limits.pods"),
        .max_namespaces = config_bool(settings, "kubernetes.namespaces")
                              ? (size_t)config_int(settings, "limits.namespaces")
                              : 0,
        .defaults =
            {
                .startup_delay_ms =
                    (uint64_t)config_duration_ms(settings, "kubernetes.startup_delay"),
                .continuous_interval_ms = window,
                .temporary_interval_ms = window < TEMPORARY_MS ? window : TEMPORARY_MS,
                .continuous_threads_ms = SNAPSHOTS_MS,
                .temporary_threads_ms = TEMPORARY_SNAPSHOTS_MS,
            },
    };
    if (config_string(settings, "node")[0] == '\0') {
        (void)snprintf(message, size,
                       "kubernetes.enabled needs node: set HOTSTACK_NODE from the pod's "
                       "spec.nodeName");
        return -1;
    }
    if (events_parse(&out->defaults.events, config_string(settings, "kubernetes.events"), why,
                     sizeof(why)) == 0)
        return 0;
    (void)snprintf(message, size, "kubernetes.%s", why);
    return -1;
}

collector_options settings_collector(const config_section *settings)
{
    uint32_t window = (uint32_t)config_duration_ms(settings, "window.length");
    uint32_t jitter = (uint32_t)config_duration_ms(settings, "window.jitter");
    return (collector_options){
        .window_ms = window,
        .jitter_ms = jitter < window ? jitter : window - 1,
        .discovery_ms = (uint64_t)config_duration_ms(settings, "discovery.interval"),
        .flush_ms = (uint64_t)config_duration_ms(settings, "flush_interval"),
        .cooldown_min_ms = (uint64_t)config_duration_ms(settings, "session.cooldown_min"),
        .cooldown_max_ms = (uint64_t)config_duration_ms(settings, "session.cooldown_max"),
        .call_ms = (uint32_t)config_duration_ms(settings, "session.operation_timeout"),
        .memlimit_bytes = config_bytes(settings, "session.memlimit"),
        .rate_limit = (uint32_t)config_int(settings, "session.rate_limit"),
        .max_targets = (uint32_t)config_int(settings, "limits.targets"),
        .max_workloads = (uint32_t)config_int(settings, "limits.workload_series"),
        .max_snapshot_threads = (uint32_t)config_int(settings, "limits.snapshot_threads"),
        .max_lanes = (uint32_t)config_int(settings, "limits.lanes"),
        .max_rows_per_part = (size_t)config_int(settings, "limits.rows"),
        .limits = {.rows = (uint64_t)config_int(settings, "limits.batch_rows"),
                   .payload_bytes = config_bytes(settings, "limits.batch_bytes")},
    };
}

uploader_options settings_uploader(const config_section *settings)
{
    enum { STATUS_GAP_MS = 1000 };
    return (uploader_options){
        .backoff_min_ms = (uint64_t)config_duration_ms(settings, "upload.backoff_min"),
        .backoff_max_ms = (uint64_t)config_duration_ms(settings, "upload.backoff_max"),
        .status_interval_ms = (uint64_t)config_duration_ms(settings, "status.interval"),
        .status_gap_ms = STATUS_GAP_MS,
        .heartbeat_interval_ms = (uint64_t)config_duration_ms(settings, "heartbeat.interval"),
    };
}
