/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotstack-attach-worker: reads one request on standard input, performs that operation on one JVM
 * as the JVM's user, writes the answer to standard output and ends. It is single-threaded and
 * serves one operation only, so that any harm a target does to it ends with it.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "operation.h"

#include <base/log.h>

#define GRACE_SECONDS 2

/* Arms SIGALRM, which ends the process where the operation's own deadline cannot, as on a disk that
 * hangs. */
static void arm_alarm(const attach_request *request)
{
    (void)signal(SIGALRM, SIG_DFL);
    (void)alarm(request->timeout_ms / 1000 + GRACE_SECONDS);
}

int main(void)
{
    attach_request *request = calloc(1, sizeof(*request));
    attach_result result = {0};
    frames_output output = {STDOUT_FILENO, 0};
    attach_error err = {0};
    (void)signal(SIGPIPE, SIG_IGN);
    (void)umask(077);
    if (request == NULL)
        return 1;
    int rc = frames_read_request(request, STDIN_FILENO, &err);
    if (rc == ATTACH_OK) {
        arm_alarm(request);
        operation_run(&result, request, &output);
    } else {
        result.code = rc;
        result.reason = err.reason;
        memcpy(result.message, err.message, sizeof(result.message));
        log_line("%s", err.message);
    }
    free(request);
    return frames_send_result(&output, &result) == 0 ? 0 : 1;
}
