/* SPDX-License-Identifier: Apache-2.0 */
/* Reads objects of the Kubernetes API: core/v1 Pod and Namespace, meta/v1 WatchEvent, ListMeta,
 * Status. */
#include "api_object.h"

#include <base/rfc3339.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPY(to, from, key) copy_text((to), sizeof(to), (from), (key))

/* ---- fields -------------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* Copies a text and returns whether it fits; if it does not, out is "". */
static bool copy_text(char *out, size_t size, const json_t *object, const char *key)
{
    const char *text = text_of(object, key);
    if (strlen(text) >= size) {
        out[0] = '\0';
        return false;
    }
    (void)snprintf(out, size, "%s", text);
    return true;
}

/* Copies a uid. A uid is opaque for the API, but ours are words of a file, so that only letters,
 * digits and '-' are accepted. */
static bool copy_uid(char *out, size_t size, const json_t *meta)
{
    static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";
    return copy_text(out, size, meta, "uid") && out[0] != '\0' && out[strspn(out, allowed)] == '\0';
}

static uint64_t time_of(const json_t *meta, const char *key)
{
    uint64_t ms = 0;
    return rfc3339_parse(&ms, text_of(meta, key)) == 0 ? ms : 0;
}

typedef struct settings {
    pod_setting *items;
    size_t count;
    size_t dropped;
} settings;

static int add_settings(settings *to, const json_t *map, bool is_label)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)map, name, value)
    {
        pod_setting one = {.is_label = is_label};
        const char *text = json_string_value(value);
        if (text == NULL || !pod_setting_name(&one, name))
            continue;
        if (to->count >= POD_SETTINGS_MAX) {
            to->dropped++;
            continue;
        }
        if (to->items == NULL)
            to->items = calloc(POD_SETTINGS_MAX, sizeof(*to->items));
        if (to->items == NULL)
            return -1;
        one.too_long = strlen(text) > POD_SETTING_VALUE_MAX;
        (void)snprintf(one.value, sizeof(one.value), "%.*s", POD_SETTING_VALUE_MAX, text);
        to->items[to->count++] = one;
    }
    return 0;
}

static int read_settings(const json_t *meta, pod_setting **items, size_t *count, size_t *dropped)
{
    settings all = {0};
    int rc = add_settings(&all, json_object_get(meta, "annotations"), false);
    if (rc == 0)
        rc = add_settings(&all, json_object_get(meta, "labels"), true);
    *items = all.items;
    *count = all.count;
    *dropped = all.dropped;
    return rc;
}

/* ---- containers ---------------------------------------------------------------------------- */

static const char *const container_lists[] = {"containers", "initContainers",
                                              "ephemeralContainers"};
static const char *const status_lists[] = {"containerStatuses", "initContainerStatuses",
                                           "ephemeralContainerStatuses"};

static void read_container(pod_container *to, const json_t *from)
{
    size_t index;
    json_t *variable;
    (void)COPY(to->name, from, "name");
    (void)COPY(to->image, from, "image");
    json_array_foreach(json_object_get(from, "env"), index, variable)
    {
        if (strcmp(text_of(variable, "name"), "OTEL_SERVICE_NAME") == 0)
            (void)COPY(to->otel_service, variable, "value");
    }
}

static size_t containers_in(const json_t *spec)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof(container_lists) / sizeof(container_lists[0]); i++)
        count += json_array_size(json_object_get(spec, container_lists[i]));
    return count;
}

/* Reads "containerd://0123..." without the runtime's name. */
static void read_id(pod *one, const json_t *status)
{
    const char *name = text_of(status, "name");
    const char *id = text_of(status, "containerID");
    const char *at = strstr(id, "://");
    id = at != NULL ? at + 3 : id;
    for (size_t i = 0; i < one->container_count; i++) {
        pod_container *to = &one->containers[i];
        if (strcmp(to->name, name) == 0 && strlen(id) < sizeof(to->id))
            (void)snprintf(to->id, sizeof(to->id), "%s", id);
    }
}

