/* SPDX-License-Identifier: Apache-2.0 */
#include "front.h"

#include <base/clock.h>
#include <base/thread.h>

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"

enum { TICK_MS = 250, EVENTS = 64 };

/* The owner of an epoll event: a connection, or one of these two. */
static char listen_mark, wake_mark;

static void wake(front *f)
{
    uint64_t one = 1;

    /* The counter cannot overflow in practice; EAGAIN means that the reader is awake anyway. */
    if (write(f->wake_fd, &one, sizeof(one)) < 0)
        return;
}

void http__front_watch(front *f, front_conn *conn, int fd, uint32_t *current, uint32_t wanted)
{
    struct epoll_event event = {.events = wanted, .data.ptr = conn};

    if (*current == wanted)
        return;
    /* An event set of 0 still reports hang-ups, which nothing would handle, so the descriptor is
     * removed. */
    int op = wanted == 0 ? EPOLL_CTL_DEL : *current == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (epoll_ctl(f->epoll_fd, op, fd, &event) == 0)
        *current = wanted;
}

/* ---- called by the engine's thread ---- */

front_conn *http__front_started(front *f, int fd)
{
    pthread_mutex_lock(&f->lock);
    front_conn *conn = f->conns;
    while (conn != NULL && conn->engine_fd != fd)
        conn = conn->next;
    pthread_mutex_unlock(&f->lock);
    return conn;
}

void http__front_closed(front *f, front_conn *conn)
{
    pthread_mutex_lock(&f->lock);
    conn->engine_fd = -1;
    pthread_mutex_unlock(&f->lock);
    wake(f);
}

void http__front_completed(front *f, front_conn *conn)
{
    atomic_fetch_add(&conn->completed, 1);
    wake(f);
}

/* ---- the front's own thread ---- */

static unsigned count_address(const front *f, const struct sockaddr_storage *address)
{
    unsigned count = 0;

    for (const front_conn *conn = f->conns; conn != NULL; conn = conn->next)
        count += http__same_address(&conn->address, address) ? 1 : 0;
    return count;
}

static void add_conn(front *f, int fd, const struct sockaddr_storage *address, uint64_t now)
{
    int on = 1;
    front_conn *conn = calloc(1, sizeof(*conn));

    if (conn == NULL) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    conn->client_fd = fd;
    conn->inner_fd = conn->engine_fd = -1;
    conn->address = *address;
    conn->deadline_ms = now + f->options->head_ms;
    http__peer_text(conn->peer, sizeof(conn->peer), address);
    pthread_mutex_lock(&f->lock);
    conn->next = f->conns;
    f->conns = conn;
    pthread_mutex_unlock(&f->lock);
    f->count++;
    atomic_fetch_add(&f->open, 1);
    atomic_fetch_add(&f->accepted, 1);
    http__conn_run(f, conn, now);
}

