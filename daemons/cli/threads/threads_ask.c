/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/threads/threads_ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands/attach_call.h"
#include "cli/commands/jvm_find.h"

/* The same for all runs, so that each removes the files that an earlier run left in a killed
 * JVM. */
#define INSTALLATION "cli"
#define OPERATION_MS 30000
#define SPARE_MS     30000 /* how much longer than the window the agent waits for this program */

static void describe(attach_request *r, const attach_jvm *jvm, const cli_options *o)
{
    r->identity = jvm->identity;
    (void)snprintf(r->installation_id, sizeof(r->installation_id), INSTALLATION);
    r->timeout_ms = OPERATION_MS;
    r->threads_flags = ATTACH_THREADS_MONITORS | ATTACH_THREADS_NATIVE_IDS |
                       (o->contention ? ATTACH_THREADS_CONTENTION : 0);
    r->max_threads = o->max_threads;
    r->max_depth = o->depth;
    r->pause_ms = o->pause_ms;
    r->lease_ms = o->duration_ms + SPARE_MS;
    if (r->lease_ms > ATTACH_LEASE_MS_MAX)
        r->lease_ms = ATTACH_LEASE_MS_MAX;
    r->max_bytes = ATTACH_THREADS_BYTES_MAX;
}

bool threads_ask_open(threads_asking *out, const cli_options *o)
{
    attach_request *r = &out->request;
    memset(out, 0, sizeof(*out));
    out->options = o;
    if (!jvm_find(&out->jvm, o->operands[0]) || !attach_call_id(r->lease_id))
        return false;
    describe(r, &out->jvm, o);
    if (attachclient_find_thread_agent(r->library, sizeof(r->library)) == 0)
        return true;
    complain("libhotstackthreads.so is not at %s: set HOTSTACK_THREAD_AGENT to where it is",
             r->library);
    return false;
}

static attach_threads *decode(const attach_text *bytes)
{
    attach_threads *threads = NULL;
    attach_error err = {0};
    if (attach_threads_decode(&threads, (const uint8_t *)bytes->p, bytes->n, &err) != ATTACH_OK)
        complain("%s (byte %" PRIu64 ")", err.message, err.offset);
    return threads;
}

attach_threads *threads_ask(threads_asking *a, bool stacks)
{
    const cli_options *o = a->options;
    attach_request *r = &a->request;
    attach_result result;
    attach_text bytes = {NULL, 0};
    attach_error err = {0};
    attach_threads *threads = NULL;
    r->op = ATTACH_OP_THREADS;
    r->max_stacks = stacks ? o->stacks : UINT32_MAX;
    r->threads_flags &= ~(uint32_t)(ATTACH_THREADS_FULL | ATTACH_THREADS_SYNCHRONIZERS);
    if (stacks && o->full)
        r->threads_flags |= ATTACH_THREADS_FULL;
    if (stacks && o->synchronizers)
        r->threads_flags |= ATTACH_THREADS_SYNCHRONIZERS;
    if (attachclient_run(&result, r, attach_text_collect, &bytes, NULL, &err) == ATTACH_OK)
        threads = decode(&bytes);
    else
        attach_call_complain(&err);
    free(bytes.p);
    return threads;
}

/* Gives the lease back, unless the JVM has ended. */
bool threads_ask_end(threads_asking *a)
{
    attach_result result;
    attach_error err = {0};
    a->request.op = ATTACH_OP_THREADS_CLOSE;
    if (attachclient_run(&result, &a->request, NULL, NULL, NULL, &err) == ATTACH_OK ||
        err.reason == ATTACH_REASON_PROCESS_EXITED)
        return true;
    attach_call_complain(&err);
    return false;
}
