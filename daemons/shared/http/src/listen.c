/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "front.h"
#include "internal.h"

static int parse_address(const char *text, uint16_t port, struct sockaddr_storage *out,
                         socklen_t *length)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memcpy(out, &v4, sizeof(v4));
        *length = sizeof(v4);
        return 0;
    }
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        memcpy(out, &v6, sizeof(v6));
        *length = sizeof(v6);
        return 0;
    }
    return -1;
}

int http__listen(const char *address, uint16_t port, http_error *err)
{
    struct sockaddr_storage where;
    socklen_t length;
    int on = 1;

    if (parse_address(address, port, &where, &length) != 0)
        return http__fail(err, HTTP_ERR_USAGE, 0,
                          "\"%.80s\" is not a numeric IPv4 or IPv6 address to listen on.", address);
    int fd = socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return http__fail(err, HTTP_ERR_IO, 0, "Cannot make a socket: %s.", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&where, length) != 0 || listen(fd, 256) != 0) {
        int code = http__fail(err, HTTP_ERR_IO, 0, "Cannot listen on %s port %u: %s.", address,
                              (unsigned)port, strerror(errno));
        close(fd);
        return code;
    }
    return fd;
}

static const void *address_bytes(const struct sockaddr_storage *address, size_t *length)
{
    if (address->ss_family == AF_INET) {
        *length = sizeof(struct in_addr);
        return &((const struct sockaddr_in *)address)->sin_addr;
    }
    *length = sizeof(struct in6_addr);
    return &((const struct sockaddr_in6 *)address)->sin6_addr;
}

void http__peer_text(char *out, size_t capacity, const struct sockaddr_storage *address)
{
    size_t length;

    if (inet_ntop(address->ss_family, address_bytes(address, &length), out, (socklen_t)capacity) ==
        NULL)
        snprintf(out, capacity, "unknown");
}

bool http__same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    size_t length_a, length_b;
    const void *bytes_a = address_bytes(a, &length_a), *bytes_b = address_bytes(b, &length_b);

    return length_a == length_b && memcmp(bytes_a, bytes_b, length_a) == 0;
}
