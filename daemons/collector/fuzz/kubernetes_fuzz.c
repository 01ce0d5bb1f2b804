/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads any bytes as the API server's answer: as the lines of a watch and as a page of a list. The
 * objects go on to the policy, which must reach a decision for any annotation.
 */
#include "../adapters/kubernetes/api_object.h"
#include "../adapters/kubernetes/lines.h"
#include "../core/pods/pod_policy.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINE_MAX_BYTES = 64 * 1024 };

static void decide(const pod_object *one)
{
    static const pod_policy_defaults defaults = {.startup_delay_ms = 1};
    char text[512];
    first_seen *memory = first_seen_new();
    if (memory == NULL)
        return;
    for (size_t i = 0; i < one->pod.container_count; i++) {
        const pod_policy_input input = {.pod = &one->pod,
                                        .container = &one->pod.containers[i],
                                        .space = one->space.uid[0] != '\0' ? &one->space : NULL,
                                        .defaults = &defaults,
                                        .now_ms = UINT64_C(1795734600000),
                                        .memory = memory};
        policy_decision out;
        pod_policy_decide(&input, &out);
        pod_version(&one->pod, input.container, text, sizeof(text));
    }
    char kind[32];
    pod_workload(&one->pod, kind, sizeof(kind), text, sizeof(text));
    first_seen_free(memory);
}

static int take_line(void *context, const char *line, size_t length)
{
    const enum pod_kind *kind = context;
    api_event event;
    char message[128];
    if (api_event_read(&event, *kind, line, length, message, sizeof(message)) == 0)
        decide(&event.object);
    api_event_clear(&event);
    return 0;
}

static void take_object(void *context, pod_object *one)
{
    (void)context;
    decide(one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (enum pod_kind kind = 0; kind < POD_KIND_END; kind++) {
        lines cut = {.max = LINE_MAX_BYTES};
        char message[128];
        api_page page;
        (void)lines_add(&cut, (const char *)data, size, take_line, &kind);
        lines_clear(&cut);
        (void)api_page_read(&page, kind, (const char *)data, size, take_object, NULL, message,
                            sizeof(message));
    }
    return 0;
}
