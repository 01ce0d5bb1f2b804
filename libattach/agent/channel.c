/* SPDX-License-Identifier: Apache-2.0 */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lease.h"
#include "request.h"
#include "snapshot/snapshot.h"

#define DIRECTORY_MAX 256
#define STACK_BYTES   ((size_t)1 << 20) /* Java code runs on it; musl's default is too small */
#define BACKLOG       8
#define RECEIVE_MS    2000  /* bound on receiving a request, which a client sends at once */
#define SEND_MS       10000 /* bound on sending an answer */
#define FIRST_WAIT_MS 60000 /* time to wait for the first request after the agent was loaded */
#define RETRY_MS      5000  /* time to wait when another process holds the directory's lock */

struct channel {
    JavaVM *vm;
    void (*ended)(channel *c);
    char directory[DIRECTORY_MAX];
    int dir_fd;
    int listen_fd;
    int wake_fd;
    bool keep_library;
    atomic_bool superseded; /* the files belong to a successor */
    bool contention_is_ours;
    bool usable;     /* j is open */
    char fault[256]; /* why j is not open */
    jvm j;
    leases l;
};

/* ---- files ---- */

void channel_remove_files(const channel *c)
{
    (void)unlinkat(c->dir_fd, THREADS_SOCKET, 0);
    (void)unlinkat(c->dir_fd, THREADS_MARKER_2, 0);
    if (c->keep_library)
        return;
    (void)unlinkat(c->dir_fd, THREADS_MARKER, 0);
    (void)unlinkat(c->dir_fd, THREADS_LIBRARY, 0);
    (void)rmdir(c->directory);
}

bool channel_is_reachable(const channel *c, const char *directory)
{
    return strcmp(c->directory, directory) == 0 &&
           faccessat(c->dir_fd, THREADS_SOCKET, F_OK, 0) == 0;
}

void channel_supersede(channel *c)
{
    uint64_t one = 1;
    atomic_store(&c->superseded, true);
    while (write(c->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}

/* ---- talking to one client ---- */

/* Returns true once fd is ready, false at the deadline. */
static bool wait_for(int fd, short events, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = monotonic_ns();
        if (now >= deadline_ns)
            return false;
        struct pollfd wanted = {.fd = fd, .events = events};
        int ready = poll(&wanted, 1, (int)((deadline_ns - now) / 1000000u) + 1);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

static bool receive(int fd, void *bytes, size_t n)
{
    uint8_t *p = bytes;
    uint64_t deadline_ns = monotonic_ns() + RECEIVE_MS * UINT64_C(1000000);
    while (n > 0) {
        ssize_t got = recv(fd, p, n, MSG_DONTWAIT);
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR) ||
                   !wait_for(fd, POLLIN, deadline_ns)) {
            return false;
        }
    }
    return true;
}

static bool send_all(int fd, const void *bytes, size_t n, uint64_t deadline_ns)
{
    const uint8_t *p = bytes;
    while (n > 0) {
        ssize_t put = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put > 0) {
            p += put;
            n -= (size_t)put;
        } else if ((errno != EAGAIN && errno != EINTR) || !wait_for(fd, POLLOUT, deadline_ns)) {
            return false;
        }
    }
    return true;
}

static void answer(int fd, int status, const void *bytes, size_t n, unsigned left)
{
    threads_answer header = {.magic = THREADS_ANSWER,
                             .version = THREADS_VERSION,
                             .status = (uint32_t)status,
                             .length = (uint32_t)n,
                             .leases = left};
    uint64_t deadline_ns = monotonic_ns() + SEND_MS * UINT64_C(1000000);
    if (send_all(fd, &header, sizeof(header), deadline_ns))
        (void)send_all(fd, bytes, n, deadline_ns);
}

static void refuse(int fd, int status, const char *words, unsigned left)
{
    answer(fd, status, words, strlen(words), left);
}

/* Returns whether the client is the JVM's own user or root. HotSpot's attach socket has the same
 * rule. */
