/* SPDX-License-Identifier: Apache-2.0 */
#include "failure.h"

#include <stdio.h>

static int set(failure *f, enum failure_class what, uint64_t offset, const char *message)
{
    f->what = what;
    f->offset = offset;
    (void)snprintf(f->message, sizeof(f->message), "%s", message);
    return -1;
}

int failure_set(failure *f, enum failure_class what, const char *message)
{
    return set(f, what, 0, message);
}

int failure_nomem(failure *f)
{
    return set(f, FAILURE_NOMEM, 0, "There is no memory left.");
}

int failure_jfr(failure *f, const jfr_error *cause)
{
    static const enum failure_class classes[] = {
        [-JFR_ERR_IO] = FAILURE_IO,       [-JFR_ERR_FORMAT] = FAILURE_FORMAT,
        [-JFR_ERR_LIMIT] = FAILURE_LIMIT, [-JFR_ERR_USAGE] = FAILURE_USAGE,
        [-JFR_ERR_NOMEM] = FAILURE_NOMEM,
    };
    return set(f, classes[-cause->code], cause->offset, cause->message);
}

int failure_sagg(failure *f, const sagg_error *cause)
{
    static const enum failure_class classes[] = {
        [-SAGG_ERR_USAGE] = FAILURE_USAGE,   [-SAGG_ERR_LIMIT] = FAILURE_LIMIT,
        [-SAGG_ERR_NOMEM] = FAILURE_NOMEM,   [-SAGG_ERR_IO] = FAILURE_IO,
        [-SAGG_ERR_FORMAT] = FAILURE_FORMAT,
    };
    return set(f, classes[-cause->code], cause->offset, cause->message);
}

int failure_recording(failure *f, const recording_error *cause)
{
    static const enum failure_class classes[] = {
        [-RECORDING_E_USAGE] = FAILURE_USAGE,   [-RECORDING_E_LIMIT] = FAILURE_LIMIT,
        [-RECORDING_E_NOMEM] = FAILURE_NOMEM,   [-RECORDING_E_IO] = FAILURE_IO,
        [-RECORDING_E_FORMAT] = FAILURE_FORMAT, [-RECORDING_E_STOPPED] = FAILURE_RAISED,
    };
    return set(f, classes[-cause->code], cause->offset, cause->message);
}
