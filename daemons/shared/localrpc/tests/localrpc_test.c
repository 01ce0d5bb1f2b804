/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a collector and attachd over a real nng socket. */
#include <localrpc/client.h>
#include <localrpc/server.h>

#include <catalogue/reason.h>
#include <check.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "run_suite.h"

static char directory[64];
static char path[96];
static uint32_t own_uid;
static localrpc_server *server;
static atomic_uint executed;
static atomic_bool hold; /* handlers of STOP wait until it is false */

static void handle(void *context, const local_request *request, local_answer *answer)
{
    (void)context;
    unsigned turn = atomic_fetch_add(&executed, 1) + 1;
    while (request->op == LOCAL_STOP && atomic_load(&hold))
        usleep(1000);
    answer->size = turn;
    (void)snprintf(answer->detail, sizeof(answer->detail), "pid %u", request->jvm.host_pid);
    if (request->op == LOCAL_LIST) {
        answer->jvm_count = 2;
        answer->jvms = calloc(2, sizeof(*answer->jvms));
        (void)snprintf(answer->jvms[1].main_class, sizeof(answer->jvms[1].main_class), "demo.Main");
        answer->jvms[1].id.host_pid = 42;
    }
    if (request->op == LOCAL_READ) {
        answer->length = request->length;
        answer->data = malloc(request->length + 1);
        memset(answer->data, 'x', request->length);
    }
}

static localrpc_server_options options_for(const uint32_t *uids, size_t count)
{
    localrpc_server_options options = LOCALRPC_SERVER_OPTIONS_INIT;
    options.socket_path = path;
    options.uids = uids;
    options.uid_count = count;
    options.handler = handle;
    options.workers = 4;
    return options;
}

static void serve(const uint32_t *uids, size_t count)
{
    localrpc_server_options options = options_for(uids, count);
    localrpc_error err = {0};
    int rc = localrpc_server_start(&server, &options, &err);
    ck_assert_msg(rc == 0, "%s", err.message);
}

