/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_cgroup_impl.h"

#include <string.h>

#define CONTAINER_DIGITS 64
#define POD_UID_LENGTH   36

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static size_t hex_run(attach__span s)
{
    size_t n = 0;
    while (n < s.n && is_hex(s.p[n]))
        n++;
    return n;
}

/* Recognises a path component that names a container: 64 hex digits, alone (cgroupfs driver) or as
 * "<runtime>-<id>.scope" (systemd driver: cri-containerd-, crio-, docker-, libpod-). */
static bool container_of(attach__span component, char *out, size_t cap)
{
    while (component.n >= CONTAINER_DIGITS) {
        size_t run = hex_run(component);
        attach__span after = attach__span_skip(component, run);
        if (run == CONTAINER_DIGITS && (after.n == 0 || attach__span_is(after, ".scope")))
            return attach__copy_exact(out, cap, attach__span_of(component.p, run));
        attach__span ignored;
        if (!attach__next_field(&component, '-', &ignored))
            break;
    }
    return false;
}

/* Recognises a uid in the form 8-4-4-4-12 with dashes, or with underscores as systemd needs it. */
static bool pod_uid_shape(attach__span s, char *out)
{
    for (size_t i = 0; i < POD_UID_LENGTH; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.p[i] != '-' && s.p[i] != '_' : !is_hex(s.p[i]))
            return false;
        out[i] = dash ? '-' : s.p[i];
    }
    out[POD_UID_LENGTH] = '\0';
    return true;
}

/* Recognises "pod<uid>" or "kubepods-burstable-pod<uid>.slice"; a static pod's uid is 32 hex
 * digits. */
static bool pod_of(attach__span component, char *out, size_t cap)
{
    if (attach__span_ends(component, ".slice"))
        component.n -= strlen(".slice");
    attach__span rest = component;
    for (ptrdiff_t at; (at = attach__span_find(rest, "pod")) >= 0;) {
        rest = attach__span_skip(rest, (size_t)at + 3);
        if (rest.n == POD_UID_LENGTH && pod_uid_shape(rest, out))
            return true;
        if (rest.n == 32 && hex_run(rest) == 32)
            return attach__copy_exact(out, cap, rest);
    }
    return false;
}

static void names_in_path(attach_jvm *out, attach__span path)
{
    attach__span component, part;
    char pod[sizeof(out->pod_uid)], container[sizeof(out->container_id)];
    while (attach__next_field(&path, '/', &component)) {
        /* containerd with systemd's names under the cgroupfs driver: "<slice>:cri-containerd:<id>"
         */
        while (attach__next_field(&component, ':', &part)) {
            if (pod_of(part, pod, sizeof(pod)))
                memcpy(out->pod_uid, pod, sizeof(pod));
            /* the last id is the innermost container: docker in a pod has two */
            if (container_of(part, container, sizeof(container)))
                memcpy(out->container_id, container, sizeof(container));
        }
    }
}

void attach__cgroup_read(attach_jvm *out, attach__span text)
{
    attach__span line, id, controllers;
    out->cgroup[0] = out->container_id[0] = out->pod_uid[0] = '\0';
    while (attach__next_line(&text, &line)) {
        if (!attach__next_field(&line, ':', &id) || !attach__next_field(&line, ':', &controllers))
            continue;
        if (line.n < 2 || line.p[0] != '/')
            continue;
        bool first = out->cgroup[0] == '\0';
        if (out->container_id[0] == '\0')
            names_in_path(out, line);
        if (first || out->container_id[0] != '\0')
            attach__copy_text(out->cgroup, sizeof(out->cgroup), line);
        if (out->container_id[0] != '\0')
            return;
    }
}
