/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include "lines.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_OK = 200, STATUS_UNAUTHORISED = 401, STATUS_FORBIDDEN = 403, STATUS_GONE = 410 };
enum {
    PATH_MAX_BYTES = 8192,
    PAGE_ITEMS = 100,
    PAGES_MAX = 10000,
    LIST_TIMEOUT_MS = 30000,
    WATCH_SPARE_MS = 30000
};

/* The ways in which a request ends. */
enum outcome { OUTCOME_DONE, OUTCOME_FAILED, OUTCOME_GONE };

struct watch {
    watch_ports ports;
    watch_options options;
    pods *feed;
    char version[API_VERSION_MAX]; /* the newest that the server sent; "" = a list is needed */
    unsigned page_items;
    uint64_t backoff_ms; /* 0 = the last request succeeded */
    char trouble[256];   /* reported in the log; "" = none */
    bool has_begun;      /* the current answer is a 200 */
    bool is_doubted;     /* the last 200 answer failed later: only an event counts as a success */
    /* the current answer */
    lines cut;
    char *page;
    size_t page_length;
    enum outcome ended;
    char why[256];
    uint64_t retry_after_ms;
    atomic_uint_fast64_t lists, watches, events, failures, gone;
};

watch *watch_new(const watch_ports *ports, const watch_options *options, pods *feed)
{
    watch *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return NULL;
    self->ports = *ports;
    self->options = *options;
    self->feed = feed;
    self->page_items = PAGE_ITEMS;
    self->cut.max = options->event_bytes;
    return self;
}

void watch_free(watch *self)
{
    if (self == NULL)
        return;
    lines_clear(&self->cut);
    free(self->page);
    free(self);
}

static const char *name_of(const watch *self)
{
    return self->options.kind == POD_KIND_POD ? "pods" : "namespaces";
}

__attribute__((format(printf, 2, 3))) static void say(watch *self, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    self->ports.log(self->ports.context, message);
}

__attribute__((format(printf, 3, 4))) static void end_with(watch *self, enum outcome how,
                                                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(self->why, sizeof(self->why), format, arguments);
    va_end(arguments);
    self->ended = how;
}

static void note_success(watch *self)
{
    self->is_doubted = false;
    if (self->trouble[0] != '\0')
        say(self, "kubernetes: %s are told again", name_of(self));
    self->trouble[0] = '\0';
    pods_set_trouble(self->feed, self->options.kind, "");
}

/* Counts the beginning of a watch as a sign of life, as the watch may be silent for a minute. */
static void note_begin(void *context)
{
    watch *self = context;
    self->has_begun = true;
    if (!self->is_doubted && self->version[0] != '\0')
        note_success(self);
}

static void note_failure(watch *self)
{
    self->is_doubted = self->has_begun;
    atomic_fetch_add(&self->failures, 1);
    pods_set_trouble(self->feed, self->options.kind, self->why);
    if (strcmp(self->trouble, self->why) == 0)
        return;
    (void)snprintf(self->trouble, sizeof(self->trouble), "%s", self->why);
    say(self, "kubernetes: cannot follow %s: %s", name_of(self), self->why);
}

/* ---- requests ------------------------------------------------------------------------------ */

