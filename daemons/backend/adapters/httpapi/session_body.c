/* SPDX-License-Identifier: Apache-2.0 */
#include "session_body.h"

#include <string.h>

#include <jansson.h>

static int copy_member(char *out, const json_t *root, const char *name)
{
    const json_t *value = json_object_get(root, name);

    if (!json_is_string(value) || json_string_length(value) > AUTH_TOKEN_MAX ||
        json_string_length(value) == 0)
        return -1;
    memcpy(out, json_string_value(value), json_string_length(value) + 1);
    return 0;
}

int session_body_parse(session_body *out, const char *data, size_t length)
{
    memset(out, 0, sizeof(*out));
    json_t *root = json_loadb(data, length, JSON_REJECT_DUPLICATES, NULL);
    int rc = -1;

    if (json_is_object(root) && json_object_size(root) == 1)
        rc = json_object_get(root, "token") != NULL ? copy_member(out->token, root, "token")
                                                    : copy_member(out->code, root, "code");
    json_decref(root);
    return rc;
}
