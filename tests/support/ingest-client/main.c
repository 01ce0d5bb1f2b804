/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest-client: sends generated batches to a backend, like a collector, and prints a line for each
 * answer: SEED HTTP-STATUS OUTCOME CODE ROWS NEEDED AMOUNT-TOTAL. With --retries, a batch that must
 * be retried is sent again, so many times, when the answer says. --save writes the bytes of the
 * first one to a file instead (the fuzzers' corpora are such files). For tests.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>
#include <zstd.h>

#include "batch.h"
#include "ingest.pb-c.h"

static const char usage[] =
    "usage: ingest-client {--url URL --token-file FILE | --save FILE} --start-ms MS [--seed N] "
    "[--count N]\n"
    "         [--rows N] [--stacks N] [--cluster C] [--workload W] [--contract N] [--status]\n"
    "         [--no-stacks] [--wrong-totals] [--wrong-stack] [--other-body] [--identity]\n"
    "         [--retries N] [--attempt N] [--heartbeat] [--dropped N]\n";

typedef struct client_options {
    batch_options batch;
    const char *url;
    char token[1024];
    const char *save;
    unsigned long count, retries, dropped;
    bool status, heartbeat, identity;
} client_options;

/* The bytes of an answer. */
typedef struct answer {
    uint8_t data[1 << 20];
    size_t length;
} answer;

static size_t keep(char *data, size_t size, size_t count, void *context)
{
    answer *a = context;

    if (size * count > sizeof(a->data) - a->length)
        return 0;
    memcpy(a->data + a->length, data, size * count);
    a->length += size * count;
    return size * count;
}

static bool read_token(char *out, size_t capacity, const char *path)
{
    FILE *from = fopen(path, "r");
    bool good = from != NULL && fgets(out, (int)capacity, from) != NULL;

    if (from != NULL)
        fclose(from);
    if (good)
        out[strcspn(out, "\n")] = '\0';
    return good;
}

static bool parse(client_options *o, int argc, char **argv)
{
    enum {
        URL = 1,
        TOKEN,
        START,
        SEED,
        COUNT,
        ROWS,
        STACKS,
        CLUSTER,
        WORKLOAD,
        CONTRACT,
        STATUS,
        NO_STACKS,
        WRONG_TOTALS,
        WRONG_STACK,
        OTHER_BODY,
        IDENTITY,
        RETRIES,
        SAVE,
        ATTEMPT,
        HEARTBEAT,
        DROPPED
    };
    static const struct option options[] = {
        {"url", required_argument, NULL, URL},
        {"token-file", required_argument, NULL, TOKEN},
        {"start-ms", required_argument, NULL, START},
        {"seed", required_argument, NULL, SEED},
        {"count", required_argument, NULL, COUNT},
        {"rows", required_argument, NULL, ROWS},
        {"stacks", required_argument, NULL, STACKS},
        {"cluster", required_argument, NULL, CLUSTER},
        {"workload", required_argument, NULL, WORKLOAD},
        {"contract", required_argument, NULL, CONTRACT},
        {"status", no_argument, NULL, STATUS},
        {"no-stacks", no_argument, NULL, NO_STACKS},
        {"wrong-totals", no_argument, NULL, WRONG_TOTALS},
        {"wrong-stack", no_argument, NULL, WRONG_STACK},
        {"other-body", no_argument, NULL, OTHER_BODY},
        {"identity", no_argument, NULL, IDENTITY},
        {"retries", required_argument, NULL, RETRIES},
        {"save", required_argument, NULL, SAVE},
        {"attempt", required_argument, NULL, ATTEMPT},
        {"heartbeat", no_argument, NULL, HEARTBEAT},
        {"dropped", required_argument, NULL, DROPPED},
        {NULL, 0, NULL, 0},
    };

    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case URL:
            o->url = optarg;
            break;
        case TOKEN:
            if (!read_token(o->token, sizeof(o->token), optarg))
                return false;
            break;
        case START:
            o->batch.start_ms = strtoull(optarg, NULL, 10);
            break;
        case SEED:
            o->batch.seed = strtoull(optarg, NULL, 10);
            break;
        case COUNT:
            o->count = strtoul(optarg, NULL, 10);
            break;
        case ROWS:
            o->batch.rows = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case STACKS:
            o->batch.stacks = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case CLUSTER:
            o->batch.cluster = optarg;
            break;
        case WORKLOAD:
            o->batch.workload = optarg;
            break;
        case CONTRACT:
            o->batch.contract = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case STATUS:
            o->status = true;
            break;
        case NO_STACKS:
            o->batch.with_stacks = false;
            break;
        case WRONG_TOTALS:
            o->batch.wrong_totals = true;
            break;
        case WRONG_STACK:
            o->batch.wrong_stack = true;
            break;
        case OTHER_BODY:
            o->batch.other_body = true;
            break;
        case IDENTITY:
            o->identity = true;
            break;
        case ATTEMPT:
            o->batch.attempt = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case HEARTBEAT:
            o->heartbeat = true;
            break;
        case DROPPED:
            o->dropped = strtoul(optarg, NULL, 10);
            break;
        case SAVE:
            o->save = optarg;
            break;
        case RETRIES:
            o->retries = strtoul(optarg, NULL, 10);
            break;
        default:
            return false;
        }
    }
    return (o->save != NULL || (o->url != NULL && o->token[0] != '\0')) && o->batch.start_ms != 0 &&
           o->batch.stacks > 0 && o->batch.rows <= 8 * o->batch.stacks;
}

