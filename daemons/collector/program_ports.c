/* SPDX-License-Identifier: Apache-2.0 */
/* The ports of the core and of the uploader, from the adapters that the program holds. */
#include "adapters/snapshot_reader.h"
#include "program_impl.h"

#include <base/clock.h>
#include <base/hex.h>
#include <base/log.h>

#include <pwd.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

uint64_t program__random(void *context)
{
    (void)context;
    uint64_t number = 0;
    while (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        continue;
    return number;
}

static bool submit(void *context, void (*job)(void *argument), void *argument)
{
    program *self = context;
    return jobs_submit(self->running, job, argument);
}

static void wake_scheduler(void *context)
{
    const program *self = context;
    (void)eventfd_write(self->wake, 1);
}

static void wake_uploader(void *context)
{
    program *self = context;
    pthread_mutex_lock(&self->lock);
    self->upload_asked = true;
    pthread_cond_signal(&self->upload_wake);
    pthread_mutex_unlock(&self->lock);
}

static void status_changed(void *context)
{
    program *self = context;
    uploader_status_changed(self->uploads);
    wake_uploader(self);
}

static int call(void *context, const local_request *request, local_answer *answer, char *message,
                size_t size)
{
    program *self = context;
    localrpc_error err = {0};
    int rc = localrpc_client_call(self->attachd, request, answer, &err);
    if (rc == LOCALRPC_OK)
        return CALL_DONE;
    (void)snprintf(message, size, "%s", err.message);
    return rc == LOCALRPC_ERR_TIMEOUT ? CALL_TIMED_OUT : CALL_UNREACHABLE;
}

static int new_file(void *context)
{
    (void)context;
    return memfd_create("hotstack-recording", MFD_CLOEXEC);
}

static int append(void *context, int file, const uint8_t *bytes, size_t length)
{
    (void)context;
    for (size_t used = 0; used < length;) {
        ssize_t wrote = write(file, bytes + used, length - used);
        if (wrote <= 0)
            return -1;
        used += (size_t)wrote;
    }
    return 0;
}

static void close_file(void *context, int file)
{
    (void)context;
    close(file);
}

static uint64_t recording_start_ms(void *context, int fd)
{
    program *self = context;
    return reader_start_ms(&self->recordings, fd);
}

static int parse(void *context, void **memory, int fd, uint64_t size, const window_span *span,
                 const event_intervals *events, profile *out, char *message, size_t message_size)
{
    program *self = context;
    while (sem_wait(&self->parsers) != 0)
        continue; /* a signal came */
    int rc =
        reader_parse(&self->recordings, memory, fd, size, span, events, out, message, message_size);
    sem_post(&self->parsers);
    return rc;
}

static void forget(void *context, void *memory)
{
    program *self = context;
    reader_forget(&self->recordings, memory);
}

static void keep(void *context, int fd, uint64_t size, const queue_position *from)
{
    program *self = context;
    reader_keep(&self->recordings, fd, size, from);
}

static void user_name(void *context, uint32_t uid, char *out, size_t size)
{
    (void)context;
    struct passwd entry;
    struct passwd *found = NULL;
    char room[4096];
    if (getpwuid_r(uid, &entry, room, sizeof(room), &found) == 0 && found != NULL)
        (void)snprintf(out, size, "%s", entry.pw_name);
    else
        (void)snprintf(out, size, "%u", uid);
}

static bool decide(void *context, const local_jvm *jvm, target_labels *labels, policy_decision *out)
{
    const program *self = context;
    return self->pods != NULL && pods_decide(kubernetes_pods(self->pods), jvm, labels, out);
}

static int encode(void *context, const batch *one, uint8_t **out, size_t *length)
{
    const program *self = context;
    return wire_encode(self->contract, one, out, length);
}

static int decode(void *context, const uint8_t *entry, size_t length, batch *out)
{
    const program *self = context;
    return wire_decode(self->contract, entry, length, out);
}

static int pack_entry(void *context, const uint8_t *entry, size_t length, bool all_stacks,
                      const entry_tries *tries, uint8_t **out, size_t *out_length)
{
    const program *self = context;
    return wire_pack_entry(self->contract, entry, length, all_stacks, tries, out, out_length);
}

static int note_stored(void *context, const uint8_t *entry, size_t length, entry_sums *sums)
{
    const program *self = context;
    return wire_note_stored(self->contract, entry, length, sums);
}

static int encode_status(void *context, const status_report *report, uint8_t **out, size_t *length)
{
    const program *self = context;
    return wire_encode_status(self->contract, report, out, length);
}

static int encode_heartbeat(void *context, const heartbeat *beat, uint8_t **out, size_t *length)
{
    const program *self = context;
    return wire_encode_heartbeat(self->contract, beat, out, length);
}

static void post(void *context, enum upload_call kind, const uint8_t *bytes, size_t length,
                 upload_answer *out)
{
    const program *self = context;
    transport_post(self->http, kind, bytes, length, out);
    if (out->has_limits)
        collector_set_limits(self->core, &out->limits, out->flush_interval_ms);
}

static uint64_t token_generation(void *context)
{
    const program *self = context;
    return transport_token_generation(self->http);
}

static void snapshot(void *context, status_report *out)
{
    const program *self = context;
    collector_snapshot(self->core, out);
}

static void reported(void *context, const status_report *report)
{
    const program *self = context;
    collector_exits_told(self->core, report->exited);
}

static void settled(void *context, const entry_sums *sums, const char *code)
{
    const program *self = context;
    if (self->ledger == NULL)
        return;
    char id[2 * BATCH_ID_SIZE + 1];
    (void)hex_write(id, sums->id, BATCH_ID_SIZE);
    (void)fprintf(self->ledger, "{\"batch\":\"%s\",\"rejected\":\"%s\",\"rows\":%llu,\"raw\":{", id,
                  code != NULL ? code : "", (unsigned long long)sums->rows);
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        (void)fprintf(self->ledger, "%s\"%s\":%llu", type > 1 ? "," : "",
                      profile_type_get(type)->name,
                      (unsigned long long)profile_sum_raw(sums->of, type));
    (void)fprintf(self->ledger, "}}\n");
    (void)fflush(self->ledger);
}

collector_ports program__core_ports(program *self)
{
    return (collector_ports){
        .context = self,
        .now_ms = clock_unix_ms,
        .steady_ms = clock_monotonic_ms,
        .thread_cpu_ns = clock_thread_cpu_ns,
        .random = program__random,
        .log = log_message,
        .submit = submit,
        .wake = wake_scheduler,
        .call = call,
        .new_file = new_file,
        .append = append,
        .close_file = close_file,
        .recording_start_ms = recording_start_ms,
        .parse = parse,
        .forget = forget,
        .read_snapshot = snapshot_reader_read,
        .forget_snapshot = snapshot_reader_forget,
        .keep = self->recordings.keep_dir[0] != '\0' ? keep : NULL,
        .user_name = user_name,
        .decide = decide,
        .encode = encode,
        .queued = wake_uploader,
        .status_changed = status_changed,
    };
}

uploader_ports program__upload_ports(program *self)
{
    return (uploader_ports){
        .context = self,
        .now_ms = clock_unix_ms,
        .steady_ms = clock_monotonic_ms,
        .random = program__random,
        .log = log_message,
        .post = post,
        .token_generation = token_generation,
        .encode = encode,
        .decode = decode,
        .pack_entry = pack_entry,
        .note_stored = note_stored,
        .encode_status = encode_status,
        .encode_heartbeat = encode_heartbeat,
        .snapshot = snapshot,
        .reported = reported,
        .settled = settled,
    };
}
