/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ap_jfr_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "error_impl.h"
#include "profiler/ap_recording_impl.h"
#include "profiler/jfr_settings_impl.h"
#include <attach/command.h>

/* The recorder keeps at most this much on the target's disk. A window that comes too late loses
 * older data. */
#define KEPT_MEGABYTES 250

/* Runs one diagnostic command. If the answer does not contain `expected`, the answer is the error's
 * text. */
static int run(attach_reply **out, attach__session *s, const char *command, const char *expected,
               attach_error *err)
{
    char words[160];
    attach_reply *reply = NULL;
    if (out != NULL)
        *out = NULL;
    int rc = attach_jcmd(&reply, s->target, command, s->deadline_ns, err);
    if (rc != ATTACH_OK)
        return rc;
    attach__span text = attach__span_of(attach_reply_text(reply), attach_reply_length(reply));
    if (attach_reply_code(reply) != 0 || attach__span_find(text, expected) < 0) {
        attach__copy_text(words, sizeof(words), text);
        rc = s->target->jvm.jdk_deleted
                 ? attach__target_lacks_jdk(s->target, words, err)
                 : attach__refuse(err, ATTACH_REASON_PROFILER_ERROR,
                                  "the JDK's recorder refused in process %d: %s",
                                  s->target->identity.pid, words);
    }
    if (rc == ATTACH_OK && out != NULL)
        *out = reply;
    else
        attach_reply_free(reply);
    return rc;
}

bool attach__jfr_runs(attach__span text, const char *name)
{
    static const char key[] = "name=";
    attach__span line, word;
    while (attach__next_line(&text, &line)) {
        bool ours = false, running = attach__span_find(line, "(running)") >= 0;
        while (attach__next_word(&line, &word)) {
            if (!attach__span_starts(word, key))
                continue;
            word = attach__span_skip(word, sizeof(key) - 1);
            if (attach__span_starts(word, "\"") && attach__span_ends(word, "\"") && word.n > 1)
                word = attach__span_of(word.p + 1, word.n - 2);
            ours = ours || attach__span_is(word, name);
        }
        if (ours && running)
            return true;
    }
    return false;
}

int attach__jfr_ask(attach__session *s, attach_error *err)
{
    attach_reply *reply = NULL;
    s->running = false;
    int rc = run(&reply, s, "JFR.check", "", err);
    if (rc != ATTACH_OK)
        return rc;
    s->running = attach__jfr_runs(
        attach__span_of(attach_reply_text(reply), attach_reply_length(reply)), s->name);
    attach_reply_free(reply);
    return ATTACH_OK;
}

static int write_settings(attach__session *s, attach_error *err)
{
    char text[ATTACH__JFR_SETTINGS_MAX];
    attach_reply *reply = NULL;
    int rc = run(&reply, s, "VM.version", "", err);
    if (rc != ATTACH_OK)
        return rc;
    unsigned release = attach__jfr_java_release(
        attach__span_of(attach_reply_text(reply), attach_reply_length(reply)));
    attach_reply_free(reply);
    size_t n = attach__jfr_settings(text, &s->marker, release);
    (void)unlinkat(s->place.fd, ATTACH__FILE_SETTINGS, 0);
    int fd =
        attach__open_regular(s->place.fd, ATTACH__FILE_SETTINGS, O_WRONLY | O_CREAT | O_EXCL, 0600);
    int error = fd < 0 ? fd : attach__write_all(fd, text, n);
    if (fd >= 0 && close(fd) != 0 && error == 0)
        error = -errno;
    return error == 0 ? ATTACH_OK : attach__session_write_error(s, -error, err);
}

static int start_recording(attach__session *s, attach_error *err)
{
    char command[ATTACH_ARG_V1_MAX + 1];
    int rc = write_settings(s, err);
    if (rc != ATTACH_OK)
        return rc;
    int n = snprintf(command, sizeof(command),
                     "JFR.start name=%s settings=%s/" ATTACH__FILE_SETTINGS
                     " disk=true dumponexit=false maxsize=%um",
                     s->name, s->place.path, KEPT_MEGABYTES);
    /* a recording with a duration needs a file name, or it is never removed from the JVM */
    if (s->options->max_seconds > 0)
        (void)snprintf(command + n, sizeof(command) - (size_t)n,
                       " duration=%" PRIu32 "s filename=%s/" ATTACH__FILE_EXPIRED,
                       s->options->max_seconds, s->place.path);
    rc = run(NULL, s, command, "Started recording", err);
    s->running = rc == ATTACH_OK;
    return rc;
}

int attach__jfr_begin(attach__session *s, const char *why, attach_error *err)
{
    attach_error local = {0};
    int rc = attach__session_make_place(s, false, &local);
    s->marker.engine = ATTACH_AP_ENGINE_JFR;
    (void)snprintf(s->marker.engine_reason, sizeof(s->marker.engine_reason), "%s", why);
    if (rc == ATTACH_OK)
        rc = attach__session_save(s, &local);
    if (rc == ATTACH_OK)
        rc = start_recording(s, &local);
    if (rc == ATTACH_OK)
        return rc;
    attach__session_remove(s);
    if (err != NULL)
        *err = local;
    return rc;
}

