/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/attach_call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli/command.h"
#include "cli/commands/jvm_json.h"

#define OPERATION_MS 60000

bool attach_call_id(char out[ATTACH_INSTALLATION_MAX + 1])
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        complain("getrandom: %s", strerror(errno));
        return false;
    }
    (void)snprintf(out, ATTACH_INSTALLATION_MAX + 1, "cli%016" PRIx64, random);
    return true;
}

bool attach_call_prepare(attach_request *out, const attach_jvm *jvm, attach_op op)
{
    memset(out, 0, sizeof(*out));
    out->op = op;
    out->identity = jvm->identity;
    out->timeout_ms = OPERATION_MS;
    return attach_call_id(out->installation_id);
}

int attach_text_collect(void *ctx, const uint8_t *bytes, size_t n)
{
    attach_text *text = ctx;
    char *bigger = realloc(text->p, text->n + n + 1);
    if (bigger == NULL)
        return -1;
    memcpy(bigger + text->n, bytes, n);
    text->p = bigger;
    text->n += n;
    text->p[text->n] = '\0';
    return 0;
}

void attach_call_complain(const attach_error *err)
{
    if (err->reason == ATTACH_REASON_NONE) {
        complain("%s", err->message);
        return;
    }
    const char *name = attach_reason_name(err->reason);
    complain("%s (%s)", err->message, name);
    if (fix_of(name)[0] != '\0')
        complain("fix: %s", fix_of(name));
}