static void accept_all(front *f, uint64_t now)
{
    for (int i = 0; i < EVENTS; i++) {
        struct sockaddr_storage address = {0};
        socklen_t length = sizeof(address);
        int fd = accept4(f->listen_fd, (struct sockaddr *)&address, &length,
                         SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        if (f->count >= f->options->connections ||
            count_address(f, &address) >= f->options->connections_per_address) {
            atomic_fetch_add(&f->refused_connections, 1);
            close(fd);
            continue;
        }
        add_conn(f, fd, &address, now);
    }
}

/* Returns true when both sides have released a connection. */
static bool is_over(front *f, front_conn *conn)
{
    if (conn->state != CONN_GONE)
        return false;
    pthread_mutex_lock(&f->lock);
    bool over = conn->engine_fd < 0;
    pthread_mutex_unlock(&f->lock);
    return over;
}

static void sweep(front *f, uint64_t now)
{
    for (front_conn **link = &f->conns; *link != NULL;) {
        front_conn *conn = *link;
        if (conn->state != CONN_GONE && now >= conn->deadline_ms) {
            http__conn_expire(f, conn, now);
            http__conn_run(f, conn, now);
        }
        if (!is_over(f, conn)) {
            link = &conn->next;
            continue;
        }
        pthread_mutex_lock(&f->lock);
        *link = conn->next;
        pthread_mutex_unlock(&f->lock);
        free(conn);
        f->count--;
    }
}

/* Runs all connections after the engine's signal, which does not name one; there are few. */
static void run_answered(front *f, uint64_t now)
{
    uint64_t ignored;

    if (read(f->wake_fd, &ignored, sizeof(ignored)) < 0)
        return;
    for (front_conn *conn = f->conns; conn != NULL; conn = conn->next) {
        if (conn->state == CONN_ANSWER && atomic_load(&conn->completed) != conn->answered)
            http__conn_run(f, conn, now);
    }
}

static void begin_stop(front *f, uint64_t now)
{
    close(f->listen_fd);
    f->listen_fd = -1;
    f->stop_ms = now + f->grace_ms;
}

/* Ends the connections that may end now. Returns true when no client is left. */
static bool continue_stop(front *f, uint64_t now)
{
    bool busy = false;

    for (front_conn *conn = f->conns; conn != NULL; conn = conn->next) {
        bool idle = conn->state == CONN_HEAD || conn->state == CONN_LINGER;
        if (idle || now >= f->stop_ms)
            http__conn_close(f, conn);
        busy |= conn->state != CONN_GONE;
    }
    return !busy;
}

static void handle_event(front *f, const struct epoll_event *event, uint64_t now)
{
    if (event->data.ptr == &listen_mark)
        accept_all(f, now);
    else if (event->data.ptr == &wake_mark)
        run_answered(f, now);
    else
        http__conn_run(f, event->data.ptr, now);
}

static void *front_main(void *context)
{
    front *f = context;
    struct epoll_event events[EVENTS];

    for (bool done = false; !done;) {
        int n = epoll_wait(f->epoll_fd, events, EVENTS, f->count > 0 ? TICK_MS : -1);
        uint64_t now = clock_monotonic_ms(NULL);
        for (int i = 0; i < n; i++) {
            if (f->listen_fd >= 0 || events[i].data.ptr != &listen_mark)
                handle_event(f, &events[i], now);
        }
        if (atomic_load(&f->stopping)) {
            if (f->listen_fd >= 0)
                begin_stop(f, now);
            done = continue_stop(f, now);
        }
        /* Connections are only freed here, where no events for them can be pending. */
        sweep(f, now);
    }
    return NULL;
}

static int add_source(front *f, int fd, void *mark)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = mark};

    return epoll_ctl(f->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void close_sources(front *f)
{
    if (f->listen_fd >= 0)
        close(f->listen_fd);
    if (f->epoll_fd >= 0)
        close(f->epoll_fd);
    if (f->wake_fd >= 0)
        close(f->wake_fd);
}

int http__front_start(front *f, http_error *err)
{

    f->epoll_fd = f->wake_fd = -1;
    f->listen_fd = http__listen(f->options->address, f->options->port, err);
    if (f->listen_fd < 0)
        return f->listen_fd;
    f->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    f->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (f->epoll_fd < 0 || f->wake_fd < 0 || add_source(f, f->listen_fd, &listen_mark) != 0 ||
        add_source(f, f->wake_fd, &wake_mark) != 0) {
        close_sources(f);
        return http__fail(err, HTTP_ERR_IO, 0, "Cannot set up epoll: %s.", strerror(errno));
    }
    pthread_mutex_init(&f->lock, NULL);
    int rc = thread_start(&f->thread, front_main, f);
    if (rc != 0) {
        close_sources(f);
        return http__fail(err, HTTP_ERR_IO, 0, "Cannot start a thread: %s.", strerror(rc));
    }
    return 0;
}

void http__front_stop(front *f, uint32_t grace_ms)
{
    f->grace_ms = grace_ms;
    atomic_store(&f->stopping, true);
    wake(f);
    pthread_join(f->thread, NULL);
}

void http__front_free(front *f)
{
    while (f->conns != NULL) {
        front_conn *next = f->conns->next;
        free(f->conns);
        f->conns = next;
    }
    close_sources(f);
    pthread_mutex_destroy(&f->lock);
}