static int open_recording(int *out, const attach__session *s, attach_error *err)
{
    *out = attach__open_regular(s->place.fd, ATTACH__FILE_RECORDING, O_RDWR, 0);
    if (*out < 0)
        return attach__refuse(err, ATTACH_REASON_PROFILER_ERROR,
                              "the JDK's recorder of process %d wrote nothing into %s: %s",
                              s->target->identity.pid, s->place.path, strerror(-*out));
    return ATTACH_OK;
}

/* Passes the chunks from byte `from` on that were not passed before. It compares their times,
 * because a dump from a given time on may begin with the chunk before that time. */
static int hand_over(attach__session *s, int fd, uint64_t from, uint64_t after_ns,
                     attach_piece_fn piece, void *ctx, attach_error *err)
{
    attach__chunk chunk;
    uint64_t begin = from;
    int rc = attach__recording_chunk(&chunk, fd, begin, err);
    while (rc == ATTACH_OK && chunk.size > 0 && chunk.start_ns + chunk.duration_ns / 2 < after_ns) {
        begin += chunk.size;
        rc = attach__recording_chunk(&chunk, fd, begin, err);
    }
    uint64_t end = begin;
    while (rc == ATTACH_OK && chunk.size > 0) {
        end += chunk.size;
        s->marker.until_ns = chunk.start_ns + chunk.duration_ns;
        rc = attach__recording_chunk(&chunk, fd, end, err);
    }
    if (rc == ATTACH_OK)
        rc = attach__recording_hand_over(fd, begin, end, piece, ctx, s->deadline_ns, err);
    if (rc == ATTACH_OK)
        s->marker.handed += end - begin;
    return rc;
}

static int hand_over_file(attach__session *s, uint64_t from, uint64_t after_ns,
                          attach_piece_fn piece, void *ctx, attach_error *err)
{
    int fd = -1;
    uint64_t until_ns = s->marker.until_ns, handed = s->marker.handed;
    int rc = open_recording(&fd, s, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = hand_over(s, fd, from, after_ns, piece, ctx, err);
    (void)close(fd);
    if (rc != ATTACH_OK) {
        s->marker.until_ns = until_ns;
        s->marker.handed = handed;
    }
    return rc;
}

/* Returns whether the caller continues where the last call ended. Only newer data then has to be
 * dumped. */
static bool goes_on(const attach__session *s, uint64_t offset)
{
    return offset == UINT64_MAX || offset == s->marker.handed;
}

static int dump(attach__session *s, uint64_t after_ns, attach_error *err)
{
    char command[ATTACH_ARG_V1_MAX + 1], begin[64] = "", stamp[40];
    struct tm parts;
    time_t seconds = (time_t)(after_ns / 1000000000u);
    if (after_ns > 0 && gmtime_r(&seconds, &parts) != NULL) {
        (void)strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &parts);
        (void)snprintf(begin, sizeof(begin), " begin=%s.%09uZ", stamp,
                       (unsigned)(after_ns % 1000000000u));
    }
    (void)unlinkat(s->place.fd, ATTACH__FILE_RECORDING, 0);
    (void)snprintf(command, sizeof(command),
                   "JFR.dump name=%s filename=%s/" ATTACH__FILE_RECORDING "%s", s->name,
                   s->place.path, begin);
    return run(NULL, s, command, "Dumped recording", err);
}

int attach__jfr_window(attach__session *s, uint64_t offset, attach_piece_fn piece, void *ctx,
                       attach_error *err)
{
    bool on = goes_on(s, offset);
    uint64_t after_ns = on ? s->marker.until_ns : 0;
    int rc = dump(s, after_ns, err);
    if (rc != ATTACH_OK)
        return rc;
    s->running = true;
    if (!on)
        s->marker.handed = offset;
    rc = hand_over_file(s, on ? 0 : offset, after_ns, piece, ctx, err);
    (void)unlinkat(s->place.fd, ATTACH__FILE_RECORDING, 0);
    return rc == ATTACH_OK ? attach__session_save(s, err) : rc;
}

int attach__jfr_stop(attach__session *s, attach_error *err)
{
    char command[ATTACH_ARG_V1_MAX + 1];
    (void)unlinkat(s->place.fd, ATTACH__FILE_RECORDING, 0);
    (void)snprintf(command, sizeof(command), "JFR.stop name=%s filename=%s/" ATTACH__FILE_RECORDING,
                   s->name, s->place.path);
    int rc = run(NULL, s, command, "Stopped recording", err);
    s->running = s->running && rc != ATTACH_OK;
    return rc;
}

int attach__jfr_rest(attach__session *s, uint64_t offset, attach_piece_fn piece, void *ctx,
                     attach_error *err)
{
    bool on = goes_on(s, offset);
    uint64_t after_ns = on ? s->marker.until_ns : 0;
    if (!on)
        s->marker.handed = offset;
    return hand_over_file(s, on ? 0 : offset, after_ns, piece, ctx, err);
}
