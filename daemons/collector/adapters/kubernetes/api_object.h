/* SPDX-License-Identifier: Apache-2.0 */
/* Converts JSON of the API server to the core's pods and namespaces. Pure functions, any thread. */
#ifndef COLLECTOR_KUBERNETES_API_OBJECT_H
#define COLLECTOR_KUBERNETES_API_OBJECT_H

#include "../../core/pods/pod_table.h"

enum { API_VERSION_MAX = 128, API_CONTINUE_MAX = 4096 };

enum api_event_type {
    API_EVENT_PUT,      /* added or changed */
    API_EVENT_REMOVED,  /* `object` has at least its uid */
    API_EVENT_BOOKMARK, /* only a newer resource version */
    API_EVENT_ERROR,    /* the watch has ended: see code and message */
    API_EVENT_UNKNOWN,  /* of a type that this release does not know */
};

typedef struct api_event {
    enum api_event_type type;
    pod_object object;                      /* owned */
    char resource_version[API_VERSION_MAX]; /* where to continue; "" = unknown */
    int code;                               /* API_EVENT_ERROR: HTTP status, 410 = too old */
    char message[256];
} api_event;

/*
 * Reads one line of a watch. Returns 0, or -1 with a sentence in message, which names the object if
 * it has a name. Free with api_event_clear, also after -1.
 */
int api_event_read(api_event *out, enum pod_kind kind, const char *text, size_t length,
                   char *message, size_t size);
void api_event_clear(api_event *one);

typedef struct api_page {
    char resource_version[API_VERSION_MAX];
    char more[API_CONTINUE_MAX]; /* the token of the next page; "" = this is the last page */
    size_t bad;                  /* objects that could not be read; message names the first */
} api_page;

/*
 * Reads a page of a list and passes each object to `take`, which takes over its memory. Returns 0,
 * or -1 with a sentence in message.
 */
int api_page_read(api_page *out, enum pod_kind kind, const char *text, size_t length,
                  void (*take)(void *context, pod_object *one), void *context, char *message,
                  size_t size);

/* Gets the `message` of a Status object, for people; "" where the text is not one. */
void api_status_message(const char *text, size_t length, char *out, size_t size);

#endif