static void set_up(void)
{
    strcpy(directory, "/tmp/hotstack-localrpc-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    (void)snprintf(path, sizeof(path), "%s/attachd.sock", directory);
    own_uid = (uint32_t)geteuid();
    atomic_store(&executed, 0);
    atomic_store(&hold, false);
    server = NULL;
}

static void tear_down(void)
{
    localrpc_server_stop(server);
    unlink(path);
    rmdir(directory);
}

static localrpc_client *open_client(void)
{
    localrpc_client *client = NULL;
    localrpc_error err = {0};
    ck_assert_msg(localrpc_client_open(&client, path, LOCALRPC_ATTACHD, &err) == 0, "%s",
                  err.message);
    return client;
}

static local_request new_request(local_op op)
{
    local_request request = {.op = op, .deadline_ms = 10000};
    request.jvm.host_pid = 7;
    localrpc_new_id(request.id);
    return request;
}

static void ask(localrpc_client *client, const local_request *request, local_answer *answer)
{
    localrpc_error err = {0};
    int rc = localrpc_client_call(client, request, answer, &err);
    ck_assert_msg(rc == 0, "%s", err.message);
}

START_TEST(a_request_is_answered)
{
    serve(&own_uid, 1);
    localrpc_client *client = open_client();
    local_request request = new_request(LOCAL_LIST);
    local_answer answer;
    ask(client, &request, &answer);
    ck_assert_uint_eq(answer.jvm_count, 2);
    ck_assert_str_eq(answer.jvms[1].main_class, "demo.Main");
    ck_assert_uint_eq(answer.jvms[1].id.host_pid, 42);
    local_answer_clear(&answer);
    localrpc_client_close(client);
}
END_TEST

START_TEST(a_whole_piece_travels)
{
    serve(&own_uid, 1);
    localrpc_client *client = open_client();
    local_request request = new_request(LOCAL_READ);
    request.length = LOCAL_PIECE_MAX;
    local_answer answer;
    ask(client, &request, &answer);
    ck_assert_uint_eq(answer.length, LOCAL_PIECE_MAX);
    ck_assert_int_eq(answer.data[LOCAL_PIECE_MAX - 1], 'x');
    local_answer_clear(&answer);
    localrpc_client_close(client);
}
END_TEST

START_TEST(a_repeated_id_is_done_once)
{
    serve(&own_uid, 1);
    localrpc_client *client = open_client();
    local_request request = new_request(LOCAL_WINDOW);
    for (int i = 0; i < 3; i++) {
        local_answer answer;
        ask(client, &request, &answer);
        ck_assert_uint_eq(answer.size, 1);
        ck_assert_str_eq(answer.detail, "pid 7");
        local_answer_clear(&answer);
    }
    ck_assert_uint_eq(atomic_load(&executed), 1);
    request.jvm.host_pid = 8; /* the same id for another request */
    local_answer answer;
    ask(client, &request, &answer);
    ck_assert_uint_eq(answer.reason, REASON_INTERNAL);
    ck_assert_uint_eq(atomic_load(&executed), 1);
    local_answer_clear(&answer);
    localrpc_client_close(client);
}
END_TEST

typedef struct asker {
    localrpc_client *client;
    local_request request;
    uint64_t turn;
} asker;

static void *ask_aside(void *argument)
{
    asker *self = argument;
    local_answer answer;
    if (localrpc_client_call(self->client, &self->request, &answer, NULL) == 0)
        self->turn = answer.size;
    local_answer_clear(&answer);
    return NULL;
}

START_TEST(a_repeated_id_waits_for_the_one_that_runs)
{
    serve(&own_uid, 1);
    localrpc_client *client = open_client();
    atomic_store(&hold, true);
    asker askers[2] = {{.client = client, .request = new_request(LOCAL_STOP)}, {0}};
    askers[1] = askers[0];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_aside, &askers[i]), 0);
    while (atomic_load(&executed) == 0)
        usleep(1000);
    atomic_store(&hold, false);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(askers[i].turn, 1);
    }
    ck_assert_uint_eq(atomic_load(&executed), 1);
    localrpc_client_close(client);
}
END_TEST

START_TEST(others_are_served_beside_a_slow_request)
{
    serve(&own_uid, 1);
    localrpc_client *client = open_client();
    atomic_store(&hold, true);
    asker slow = {.client = client, .request = new_request(LOCAL_STOP)};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, ask_aside, &slow), 0);
    while (atomic_load(&executed) == 0)
        usleep(1000);
    local_request request = new_request(LOCAL_SESSION);
    local_answer answer;
    ask(client, &request, &answer);
    ck_assert_uint_eq(answer.size, 2);
    atomic_store(&hold, false);
    pthread_join(thread, NULL);
    local_answer_clear(&answer);
    localrpc_client_close(client);
}
END_TEST

START_TEST(a_foreign_uid_is_refused_before_its_request_is_read)
{
    uint32_t foreign = own_uid + 1;
    serve(&foreign, 1);
    localrpc_client *client = open_client();
    local_request request = new_request(LOCAL_LIST);
    local_answer answer;
    localrpc_error err = {0};
    ck_assert_int_eq(localrpc_client_call(client, &request, &answer, &err),
                     LOCALRPC_ERR_UNREACHABLE);
    ck_assert_msg(strstr(err.message, path) != NULL, "%s", err.message);
    ck_assert_uint_eq(atomic_load(&executed), 0);
    localrpc_client_close(client);
}
END_TEST

