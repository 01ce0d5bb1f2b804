/* SPDX-License-Identifier: Apache-2.0 */
#include <catalogue/state.h>

#include <stddef.h>

static const char *const target_names[TARGET_STATE_END] = {
    [TARGET_STATE_UNKNOWN] = "unknown", [TARGET_STATE_PROFILING] = "profiling",
    [TARGET_STATE_WAITING] = "waiting", [TARGET_STATE_OFF] = "off",
    [TARGET_STATE_FAILED] = "failed",   [TARGET_STATE_UNSUPPORTED] = "unsupported",
    [TARGET_STATE_EXITED] = "exited",
};

static const char *const session_names[SESSION_STATE_END] = {
    [SESSION_STATE_UNKNOWN] = "unknown",   [SESSION_STATE_NONE] = "none",
    [SESSION_STATE_OWNED] = "owned",       [SESSION_STATE_ADOPTED] = "adopted",
    [SESSION_STATE_ORPHANED] = "orphaned", [SESSION_STATE_EXTERNAL] = "external",
};

static const char *const mode_names[TARGET_MODE_END] = {
    [TARGET_MODE_UNKNOWN] = "unknown",
    [TARGET_MODE_OFF] = "off",
    [TARGET_MODE_CONTINUOUS] = "continuous",
    [TARGET_MODE_TEMPORARY] = "temporary",
};

const char *target_state_name(unsigned number)
{
    return number < TARGET_STATE_END ? target_names[number] : NULL;
}

const char *session_state_name(unsigned number)
{
    return number < SESSION_STATE_END ? session_names[number] : NULL;
}

const char *target_mode_name(unsigned number)
{
    return number < TARGET_MODE_END ? mode_names[number] : NULL;
}
