/* SPDX-License-Identifier: Apache-2.0 */
#include <attach/load_answer_impl.h>

#include "error_impl.h"

bool attach__parse_code(attach__span text, int *out)
{
    bool negative = attach__span_starts(text, "-");
    uint32_t value = 0;
    if (!attach__parse_u32(attach__span_skip(text, negative ? 1 : 0), &value) || value > 99999)
        return false;
    *out = negative ? -(int)value : (int)value;
    return true;
}

/* Finds a line "return code: N" (JDK 9 and later) or "N" alone (JDK 8). */
static bool find_agent_code(attach__span text, int *out)
{
    static const char prefix[] = "return code: ";
    attach__span line;
    while (attach__next_line(&text, &line)) {
        if (attach__span_starts(line, prefix))
            line = attach__span_skip(line, sizeof(prefix) - 1);
        if (attach__parse_code(line, out))
            return true;
    }
    return false;
}

int attach__load_answer_read(int *agent_code, int reply_code, attach__span text, attach_error *err)
{
    char words[160];
    *agent_code = -1;
    if (attach__span_find(text, "Dynamic agent loading is not enabled") >= 0)
        return attach__refuse(err, ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED,
                              "the JVM runs with -XX:-EnableDynamicAgentLoading: start it without");
    if (reply_code == 0 && find_agent_code(text, agent_code))
        return ATTACH_OK;
    attach__copy_text(words, sizeof(words), text);
    return attach__refuse(err, ATTACH_REASON_LIBRARY_LOAD_FAILED,
                          "the JVM did not load the library (answer %d): %s", reply_code,
                          words[0] == '\0' ? "it gave no reason" : words);
}