/* Sends a message that our client would not send, on a bare req socket. */
static int send_raw(const void *bytes, size_t length, nng_msg **reply)
{
    char url[128];
    (void)snprintf(url, sizeof(url), "ipc://%s", path);
    nng_socket raw;
    nng_msg *message = NULL;
    ck_assert_int_eq(nng_req0_open(&raw), 0);
    ck_assert_int_eq(nng_socket_set_ms(raw, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE), 0);
    ck_assert_int_eq(nng_socket_set_ms(raw, NNG_OPT_RECVTIMEO, 10000), 0);
    /* No reconnection at the same time as the close below: nng 1.5.2 leaks memory in that race. */
    ck_assert_int_eq(nng_socket_set_ms(raw, NNG_OPT_RECONNMINT, 60000), 0);
    ck_assert_int_eq(nng_dial(raw, url, NULL, 0), 0);
    ck_assert_int_eq(nng_msg_alloc(&message, 0), 0);
    ck_assert_int_eq(nng_msg_append(message, bytes, length), 0);
    ck_assert_int_eq(nng_sendmsg(raw, message, 0), 0);
    *reply = NULL;
    int rc = nng_recvmsg(raw, reply, 0);
    nng_close(raw);
    return rc;
}

START_TEST(an_oversized_request_ends_its_connection_only)
{
    serve(&own_uid, 1);
    size_t length = LOCAL_REQUEST_MAX + 1;
    uint8_t *bytes = calloc(1, length);
    nng_msg *reply = NULL;
    ck_assert_int_eq(send_raw(bytes, length, &reply), NNG_ECONNRESET);
    free(bytes);
    ck_assert_uint_eq(atomic_load(&executed), 0);
    localrpc_client *client = open_client();
    local_request request = new_request(LOCAL_LIST);
    local_answer answer;
    ask(client, &request, &answer);
    local_answer_clear(&answer);
    localrpc_client_close(client);
}
END_TEST

static struct sockaddr_un address(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    (void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    return at;
}

START_TEST(peers_that_leave_at_once_do_not_deafen_the_server)
{
    serve(&own_uid, 1);
    struct sockaddr_un at = address();
    for (int i = 0; i < 300; i++) {
        int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_ge(peer, 0);
        /* Refused while the listener restarts. */
        (void)connect(peer, (const struct sockaddr *)&at, sizeof(at));
        close(peer);
    }
    localrpc_client *client = open_client();
    local_request request = new_request(LOCAL_LIST);
    local_answer answer;
    ask(client, &request, &answer);
    local_answer_clear(&answer);
    localrpc_client_close(client);
}
END_TEST

/* A server that closes the first connections and is a real one afterwards. */
static void *hang_up_then_serve(void *argument)
{
    int listening = *(int *)argument;
    for (int i = 0; i < 3; i++) {
        int peer = accept(listening, NULL, NULL);
        if (peer >= 0)
            close(peer);
    }
    close(listening);
    unlink(path);
    serve(&own_uid, 1);
    return NULL;
}

START_TEST(a_server_that_hangs_up_is_dialled_again)
{
    struct sockaddr_un at = address();
    pthread_t thread;
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(listening, (const struct sockaddr *)&at, sizeof(at)), 0);
    ck_assert_int_eq(listen(listening, 16), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, hang_up_then_serve, &listening), 0);
    localrpc_client *client = open_client();
    local_request request = new_request(LOCAL_LIST);
    localrpc_error err = {0};
    local_answer answer;
    int rc = LOCALRPC_ERR_UNREACHABLE;
    for (int calls = 0; calls < 4 && rc == LOCALRPC_ERR_UNREACHABLE; calls++)
        /* This makes it dial at least once more. */
        rc = localrpc_client_call(client, &request, &answer, &err);
    ck_assert_msg(rc == 0, "%s", err.message);
    local_answer_clear(&answer);
    localrpc_client_close(client);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

/* A server that loses the first request and answers the later ones, which must have its id. It ends
 * with the socket. */
static void *lose_the_first(void *argument)
{
    nng_socket *socket = argument;
    local_answer answer = {.size = 5};
    nng_msg *message = NULL;
    for (int i = 0; nng_recvmsg(*socket, &message, 0) == 0; i++) {
        local_request request;
        int rc = local_request_decode(&request, nng_msg_body(message), nng_msg_len(message));
        nng_msg_free(message);
        if (i == 0)
            memcpy(answer.id, request.id, LOCAL_ID_SIZE);
        uint8_t *bytes = NULL;
        size_t length = 0;
        if (i == 0 || rc != 0 || memcmp(answer.id, request.id, LOCAL_ID_SIZE) != 0 ||
            local_answer_encode(&bytes, &length, &answer) != 0)
            continue;
        (void)nng_send(*socket, bytes, length, 0);
        free(bytes);
    }
    return NULL;
}

