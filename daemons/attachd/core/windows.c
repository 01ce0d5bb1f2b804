/* SPDX-License-Identifier: Apache-2.0 */
/* Finished windows with their handles, oldest first, within the limits. */
#include "core_impl.h"

#include <stdlib.h>
#include <string.h>

static void drop_oldest(attachd *self)
{
    window *one = self->oldest;
    self->oldest = one->next;
    if (self->oldest == NULL)
        self->newest = NULL;
    self->window_count--;
    self->window_bytes -= one->size;
    self->ports.close_file(self->ports.context, one->fd);
    free(one);
}

int attachd__keep_window(attachd *self, int fd, uint64_t size, uint8_t handle[LOCAL_ID_SIZE])
{
    window *one = calloc(1, sizeof(*one));
    if (one == NULL) {
        self->ports.close_file(self->ports.context, fd);
        return -1;
    }
    self->ports.random_id(self->ports.context, one->handle);
    memcpy(handle, one->handle, LOCAL_ID_SIZE);
    one->fd = fd;
    one->size = size;
    pthread_mutex_lock(&self->lock);
    while (self->oldest != NULL && (self->window_count >= self->limits.windows ||
                                    self->window_bytes + size > self->limits.spool_bytes)) {
        drop_oldest(self);
        self->windows_dropped++;
    }
    if (self->newest != NULL)
        self->newest->next = one;
    else
        self->oldest = one;
    self->newest = one;
    self->window_count++;
    self->window_bytes += size;
    pthread_mutex_unlock(&self->lock);
    return 0;
}

static window *find(attachd *self, const uint8_t *handle)
{
    window *one = self->oldest;
    while (one != NULL && memcmp(one->handle, handle, LOCAL_ID_SIZE) != 0)
        one = one->next;
    return one;
}

long attachd__read_window(attachd *self, const uint8_t handle[LOCAL_ID_SIZE], uint64_t offset,
                          uint8_t *to, size_t length)
{
    pthread_mutex_lock(&self->lock);
    const window *one = find(self, handle);
    size_t used = 0;
    long got = 1;
    while (one != NULL && offset <= one->size && used < length && got > 0) {
        got = self->ports.read_file(self->ports.context, one->fd, offset + used, to + used,
                                    length - used);
        used += got > 0 ? (size_t)got : 0;
    }
    pthread_mutex_unlock(&self->lock);
    return one == NULL || got < 0 ? -1 : (long)used;
}

void attachd__drop_window(attachd *self, const uint8_t handle[LOCAL_ID_SIZE])
{
    pthread_mutex_lock(&self->lock);
    window *before = NULL;
    window *one = self->oldest;
    while (one != NULL && memcmp(one->handle, handle, LOCAL_ID_SIZE) != 0) {
        before = one;
        one = one->next;
    }
    if (one != NULL && before == NULL) {
        drop_oldest(self);
    } else if (one != NULL) {
        before->next = one->next;
        if (self->newest == one)
            self->newest = before;
        self->window_count--;
        self->window_bytes -= one->size;
        self->ports.close_file(self->ports.context, one->fd);
        free(one);
    }
    pthread_mutex_unlock(&self->lock);
}

void attachd__drop_all_windows(attachd *self)
{
    while (self->oldest != NULL)
        drop_oldest(self);
}
