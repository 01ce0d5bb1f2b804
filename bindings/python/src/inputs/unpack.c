/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

enum { WINDOW_GZIP = 15 + 16, PIECE = 1 << 20, READ = 1 << 16 };

typedef struct unpacking {
    bytes *out;
    size_t max;
    z_stream z;
    bool at_end; /* of a member; another one can follow */
} unpacking;

/* Makes room and unpacks one piece. Returns false when it cannot continue. */
static bool inflate_piece(unpacking *u)
{
    if (u->at_end && u->z.avail_in == 0) {
        u->z.avail_out = PIECE;
        return true;
    }
    if (u->at_end && inflateReset(&u->z) != Z_OK)
        return false;
    if (!bytes_reserve(u->out, PIECE))
        return false;
    u->z.next_out = u->out->data + u->out->size;
    u->z.avail_out = PIECE;
    int status = inflate(&u->z, Z_NO_FLUSH);
    u->out->size += PIECE - u->z.avail_out;
    u->at_end = status == Z_STREAM_END;
    return (status == Z_OK || status == Z_BUF_ERROR || u->at_end) && u->out->size <= u->max;
}

static bool feed(unpacking *u, const void *data, size_t size)
{
    const unsigned char *next = data;
    while (size > 0) {
        size_t piece = size < READ ? size : READ;
        u->z.next_in = next;
        u->z.avail_in = (uInt)piece;
        do {
            if (!inflate_piece(u))
                return false;
        } while (u->z.avail_in > 0 || u->z.avail_out == 0);
        next += piece;
        size -= piece;
    }
    return true;
}

static bool is_packed(const unsigned char *data, size_t size)
{
    return size > 2 && data[0] == 0x1F && data[1] == 0x8B;
}

static bool begin(unpacking *u, bytes *out, size_t max)
{
    *u = (unpacking){.out = out, .max = max};
    return inflateInit2(&u->z, WINDOW_GZIP) == Z_OK;
}

/* Ends the unpacking, and shrinks the memory to the size of the result. */
static bool end(unpacking *u, bool good)
{
    (void)inflateEnd(&u->z);
    if (!good || !u->at_end) {
        bytes_free(u->out);
        return false;
    }
    unsigned char *less = realloc(u->out->data, u->out->size + 1);
    if (less != NULL) {
        u->out->data = less;
        u->out->room = u->out->size + 1;
    }
    return true;
}

bool unpack(bytes *out, const void *data, size_t size, size_t max)
{
    unpacking u;
    if (!is_packed(data, size) || !begin(&u, out, max))
        return false;
    return end(&u, feed(&u, data, size));
}

bool unpack_file(bytes *out, const char *path, size_t max)
{
    unsigned char piece[READ];
    unpacking u;
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, piece, sizeof(piece));
    bool good = got > 0 && is_packed(piece, (size_t)got) && begin(&u, out, max);
    if (good) {
        do {
            good = feed(&u, piece, (size_t)got);
            got = good ? read(fd, piece, sizeof(piece)) : 0;
        } while (got > 0);
        good = end(&u, good && got == 0);
    }
    (void)close(fd);
    return good;
}