static bool is_allowed(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

/* Switches contention monitoring on while a lease wants it. The agent leaves it alone when another
 * program switched it on. */
static void settle_contention(channel *c)
{
    bool wanted = leases_want_contention(&c->l);
    if (!c->usable || wanted == c->contention_is_ours)
        return;
    if (wanted && !snapshot_contention_is_on(&c->j))
        c->contention_is_ours = snapshot_contention(&c->j, true);
    else if (!wanted && snapshot_contention(&c->j, false))
        c->contention_is_ours = false;
}

static void serve_snapshot(channel *c, int fd, const threads_ask *ask)
{
    uint8_t *bytes = NULL;
    size_t n = 0;
    lease *holder = leases_take(&c->l, ask->lease_id);
    if (holder == NULL) {
        refuse(fd, THREADS_BAD_REQUEST, "too many programs ask this JVM for snapshots",
               THREADS_LEASES);
        return;
    }
    holder->end_ns = UINT64_MAX; /* so that the lease does not end while it is served */
    holder->contention = ask->flags & THREADS_CONTENTION;
    settle_contention(c);
    int status = c->usable ? snapshot_take(&bytes, &n, &c->j, ask, &holder->h) : THREADS_JAVA_ERROR;
    holder->end_ns = monotonic_ns() + (uint64_t)ask->lease_ms * 1000000u;
    unsigned left = leases_expire(&c->l, monotonic_ns());
    if (status == THREADS_DONE)
        answer(fd, status, bytes, n, left);
    else if (status == THREADS_NO_MEMORY)
        refuse(fd, status, "the JVM's process has no memory for a snapshot", left);
    else
        refuse(fd, status, c->usable ? c->j.error : c->fault, left);
    free(bytes);
}

/* Returns whether the channel has to end. The client then removes the files, because it holds the
 * directory's lock. */
static bool serve_close(channel *c, int fd, const threads_ask *ask)
{
    lease *holder = leases_find(&c->l, ask->lease_id);
    if (holder != NULL)
        lease_drop(holder);
    settle_contention(c);
    unsigned left = leases_expire(&c->l, monotonic_ns());
    if (left == 0 && !atomic_load(&c->superseded)) {
        (void)unlinkat(c->dir_fd, THREADS_SOCKET, 0);
        (void)close(c->listen_fd);
        c->listen_fd = -1;
    }
    answer(fd, THREADS_DONE, NULL, 0, left);
    return left == 0;
}

static bool serve(channel *c)
{
    threads_ask ask;
    bool end = false;
    int fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return false;
    if (is_allowed(fd) && receive(fd, &ask, sizeof(ask))) {
        char words[64];
        const char *fault = request_fault(&ask);
        (void)snprintf(words, sizeof(words), "the request's %s is out of its range",
                       fault == NULL ? "" : fault);
        if (fault != NULL)
            refuse(fd, THREADS_BAD_REQUEST, words, leases_expire(&c->l, monotonic_ns()));
        else if (ask.op == THREADS_OP_CLOSE)
            end = serve_close(c, fd, &ask);
        else
            serve_snapshot(c, fd, &ask);
    }
    (void)close(fd);
    return end;
}

/* ---- the thread ---- */

/* Removes the files once no lease is left. Returns false when another process holds the directory's
 * lock, since that may be a new client. */
static bool give_up(channel *c)
{
    if (flock(c->dir_fd, LOCK_EX | LOCK_NB) != 0)
        return false;
    channel_remove_files(c);
    return true;
}

static int poll_ms(uint64_t until_ns)
{
    uint64_t now = monotonic_ns();
    if (until_ns <= now)
        return 0;
    uint64_t ms = (until_ns - now) / 1000000u + 1;
    return ms > THREADS_LEASE_LIMIT ? (int)THREADS_LEASE_LIMIT : (int)ms;
}

static void run(channel *c)
{
    uint64_t idle_end_ns = monotonic_ns() + FIRST_WAIT_MS * UINT64_C(1000000);
    for (;;) {
        uint64_t next = leases_next_end(&c->l);
        struct pollfd wanted[] = {{.fd = c->listen_fd, .events = POLLIN},
                                  {.fd = c->wake_fd, .events = POLLIN}};
        int ready = poll(wanted, 2, poll_ms(next == UINT64_MAX ? idle_end_ns : next));
        if (ready < 0 && errno != EINTR)
            return;
        if (ready > 0 && wanted[1].revents != 0)
            return;
        if (ready > 0 && wanted[0].revents != 0 && serve(c))
            return;
        unsigned left = leases_expire(&c->l, monotonic_ns());
        settle_contention(c);
        if (left > 0)
            idle_end_ns = 0;
        else if (monotonic_ns() >= idle_end_ns && give_up(c))
            return;
        else if (monotonic_ns() >= idle_end_ns)
            idle_end_ns = monotonic_ns() + RETRY_MS * UINT64_C(1000000);
    }
}

static void close_all(channel *c)
{
    for (int i = 0; i < THREADS_LEASES; i++)
        lease_drop(&c->l.list[i]);
    settle_contention(c);
    if (c->usable)
        jvm_close(&c->j);
}

static void *main_of_thread(void *ctx)
{
    channel *c = ctx;
    JNIEnv *env = NULL;
    char name[] = "Hotstack threads";
    JavaVMAttachArgs args = {.version = JNI_VERSION_1_6, .name = name};
    (void)prctl(PR_SET_NAME, "hotstack"); /* else it has the Attach Listener's name */
    if ((*c->vm)->AttachCurrentThreadAsDaemon(c->vm, (void **)&env, &args) == JNI_OK) {
        c->usable = jvm_open(&c->j, env);
        if (!c->usable) {
            memcpy(c->fault, c->j.error, sizeof(c->fault));
            jvm_close(&c->j);
        }
        run(c);
        close_all(c);
        (void)(*c->vm)->DetachCurrentThread(c->vm);
    }
    c->ended(c);
    return NULL;
}

/* ---- beginning and end ---- */

/* Binds the socket by its path. A path that is too long for a socket's address is replaced by one
 * through the directory's descriptor. */
static int bind_socket(const channel *c, int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t room = sizeof(address.sun_path);
    int n = snprintf(address.sun_path, room, "%s/" THREADS_SOCKET, c->directory);
    if (n < 0 || (size_t)n >= room)
        (void)snprintf(address.sun_path, room, "/proc/self/fd/%d/" THREADS_SOCKET, c->dir_fd);
    (void)unlinkat(c->dir_fd, THREADS_SOCKET, 0);
    return bind(fd, (const struct sockaddr *)&address, sizeof(address));
}

static int open_all(channel *c)
{
    c->dir_fd = open(c->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (c->dir_fd < 0)
        return CHANNEL_NO_DIRECTORY;
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->wake_fd < 0 || c->listen_fd < 0 || bind_socket(c, c->listen_fd) != 0 ||
        listen(c->listen_fd, BACKLOG) != 0)
        return CHANNEL_NO_SOCKET;
    return CHANNEL_STARTED;
}

static int start_thread(channel *c)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return CHANNEL_NO_THREAD;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(&thread, &attributes, main_of_thread, c);
    (void)pthread_attr_destroy(&attributes);
    return rc == 0 ? CHANNEL_STARTED : CHANNEL_NO_THREAD;
}

int channel_start(channel **out, JavaVM *vm, const char *directory, bool keep_library,
                  void (*ended)(channel *c))
{
    size_t n = strlen(directory);
    *out = NULL;
    if (directory[0] != '/' || n >= DIRECTORY_MAX)
        return CHANNEL_BAD_OPTIONS;
    channel *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return CHANNEL_NO_MEMORY;
    c->vm = vm;
    c->ended = ended;
    c->keep_library = keep_library;
    c->dir_fd = c->listen_fd = c->wake_fd = -1;
    memcpy(c->directory, directory, n + 1);
    *out = c;
    int rc = open_all(c);
    if (rc == CHANNEL_STARTED)
        rc = start_thread(c);
    if (rc != CHANNEL_STARTED) {
        *out = NULL;
        channel_free(c);
    }
    return rc;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

void channel_free(channel *c)
{
    close_if_open(c->listen_fd);
    close_if_open(c->wake_fd);
    close_if_open(c->dir_fd);
    free(c);
}