/* Appends text, percent-encoding all but letters, digits and -._~ */
static void encode(char *to, size_t size, const char *text)
{
    static const char plain[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~";
    size_t used = strlen(to);
    for (; *text != '\0' && used + 4 <= size; text++) {
        if (strchr(plain, *text) != NULL)
            used += (size_t)snprintf(to + used, size - used, "%c", *text);
        else
            used += (size_t)snprintf(to + used, size - used, "%%%02X", (unsigned char)*text);
    }
}

static void begin_path(const watch *self, char *path, size_t size, const char *query)
{
    (void)snprintf(path, size, "/api/v1/%s?%s", name_of(self), query);
    if (self->options.kind == POD_KIND_POD) {
        (void)snprintf(path + strlen(path), size - strlen(path),
                       "&fieldSelector=spec.nodeName%%3D");
        encode(path, size, self->options.node);
    }
}

/* Decides what an answer other than 200, or one that broke off, means. */
static void judge(watch *self, const watch_answer *answer)
{
    const char *kind = name_of(self);
    self->retry_after_ms = answer->retry_after_ms;
    if (self->ended != OUTCOME_DONE)
        return; /* the answer's reader has set the reason */
    if (answer->status == STATUS_GONE)
        end_with(self, OUTCOME_GONE, "the version is too old (HTTP 410)");
    else if (answer->status == STATUS_UNAUTHORISED)
        end_with(self, OUTCOME_FAILED,
                 "the API server refuses the token (HTTP 401): see "
                 "kubernetes.token_file");
    else if (answer->status == STATUS_FORBIDDEN)
        end_with(self, OUTCOME_FAILED,
                 "the API server forbids it (HTTP 403): the service account needs get, list and "
                 "watch on %s: %.100s",
                 kind, answer->message);
    else if (answer->status != STATUS_OK && answer->status != 0)
        end_with(self, OUTCOME_FAILED, "the API server answers HTTP %d: %.150s", answer->status,
                 answer->message);
    else if (answer->message[0] != '\0' || answer->status == 0)
        end_with(self, OUTCOME_FAILED, "%.200s", answer->message);
}

/* Returns the media type: only the metadata of namespaces is needed, and that type has another name
 * in lists. */
static const char *accepted(const watch *self, bool is_list)
{
    if (self->options.kind == POD_KIND_POD)
        return "application/json";
    return is_list ? "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
                   : "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
}

static enum outcome get(watch *self, const char *path, uint32_t timeout_ms,
                        int (*take)(void *context, const char *bytes, size_t length))
{
    const watch_request request = {.path = path,
                                   .accept = accepted(self, self->version[0] == '\0'),
                                   .timeout_ms = timeout_ms,
                                   .started = note_begin,
                                   .take = take,
                                   .context = self};
    watch_answer answer = {0};
    self->ended = OUTCOME_DONE;
    self->has_begun = false;
    self->why[0] = '\0';
    self->ports.get(self->ports.context, &request, &answer);
    judge(self, &answer);
    return self->ended;
}

/* ---- list ---------------------------------------------------------------------------------- */

static int take_page(void *context, const char *bytes, size_t length)
{
    watch *self = context;
    if (length > self->options.page_bytes - self->page_length) {
        end_with(self, OUTCOME_FAILED, "a page of %u %s is larger than limits.api_page_bytes (%zu)",
                 self->page_items, name_of(self), self->options.page_bytes);
        self->page_items = self->page_items > 4 ? self->page_items / 4 : 1;
        return -1;
    }
    char *grown = realloc(self->page, self->page_length + length);
    if (grown == NULL) {
        end_with(self, OUTCOME_FAILED, "out of memory");
        return -1;
    }
    self->page = grown;
    memcpy(self->page + self->page_length, bytes, length);
    self->page_length += length;
    return 0;
}

static void take_object(void *context, pod_object *one)
{
    watch *self = context;
    pods_put(self->feed, one);
}

static enum outcome list_page(watch *self, api_page *page)
{
    char path[PATH_MAX_BYTES] = "";
    char query[32];
    char message[256] = "";
    (void)snprintf(query, sizeof(query), "limit=%u", self->page_items);
    begin_path(self, path, sizeof(path), query);
    if (page->more[0] != '\0') {
        (void)snprintf(path + strlen(path), sizeof(path) - strlen(path), "&continue=");
        encode(path, sizeof(path), page->more);
    }
    self->page_length = 0;
    enum outcome how = get(self, path, LIST_TIMEOUT_MS, take_page);
    if (how == OUTCOME_DONE &&
        api_page_read(page, self->options.kind, self->page != NULL ? self->page : "",
                      self->page_length, take_object, self, message, sizeof(message)) != 0) {
        end_with(self, OUTCOME_FAILED, "%s", message);
        how = self->ended;
    } else if (how == OUTCOME_DONE && page->bad > 0) {
        say(self, "kubernetes: %zu objects of a list are left out, such as %s", page->bad, message);
    }
    free(self->page);
    self->page = NULL;
    return how;
}

/* Lists all pages. They are of one version; a token that is too old gives a 410. */
static enum outcome list(watch *self)
{
    api_page *page = calloc(1, sizeof(*page));
    enum outcome how = OUTCOME_DONE;
    if (page == NULL) {
        end_with(self, OUTCOME_FAILED, "out of memory");
        return self->ended;
    }
    pods_begin_list(self->feed, self->options.kind);
    unsigned pages = 0;
    do
        how = list_page(self, page);
    while (how == OUTCOME_DONE && page->more[0] != '\0' && ++pages < PAGES_MAX);
    if (how == OUTCOME_DONE && page->more[0] != '\0') {
        end_with(self, OUTCOME_FAILED, "the list of %s has more than %d pages", name_of(self),
                 PAGES_MAX);
        how = self->ended;
    }
    if (how == OUTCOME_DONE) {
        pods_end_list(self->feed, self->options.kind);
        note_success(self);
        (void)snprintf(self->version, sizeof(self->version), "%s", page->resource_version);
        atomic_fetch_add(&self->lists, 1);
    }
    free(page);
    return how;
}

/* ---- watch --------------------------------------------------------------------------------- */

static int take_event(void *context, const char *line, size_t length)
{
    watch *self = context;
    api_event event;
    char message[256] = "";
    int rc = api_event_read(&event, self->options.kind, line, length, message, sizeof(message));
    atomic_fetch_add(&self->events, 1);
    if (rc == 0 && event.type == API_EVENT_PUT)
        pods_put(self->feed, &event.object);
    else if (rc == 0 && event.type == API_EVENT_REMOVED)
        pods_remove(self->feed, &event.object);
    else if (rc == 0 && event.type == API_EVENT_ERROR)
        end_with(self, event.code == STATUS_GONE ? OUTCOME_GONE : OUTCOME_FAILED,
                 "the API server ends the watch (%d): %.150s", event.code, event.message);
    else if (rc != 0 && event.resource_version[0] == '\0')
        /* Without a version it is unknown where to continue. */
        end_with(self, OUTCOME_FAILED, "%s", message);
    else if (event.type == API_EVENT_UNKNOWN && event.resource_version[0] == '\0')
        end_with(self, OUTCOME_FAILED,
                 "the answer is not an event: it has neither a known type "
                 "nor an object with a version");
    else if (rc != 0)
        say(self, "kubernetes: an event is left out: %s", message);
    if (event.resource_version[0] != '\0') {
        memcpy(self->version, event.resource_version, sizeof(self->version));
        /* Only an event proves that the watch works, not the beginning of an answer. */
        self->backoff_ms = 0;
        note_success(self);
    }
    api_event_clear(&event);
    return self->ended == OUTCOME_DONE ? 0 : -1;
}

static int take_bytes(void *context, const char *bytes, size_t length)
{
    watch *self = context;
    int rc = lines_add(&self->cut, bytes, length, take_event, self);
    /* From the same version the event would be sent again; a list skips it. */
    if (rc == LINES_ERR_LIMIT) {
        end_with(self, OUTCOME_GONE, "an event is larger than limits.api_event_bytes (%zu)",
                 self->options.event_bytes);
        say(self, "kubernetes: %s; all %s are listed again", self->why, name_of(self));
    } else if (rc == LINES_ERR_NO_MEMORY)
        end_with(self, OUTCOME_FAILED, "out of memory");
    return rc;
}

static enum outcome follow(watch *self)
{
    char path[PATH_MAX_BYTES] = "";
    char query[128];
    uint32_t seconds = self->options.watch_seconds;
    /* A random length, so that the watches of all nodes do not end together. */
    seconds += (uint32_t)(self->ports.random(self->ports.context) % (seconds + 1));
    (void)snprintf(query, sizeof(query), "watch=1&allowWatchBookmarks=true&timeoutSeconds=%u",
                   seconds);
    begin_path(self, path, sizeof(path), query);
    (void)snprintf(path + strlen(path), sizeof(path) - strlen(path), "&resourceVersion=");
    encode(path, sizeof(path), self->version);
    atomic_fetch_add(&self->watches, 1);
    enum outcome how = get(self, path, seconds * 1000 + WATCH_SPARE_MS, take_bytes);
    lines_clear(&self->cut);
    return how;
}

/* ---- the loop ------------------------------------------------------------------------------ */

static uint64_t next_wait(watch *self, enum outcome how)
{
    uint64_t wait = self->options.backoff_min_ms;
    if (how != OUTCOME_DONE) {
        wait = self->backoff_ms == 0 ? self->options.backoff_min_ms : self->backoff_ms * 2;
        if (wait > self->options.backoff_max_ms)
            wait = self->options.backoff_max_ms;
        self->backoff_ms = wait;
    }
    wait = wait / 2 + self->ports.random(self->ports.context) % (wait / 2 + 1);
    return wait > self->retry_after_ms ? wait : self->retry_after_ms;
}

void watch_run(watch *self)
{
    for (;;) {
        bool listing = self->version[0] == '\0';
        enum outcome how = listing ? list(self) : follow(self);
        if (!self->ports.wait(self->ports.context, 0))
            return;
        if (listing && how == OUTCOME_DONE)
            continue; /* start the watch at once */
        if (how == OUTCOME_GONE) {
            atomic_fetch_add(&self->gone, 1);
            self->version[0] = '\0';
            if (!listing && self->backoff_ms == 0) {
                /* This is usual after a restart of the server: do not wait, but only once in a
                 * row. */
                self->backoff_ms = self->options.backoff_min_ms;
                continue;
            }
        }
        if (how != OUTCOME_DONE)
            note_failure(self);
        else
            self->backoff_ms = 0;
        if (!self->ports.wait(self->ports.context, next_wait(self, how)))
            return;
    }
}

watch_stats watch_get_stats(const watch *self)
{
    watch *from = (watch *)(uintptr_t)self;
    return (watch_stats){.lists = atomic_load(&from->lists),
                         .watches = atomic_load(&from->watches),
                         .events = atomic_load(&from->events),
                         .failures = atomic_load(&from->failures),
                         .gone = atomic_load(&from->gone)};
}