static struct curl_slist *make_headers(const client_options *o)
{
    char authorization[1100];
    struct curl_slist *list = NULL;

    snprintf(authorization, sizeof(authorization), "Authorization: Bearer %s", o->token);
    list = curl_slist_append(list, authorization);
    list = curl_slist_append(list, "Content-Type: application/x-protobuf");
    if (!o->identity)
        list = curl_slist_append(list, "Content-Encoding: zstd");
    return list;
}

/* Compresses the bytes, which it frees, into new memory. */
static uint8_t *compress_payload(uint8_t *data, size_t *length)
{
    size_t bound = ZSTD_compressBound(*length);
    uint8_t *out = malloc(bound);

    *length = ZSTD_compress(out, bound, data, *length, 1);
    free(data);
    return out;
}

/* Prints an answer, and returns after how many ms the payload is sent again; 0 = it is not. */
static uint32_t print_answer(const client_options *o, long status, const answer *a,
                             uint64_t amount_total)
{
    static const char *const names[] = {"unspecified", "accepted", "duplicate",
                                        "rejected",    "retry",    "need_stacks"};
    uint32_t wait_ms = 0;
    Hotstack__V1__IngestAnswer *m =
        status != 0 ? hotstack__v1__ingest_answer__unpack(NULL, a->length, a->data) : NULL;

    if (m == NULL)
        printf("%llu %ld none - 0 0 %llu\n", (unsigned long long)o->batch.seed, status,
               (unsigned long long)amount_total);
    else
        printf("%llu %ld %s %s %llu %zu %llu\n", (unsigned long long)o->batch.seed, status,
               m->outcome <= HOTSTACK__V1__OUTCOME__OUTCOME_NEED_STACKS ? names[m->outcome] : "?",
               m->code[0] != '\0' ? m->code : "-", (unsigned long long)m->rows, m->n_need_stack,
               (unsigned long long)amount_total);
    fflush(stdout);
    if (m != NULL && m->outcome == HOTSTACK__V1__OUTCOME__OUTCOME_RETRY)
        wait_ms = m->retry_after_ms;
    if (m != NULL)
        hotstack__v1__ingest_answer__free_unpacked(m, NULL);
    return wait_ms;
}

/* Waits between half of the time and all of it, as collectors must not all retry at the same
 * moment. */
static void wait_for(uint32_t ms)
{
    uint32_t half = ms / 2;
    usleep((half + (uint32_t)rand() % (half + 1)) * 1000);
}

static uint8_t *make_payload(const client_options *o, size_t *length, uint64_t *amount_total)
{
    if (o->heartbeat)
        return heartbeat_make(&o->batch, o->dropped, length);
    return o->status ? status_make(&o->batch, 1, 0, length)
                     : batch_make(&o->batch, length, amount_total);
}

static void send_one(CURL *curl, const client_options *o, answer *a)
{
    uint64_t amount_total = 0;
    size_t length;
    long status = 0;
    uint8_t *payload = make_payload(o, &length, &amount_total);

    if (!o->identity)
        payload = compress_payload(payload, &length);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, payload);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    for (unsigned long tries = 0; tries <= o->retries; tries++) {
        a->length = 0;
        status = 0;
        if (curl_easy_perform(curl) == CURLE_OK)
            curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        uint32_t wait_ms = print_answer(o, status, a, amount_total);
        if (wait_ms == 0)
            break;
        if (tries < o->retries)
            wait_for(wait_ms);
    }
    free(payload);
}

static int save_one(const client_options *o)
{
    uint64_t amount_total = 0;
    size_t length;
    uint8_t *payload = make_payload(o, &length, &amount_total);
    FILE *to = fopen(o->save, "wb");
    bool good = to != NULL && fwrite(payload, 1, length, to) == length;

    good = to != NULL && fclose(to) == 0 && good;
    if (!good)
        perror(o->save);
    free(payload);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    client_options o = {.batch = {.cluster = "test",
                                  .workload = "shop",
                                  .seed = 1,
                                  .rows = 200,
                                  .stacks = 100,
                                  .contract = 1,
                                  .attempt = 1,
                                  .with_stacks = true},
                        .count = 1};
    char url[1024];

    if (!parse(&o, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    if (o.save != NULL)
        return save_one(&o);
    answer *a = malloc(sizeof(*a));
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = make_headers(&o);
    srand((unsigned)o.batch.seed);
    const char *route = o.status ? "status" : "profiles";
    snprintf(url, sizeof(url), "%s/v1/ingest/%s", o.url, o.heartbeat ? "heartbeat" : route);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
    for (unsigned long i = 0; i < o.count; i++, o.batch.seed++)
        send_one(curl, &o, a);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    free(a);
    return 0;
}