START_TEST(a_lost_request_is_asked_again_with_its_id)
{
    nng_socket socket;
    char url[300];
    pthread_t thread;
    (void)snprintf(url, sizeof(url), "ipc://%s", path);
    ck_assert_int_eq(nng_rep0_open(&socket), 0);
    ck_assert_int_eq(nng_listen(socket, url, NULL, 0), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, lose_the_first, &socket), 0);
    localrpc_client *client = open_client();
    local_request request = new_request(LOCAL_LIST);
    request.deadline_ms = 1;
    local_answer answer;
    ask(client, &request, &answer);
    ck_assert_uint_eq(answer.size, 5);
    local_answer_clear(&answer);
    localrpc_client_close(client);
    nng_close(socket);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

/* nng's ipc transport begins the next part of a message even if the connection is ending, and the
 * server's end would wait for it. */
START_TEST(a_piece_is_sent_in_one_part)
{
    local_answer answer = {.length = LOCAL_PIECE_MAX, .data = calloc(1, LOCAL_PIECE_MAX)};
    uint8_t *bytes = NULL;
    size_t length = 0;
    int ends[2];
    ck_assert_int_eq(local_answer_encode(&bytes, &length, &answer), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    ck_assert_int_eq(write(ends[0], bytes, length), (ssize_t)length);
    close(ends[0]);
    close(ends[1]);
    free(bytes);
    local_answer_clear(&answer);
}
END_TEST

/* A function that ends later than the limit, in place of an nng connection that never ends; others
 * wait for it. */
static atomic_bool may_end;
static atomic_bool ends;

static void hold_up(nng_pipe pipe, nng_pipe_ev event, void *context)
{
    (void)pipe;
    (void)event;
    (void)context;
    atomic_store(&ends, true);
    while (!atomic_load(&may_end))
        usleep(1000);
}

static atomic_uint told;

static void count_line(void *context, const char *message)
{
    (void)context;
    atomic_fetch_add(&told, strstr(message, "does not end") != NULL);
}

START_TEST(a_connection_that_does_not_end_holds_up_nobody)
{
    nng_socket here;
    nng_socket there;
    atomic_store(&may_end, false);
    atomic_store(&ends, false);
    atomic_store(&told, 0);
    ck_assert_int_eq(nng_rep0_open(&here), 0);
    ck_assert_int_eq(nng_req0_open(&there), 0);
    ck_assert_int_eq(nng_pipe_notify(here, NNG_PIPE_EV_REM_POST, hold_up, NULL), 0);
    ck_assert_int_eq(nng_listen(here, "inproc://held", NULL, 0), 0);
    ck_assert_int_eq(nng_dial(there, "inproc://held", NULL, 0), 0);

    localrpc_server_options options = options_for(&own_uid, 1);
    options.log = count_line;
    localrpc_error err = {0};
    ck_assert_int_eq(localrpc_server_start(&server, &options, &err), 0);
    localrpc_client *client = open_client();
    local_request request = new_request(LOCAL_LIST);
    local_answer answer;
    ask(client, &request, &answer);
    local_answer_clear(&answer);

    nng_pipe pipe;
    nng_msg *message;
    ck_assert_int_eq(nng_msg_alloc(&message, 1), 0);
    ck_assert_int_eq(nng_sendmsg(there, message, 0), 0);
    ck_assert_int_eq(nng_recvmsg(here, &message, 0), 0);
    pipe = nng_msg_get_pipe(message);
    nng_msg_free(message);
    ck_assert_int_eq(nng_pipe_close(pipe), 0);
    while (!atomic_load(&ends))
        usleep(1000);

    localrpc_server_stop(server);
    server = NULL;
    ck_assert_uint_eq(atomic_load(&told), 1);
    localrpc_client_close(client);
    ck_assert_int_ne(access(path, F_OK), 0); /* no client is led to a server that has ended */
    atomic_store(&may_end, true);
    nng_close(there);
    nng_close(here);
}
END_TEST

START_TEST(garbage_is_answered_with_nothing)
{
    serve(&own_uid, 1);
    nng_msg *reply = NULL;
    ck_assert_int_eq(send_raw("\xff\xff\xff", 3, &reply), 0);
    ck_assert_uint_eq(nng_msg_len(reply), 0);
    nng_msg_free(reply);
    ck_assert_uint_eq(atomic_load(&executed), 0);
}
END_TEST

START_TEST(another_protocol_is_named)
{
    serve(&own_uid, 1);
    local_request request = new_request(LOCAL_LIST);
    uint8_t *bytes = NULL;
    size_t length = 0;
    ck_assert_int_eq(local_request_encode(&bytes, &length, &request), 0);
    ck_assert_uint_eq(bytes[0], 0x08); /* field 1, varint: the protocol comes first */
    bytes[1] = 99;
    nng_msg *reply = NULL;
    ck_assert_int_eq(send_raw(bytes, length, &reply), 0);
    local_answer answer;
    ck_assert_int_eq(local_answer_decode(&answer, nng_msg_body(reply), nng_msg_len(reply)), 0);
    ck_assert_uint_eq(answer.reason, REASON_PROTOCOL_MISMATCH);
    local_answer_clear(&answer);
    nng_msg_free(reply);
    free(bytes);
}
END_TEST

START_TEST(a_client_finds_a_server_that_comes_later_or_again)
{
    localrpc_client *client = open_client();
    local_request request = new_request(LOCAL_LIST);
    local_answer answer;
    ck_assert_int_eq(localrpc_client_call(client, &request, &answer, NULL),
                     LOCALRPC_ERR_UNREACHABLE);
    for (int i = 0; i < 2; i++) {
        serve(&own_uid, 1);
        request = new_request(LOCAL_LIST);
        ask(client, &request, &answer);
        local_answer_clear(&answer);
        localrpc_server_stop(server);
        server = NULL;
    }
    localrpc_client_close(client);
}
END_TEST

START_TEST(the_socket_is_for_its_owner_and_its_directory_must_be_safe)
{
    serve(&own_uid, 1);
    struct stat at;
    ck_assert_int_eq(stat(path, &at), 0);
    ck_assert_uint_eq(at.st_mode & 0777, 0600);
    localrpc_server_stop(server);
    server = NULL;

    ck_assert_int_eq(chmod(directory, 0777), 0);
    localrpc_server_options options = options_for(&own_uid, 1);
    localrpc_error err = {0};
    ck_assert_int_eq(localrpc_server_start(&server, &options, &err), LOCALRPC_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, directory));
    options.socket_path = "relative.sock";
    ck_assert_int_eq(localrpc_server_start(&server, &options, &err), LOCALRPC_ERR_USAGE);
    ck_assert_ptr_null(server);
}
END_TEST