static int read_containers(pod *one, const json_t *object, char *message, size_t size)
{
    const json_t *spec = json_object_get(object, "spec");
    const json_t *status = json_object_get(object, "status");
    size_t count = containers_in(spec);
    if (count > POD_CONTAINERS_MAX) {
        (void)snprintf(message, size, "pod %s/%s has %zu containers: at most %d are read",
                       one->namespace_name, one->name, count, POD_CONTAINERS_MAX);
        return -1;
    }
    one->containers = calloc(count + 1, sizeof(*one->containers));
    if (one->containers == NULL) {
        (void)snprintf(message, size, "out of memory");
        return -1;
    }
    for (size_t i = 0; i < sizeof(container_lists) / sizeof(container_lists[0]); i++) {
        size_t index;
        json_t *from;
        json_array_foreach(json_object_get(spec, container_lists[i]), index, from)
            read_container(&one->containers[one->container_count++], from);
    }
    for (size_t i = 0; i < sizeof(status_lists) / sizeof(status_lists[0]); i++) {
        size_t index;
        json_t *from;
        json_array_foreach(json_object_get(status, status_lists[i]), index, from)
            read_id(one, from);
    }
    return 0;
}

/* ---- objects ------------------------------------------------------------------------------- */

static void read_owner(pod *one, const json_t *meta)
{
    size_t index;
    json_t *owner;
    json_array_foreach(json_object_get(meta, "ownerReferences"), index, owner)
    {
        if (!json_is_true(json_object_get(owner, "controller")))
            continue;
        (void)COPY(one->owner_kind, owner, "kind");
        (void)COPY(one->owner_name, owner, "name");
        return;
    }
}

static int read_pod(pod *one, const json_t *object, char *message, size_t size)
{
    const json_t *meta = json_object_get(object, "metadata");
    const json_t *labels = json_object_get(meta, "labels");
    if (!copy_uid(one->uid, sizeof(one->uid), meta) || !COPY(one->name, meta, "name") ||
        one->name[0] == '\0' || !COPY(one->namespace_name, meta, "namespace") ||
        one->namespace_name[0] == '\0') {
        (void)snprintf(message, size, "a pod without a uid, name or namespace of valid length");
        return -1;
    }
    (void)COPY(one->node, json_object_get(object, "spec"), "nodeName");
    (void)COPY(one->template_hash, labels, "pod-template-hash");
    (void)COPY(one->version, labels, "app.kubernetes.io/version");
    (void)COPY(one->service, labels, "app.kubernetes.io/name");
    (void)COPY(one->config_hash, json_object_get(meta, "annotations"), "kubernetes.io/config.hash");
    one->created_ms = time_of(meta, "creationTimestamp");
    read_owner(one, meta);
    if (read_settings(meta, &one->settings, &one->setting_count, &one->settings_dropped) != 0) {
        (void)snprintf(message, size, "out of memory");
        return -1;
    }
    return read_containers(one, object, message, size);
}

static int read_namespace(pod_namespace *one, const json_t *object, char *message, size_t size)
{
    const json_t *meta = json_object_get(object, "metadata");
    if (!copy_uid(one->uid, sizeof(one->uid), meta) || !COPY(one->name, meta, "name") ||
        one->name[0] == '\0') {
        (void)snprintf(message, size, "a namespace without a uid or name of valid length");
        return -1;
    }
    one->created_ms = time_of(meta, "creationTimestamp");
    if (read_settings(meta, &one->settings, &one->setting_count, &one->settings_dropped) != 0) {
        (void)snprintf(message, size, "out of memory");
        return -1;
    }
    return 0;
}

static int read_object(pod_object *out, enum pod_kind kind, const json_t *object, char *message,
                       size_t size)
{
    *out = (pod_object){.kind = kind};
    return kind == POD_KIND_POD ? read_pod(&out->pod, object, message, size)
                                : read_namespace(&out->space, object, message, size);
}

/* Reads the uid of a deleted object. Nothing else is read, so that no other mistake can keep the
 * object. */
