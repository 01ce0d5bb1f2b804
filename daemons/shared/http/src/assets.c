/* SPDX-License-Identifier: Apache-2.0 */
#include <http/assets.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

enum { FILES_MAX = 4096, DEPTH_MAX = 8, NAME_MAX_BYTES = 512 };
static const size_t BYTES_MAX = 64u << 20;

typedef struct asset {
    char *path; /* as requested: "/assets/x.js" */
    char *data;
    size_t length;
    const char *type;
} asset;

struct http_assets {
    asset *items;
    size_t count;
    size_t bytes;
    const asset *index;
};

static const char *content_type(const char *name)
{
    static const struct {
        const char *suffix;
        const char *type;
    } table[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
        {".json", "application/json"},
        {".map", "application/json"},
        {".txt", "text/plain; charset=utf-8"},
        {".wasm", "application/wasm"},
    };
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot != NULL && i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(dot, table[i].suffix) == 0)
            return table[i].type;
    }
    return "application/octet-stream";
}

static int read_all(int fd, char *data, size_t length)
{
    for (size_t at = 0; at < length;) {
        ssize_t got = read(fd, data + at, length - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        at += (size_t)got;
    }
    return 0;
}

/* Appends an entry for path with length bytes of content. Returns NULL without memory. */
static asset *add_entry(http_assets *assets, const char *path, size_t length)
{
    asset *items = realloc(assets->items, (assets->count + 1) * sizeof(*items));

    if (items == NULL)
        return NULL;
    assets->items = items;
    asset *item = &items[assets->count];
    item->path = strdup(path);
    item->data = malloc(length > 0 ? length : 1);
    item->length = length;
    item->type = content_type(path);
    assets->count++;
    return item->path != NULL && item->data != NULL ? item : NULL;
}

static int load_file(http_assets *assets, int fd, const char *path, http_error *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return http__fail(err, HTTP_ERR_IO, 0, "Cannot read the asset %s: %s.", path,
                          strerror(errno));
    assets->bytes += (size_t)info.st_size;
    if (assets->count == FILES_MAX || assets->bytes > BYTES_MAX)
        return http__fail(err, HTTP_ERR_LIMIT, 0,
                          "The assets directory holds more than %d files or %zu bytes.", FILES_MAX,
                          BYTES_MAX);
    asset *item = add_entry(assets, path, (size_t)info.st_size);
    if (item == NULL)
        return http__fail(err, HTTP_ERR_NO_MEMORY, 0, "No memory for the asset %s.", path);
    if (read_all(fd, item->data, item->length) != 0)
        return http__fail(err, HTTP_ERR_IO, 0, "Cannot read the asset %s.", path);
    return 0;
}

static int load_directory(http_assets *assets, int fd, const char *prefix, int depth,
                          http_error *err);

/* Loads one name of a directory: a file, a directory, or something to skip. */
static int load_name(http_assets *assets, int parent, const char *prefix, const char *name,
                     int depth, http_error *err)
{
    char path[NAME_MAX_BYTES];
    struct stat info;

    int length = snprintf(path, sizeof(path), "%s/%s", prefix, name);
    if (length < 0 || (size_t)length >= sizeof(path))
        return http__fail(err, HTTP_ERR_LIMIT, 0, "An asset's name is too long: %.100s.", name);
    int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ELOOP ? 0
                              : http__fail(err, HTTP_ERR_IO, 0, "Cannot open the asset %.150s: %s.",
                                           path, strerror(errno));
    int rc = 0;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        return load_directory(assets, fd, path, depth + 1, err);
    if (S_ISREG(info.st_mode))
        rc = load_file(assets, fd, path, err);
    close(fd);
    return rc;
}

/* Takes ownership of fd. */
static int load_directory(http_assets *assets, int fd, const char *prefix, int depth,
                          http_error *err)
{
    DIR *directory = depth <= DEPTH_MAX ? fdopendir(fd) : NULL;
    int rc = 0;

    if (directory == NULL) {
        close(fd);
        return http__fail(err, HTTP_ERR_IO, 0, "Cannot list the assets below \"%s\".", prefix);
    }
    for (struct dirent *entry; rc == 0 && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] != '.')
            rc = load_name(assets, dirfd(directory), prefix, entry->d_name, depth, err);
    }
    closedir(directory);
    return rc;
}

static const asset *find(const http_assets *assets, const char *path)
{
    for (size_t i = 0; i < assets->count; i++) {
        if (strcmp(assets->items[i].path, path) == 0)
            return &assets->items[i];
    }
    return NULL;
}

int http_assets_load(http_assets **out, const char *directory, http_error *err)
{
    *out = NULL;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return http__fail(err, HTTP_ERR_IO, 0, "Cannot open the assets directory %.120s: %s.",
                          directory, strerror(errno));
    http_assets *assets = calloc(1, sizeof(*assets));
    if (assets == NULL) {
        close(fd);
        return http__fail(err, HTTP_ERR_NO_MEMORY, 0, "No memory for the assets.");
    }
    int rc = load_directory(assets, fd, "", 0, err);
    if (rc != 0) {
        http_assets_free(assets);
        return rc;
    }
    assets->index = find(assets, "/index.html");
    *out = assets;
    return 0;
}

void http_assets_free(http_assets *assets)
{
    if (assets == NULL)
        return;
    for (size_t i = 0; i < assets->count; i++) {
        free(assets->items[i].path);
        free(assets->items[i].data);
    }
    free(assets->items);
    free(assets);
}

size_t http_assets_count(const http_assets *assets)
{
    return assets->count;
}

/* The page has routes of its own, so a path that names neither a file nor the API belongs to the
 * page. */
static bool is_page_route(const char *path)
{
    const char *last = strrchr(path, '/');

    if (strncmp(path, "/v1/", 4) == 0 || strncmp(path, "/assets/", 8) == 0)
        return false;
    return last != NULL && strchr(last, '.') == NULL;
}

void http_assets_answer(const http_assets *assets, const http_request *request,
                        http_response *response)
{
    const char *path = http_request_path(request);
    const asset *item = find(assets, path);

    if (item == NULL && is_page_route(path))
        item = assets->index;
    if (item == NULL) {
        http_response_error(response, 404, "not_found", "There is no such page.");
        return;
    }
    http_response_lend(response, item->type, item->data, item->length);
    http_response_header(response, "Cache-Control",
                         strncmp(item->path, "/assets/", 8) == 0
                             ? "public, max-age=31536000, immutable"
                             : "no-cache");
    http_response_etag(response, http_request_header(request, "If-None-Match"));
}