START_TEST(every_field_survives_the_wire)
{
    local_request request = new_request(LOCAL_START);
    (void)snprintf(request.jvm.boot_id, sizeof(request.jvm.boot_id),
                   "01234567-89ab-cdef-0123-456789abcdef");
    request.jvm.start_ticks = UINT64_MAX;
    request.events = (event_intervals){{10000000, 2097152, 1, 50000000, 3, 4}};
    request.memlimit_bytes = 64;
    request.rate_limit = 10000;
    uint8_t *bytes = NULL;
    size_t length = 0;
    local_request back;
    ck_assert_int_eq(local_request_encode(&bytes, &length, &request), 0);
    ck_assert_int_eq(local_request_decode(&back, bytes, length), 0);
    ck_assert(local_identity_equal(&back.jvm, &request.jvm));
    ck_assert_mem_eq(&back.events, &request.events, sizeof(back.events));
    ck_assert_uint_eq(back.memlimit_bytes, 64);
    ck_assert_uint_eq(back.rate_limit, 10000);
    free(bytes);
    request = new_request(LOCAL_WINDOW);
    request.offset = UINT64_MAX;
    request.settled = 7;
    ck_assert_int_eq(local_request_encode(&bytes, &length, &request), 0);
    ck_assert_int_eq(local_request_decode(&back, bytes, length), 0);
    ck_assert_uint_eq(back.offset, UINT64_MAX);
    ck_assert_uint_eq(back.settled, 7);
    free(bytes);

    local_answer answer = {.reason = REASON_NO_EXEC_DIR,
                           .has_handle = true,
                           .session_ms = 5,
                           .offset = 6,
                           .gap_ms = 3,
                           .dropped_events = 17,
                           .workers_unreaped = 3,
                           .lacks = {{"hidepid", "others are hidden", "show them"},
                                     {"mount", "no procfs", "mount it"}},
                           .lack_count = 2,
                           .absent = 1 << EVENT_LIVE,
                           .absent_reason = "live: why",
                           .window_start_ms = 1,
                           .window_end_ms = 2,
                           .session = 3};
    memset(answer.handle, 9, sizeof(answer.handle));
    (void)snprintf(answer.engine, sizeof(answer.engine), "ctimer");
    ck_assert_int_eq(local_answer_encode(&bytes, &length, &answer), 0);
    local_answer got;
    ck_assert_int_eq(local_answer_decode(&got, bytes, length), 0);
    ck_assert_uint_eq(got.reason, REASON_NO_EXEC_DIR);
    ck_assert(got.has_handle && memcmp(got.handle, answer.handle, sizeof(got.handle)) == 0);
    ck_assert_uint_eq(got.session_ms, 5);
    ck_assert_uint_eq(got.offset, 6);
    ck_assert_uint_eq(got.gap_ms, 3);
    ck_assert_uint_eq(got.dropped_events, 17);
    ck_assert_uint_eq(got.workers_unreaped, 3);
    ck_assert_uint_eq(got.lack_count, 2);
    ck_assert_str_eq(got.lacks[1].check, "mount");
    ck_assert_str_eq(got.lacks[1].message, "no procfs");
    ck_assert_str_eq(got.lacks[1].fix, "mount it");
    ck_assert_uint_eq(got.absent, 1 << EVENT_LIVE);
    ck_assert_str_eq(got.absent_reason, "live: why");
    ck_assert_str_eq(got.engine, "ctimer");
    for (size_t cut = 0; cut < length; cut++) {
        local_answer part;
        if (local_answer_decode(&part, bytes, cut) == 0)
            local_answer_clear(&part);
    }
    local_answer_clear(&got);
    free(bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("localrpc");
    TCase *tests = tcase_create("nng");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_request_is_answered);
    tcase_add_test(tests, a_whole_piece_travels);
    tcase_add_test(tests, a_repeated_id_is_done_once);
    tcase_add_test(tests, a_repeated_id_waits_for_the_one_that_runs);
    tcase_add_test(tests, others_are_served_beside_a_slow_request);
    tcase_add_test(tests, a_foreign_uid_is_refused_before_its_request_is_read);
    tcase_add_test(tests, an_oversized_request_ends_its_connection_only);
    tcase_add_test(tests, peers_that_leave_at_once_do_not_deafen_the_server);
    tcase_add_test(tests, a_server_that_hangs_up_is_dialled_again);
    tcase_add_test(tests, a_lost_request_is_asked_again_with_its_id);
    tcase_add_test(tests, a_piece_is_sent_in_one_part);
    tcase_add_test(tests, a_connection_that_does_not_end_holds_up_nobody);
    tcase_add_test(tests, garbage_is_answered_with_nothing);
    tcase_add_test(tests, another_protocol_is_named);
    tcase_add_test(tests, a_client_finds_a_server_that_comes_later_or_again);
    tcase_add_test(tests, the_socket_is_for_its_owner_and_its_directory_must_be_safe);
    tcase_add_test(tests, every_field_survives_the_wire);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