static int read_uid(pod_object *out, const json_t *meta, char *message, size_t size)
{
    bool is_pod = out->kind == POD_KIND_POD;
    if (copy_uid(is_pod ? out->pod.uid : out->space.uid,
                 is_pod ? sizeof(out->pod.uid) : sizeof(out->space.uid), meta))
        return 0;
    (void)snprintf(message, size, "a deleted object without a uid");
    return -1;
}

/* ---- messages of the API ------------------------------------------------------------------- */

static json_t *parse(const char *text, size_t length, char *message, size_t size)
{
    json_error_t err;
    json_t *all = json_loadb(text, length, 0, &err);
    if (all == NULL)
        (void)snprintf(message, size, "the answer is not JSON: byte %d: %.100s", err.position,
                       err.text);
    else if (!json_is_object(all))
        (void)snprintf(message, size, "the answer is not a JSON object");
    if (all != NULL && !json_is_object(all)) {
        json_decref(all);
        return NULL;
    }
    return all;
}

static enum api_event_type type_of(const char *name)
{
    static const struct {
        const char *name;
        enum api_event_type type;
    } types[] = {{"ADDED", API_EVENT_PUT},
                 {"MODIFIED", API_EVENT_PUT},
                 {"DELETED", API_EVENT_REMOVED},
                 {"BOOKMARK", API_EVENT_BOOKMARK},
                 {"ERROR", API_EVENT_ERROR}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(types[i].name, name) == 0)
            return types[i].type;
    }
    return API_EVENT_UNKNOWN;
}

int api_event_read(api_event *out, enum pod_kind kind, const char *text, size_t length,
                   char *message, size_t size)
{
    *out = (api_event){.type = API_EVENT_UNKNOWN, .object = {.kind = kind}};
    json_t *all = parse(text, length, message, size);
    if (all == NULL)
        return -1;
    int rc = 0;
    const json_t *object = json_object_get(all, "object");
    out->type = type_of(text_of(all, "type"));
    if (out->type == API_EVENT_ERROR) {
        out->code = (int)json_integer_value(json_object_get(object, "code"));
        (void)snprintf(out->message, sizeof(out->message), "%.200s", text_of(object, "message"));
    } else {
        const json_t *meta = json_object_get(object, "metadata");
        (void)COPY(out->resource_version, meta, "resourceVersion");
        if (out->type == API_EVENT_PUT)
            rc = read_object(&out->object, kind, object, message, size);
        else if (out->type == API_EVENT_REMOVED)
            rc = read_uid(&out->object, meta, message, size);
    }
    json_decref(all);
    return rc;
}

void api_event_clear(api_event *one)
{
    pod_object_clear(&one->object);
}

int api_page_read(api_page *out, enum pod_kind kind, const char *text, size_t length,
                  void (*take)(void *context, pod_object *one), void *context, char *message,
                  size_t size)
{
    *out = (api_page){0};
    json_t *all = parse(text, length, message, size);
    if (all == NULL)
        return -1;
    const json_t *meta = json_object_get(all, "metadata");
    const json_t *items = json_object_get(all, "items");
    size_t index;
    json_t *item;
    const char *wanted = kind == POD_KIND_POD ? "PodList" : "PartialObjectMetadataList";
    int rc = strcmp(text_of(all, "kind"), wanted) == 0 && json_is_array(items) &&
                     COPY(out->resource_version, meta, "resourceVersion") &&
                     COPY(out->more, meta, "continue") && out->resource_version[0] != '\0'
                 ? 0
                 : -1;
    if (rc != 0)
        (void)snprintf(message, size, "the answer is not a %s with items and a resourceVersion",
                       wanted);
    json_array_foreach(rc == 0 ? items : NULL, index, item)
    {
        pod_object one;
        char why[256] = "";
        if (read_object(&one, kind, item, why, sizeof(why)) == 0) {
            take(context, &one);
        } else if (out->bad++ == 0) {
            (void)snprintf(message, size, "%s", why);
        }
        pod_object_clear(&one);
    }
    json_decref(all);
    return rc;
}

void api_status_message(const char *text, size_t length, char *out, size_t size)
{
    json_t *all = json_loadb(text, length, 0, NULL);
    (void)snprintf(out, size, "%s", text_of(all, "message"));
    json_decref(all);
}
