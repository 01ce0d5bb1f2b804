/*
 * Pages as batches. Everything in a page is a stranger's: each column is read from its front
 * through `take`, which ends where the column does, each number is held against its table, and what
 * a page stands for is added up before memory is taken for it.
 */
#include "book_impl.h"

#include <batchform/wire.h>
#include <budget.h>
#include <stackagg/stackagg.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Frames keep their ids, and where the newest frame of the class was before they came. */
typedef struct read_frame {
    book_frame frame;
    uint64_t id;
    uint32_t newest_before; /* and 1 */
} read_frame;

typedef struct read_node {
    book_node node;
    uint32_t depth;
} read_node;

typedef struct read_stack {
    uint8_t id[STACK_ID_SIZE];
    uint32_t node;
    uint8_t flags;
} read_stack;

typedef struct read_list {
    book_key *keys;
    size_t count, room;
    size_t kept;
} read_list;

/* What entry of the batch under way stands for an entry of the book; of another page: none. */
typedef struct use {
    uint32_t page; /* and 1 */
    uint32_t index;
} use;

struct book {
    uint64_t number;
    uint32_t pages;
    Hotstack__V1__Collector *sender;
    bool sender_is_new;
    string_table strings;
    uint32_t *newest; /* by string: the newest frame of that class and 1 */
    use *string_uses;
    size_t newest_room, string_use_room;
    read_frame *frames;
    read_node *nodes;
    read_stack *stacks;
    use *stack_uses;
    read_list *lists;
    book_thread *threads;
    batch_target *targets;
    use *target_uses;
    size_t frame_room, node_room, stack_room, stack_use_room, list_room, thread_room, target_room,
        target_use_room;
    book_counts counts, kept;
    uint32_t *used; /* the stacks of the batch under way, by its own numbers */
    size_t used_count, used_room;
    uint64_t *frame_ids; /* of one stack */
    size_t frame_id_room;
    uint8_t last_id[BATCH_ID_SIZE], last_digest[16];
};

/* Columns read so far. */
typedef struct cursor {
    size_t string, string_byte, target, frame, stack, stack_frame, key, thread, row_gap,
        row_samples, row_raw, row_value, series, second, thread_step, thread_samples, thread_raw,
        thread_value;
} cursor;

/* A page on its way. */
typedef struct reading {
    book *from;
    const page_content *content;
    const book_limits *limits;
    batch *out;
    book_fault *fault;
    enum book_result result;
    cursor at;
    uint32_t *keys; /* of this window, in its list; until it has its own, of the one before */
    size_t key_count, key_room;
    uint32_t list;
    size_t first_row, first_thread; /* of the window before */
    uint32_t *thread_numbers;       /* the same of threads */
    size_t thread_count, thread_room;
} reading;

book *book_new(uint64_t number)
{
    book *one = calloc(1, sizeof(*one));
    if (one != NULL)
        one->number = number;
    return one;
}

void book_free(book *one)
{
    if (one == NULL)
        return;
    for (size_t i = 0; i < one->counts.lists; i++)
        free(one->lists[i].keys);
    if (one->sender != NULL)
        hotstack__v1__collector__free_unpacked(one->sender, NULL);
    string_table_clear(&one->strings);
    free(one->newest);
    free(one->string_uses);
    free(one->frames);
    free(one->nodes);
    free(one->stacks);
    free(one->stack_uses);
    free(one->lists);
    free(one->threads);
    free(one->targets);
    free(one->target_uses);
    free(one->used);
    free(one->frame_ids);
    free(one);
}

uint64_t book_number(const book *one)
{
    return one->number;
}

uint32_t book_pages(const book *one)
{
    return one->pages;
}

uint64_t book_size(const book *one)
{
    return book__size(&one->counts);
}

const Hotstack__V1__Collector *book_sender(const book *one)
{
    return one->sender;
}

void book_keep(book *one, const uint8_t id[BATCH_ID_SIZE], const uint8_t digest[16])
{
    for (size_t i = 0; i < one->counts.lists; i++)
        one->lists[i].kept = one->lists[i].count;
    one->kept = one->counts;
    one->sender_is_new = false;
    one->pages++;
    memcpy(one->last_id, id, sizeof(one->last_id));
    memcpy(one->last_digest, digest, sizeof(one->last_digest));
}

static void forget_uses(use *uses, size_t count)
{
    if (count > 0)
        memset(uses, 0, count * sizeof(*uses));
}

void book_drop(book *one)
{
    for (size_t i = one->counts.frames; i-- > one->kept.frames;)
        one->newest[one->frames[i].frame.class_name] = one->frames[i].newest_before;
    for (size_t i = one->counts.lists; i-- > one->kept.lists;)
        free(one->lists[i].keys);
    for (size_t i = 0; i < one->kept.lists; i++)
        one->lists[i].count = one->lists[i].kept;
    string_table_cut(&one->strings, one->kept.strings);
    if (one->sender_is_new) {
        hotstack__v1__collector__free_unpacked(one->sender, NULL);
        one->sender = NULL;
        one->sender_is_new = false;
    }
    one->counts = one->kept;
    /* Uses of this page must not be found by the next that has its number. */
    forget_uses(one->string_uses, one->string_use_room);
    forget_uses(one->stack_uses, one->stack_use_room);
    forget_uses(one->target_uses, one->target_use_room);
}

bool book_has_just(const book *one, const uint8_t id[BATCH_ID_SIZE], const uint8_t digest[16])
{
    return one->pages > 0 && memcmp(one->last_id, id, sizeof(one->last_id)) == 0 &&
           memcmp(one->last_digest, digest, sizeof(one->last_digest)) == 0;
}

/* ---- faults ---- */

static bool fail(reading *in, enum book_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(reading *in, enum book_result result, const char *format, ...)
{
    va_list arguments;
    if (in->result != BOOK_READ)
        return false;
    in->result = result;
    va_start(arguments, format);
    (void)vsnprintf(in->fault->text, sizeof(in->fault->text), format, arguments);
    va_end(arguments);
    return false;
}

static bool no_memory(reading *in)
{
    return fail(in, BOOK_NO_MEMORY, "No memory to read a page.");
}

/* ---- columns ---- */

static bool take32(reading *in, const char *name, const uint32_t *items, size_t count, size_t at,
                   uint32_t *out)
{
    if (at >= count)
        return fail(in, BOOK_UNREADABLE, "%s has %zu entries; more are asked for.", name, count);
    *out = items[at];
    return true;
}

static bool take64(reading *in, const char *name, const uint64_t *items, size_t count, size_t at,
                   uint64_t *out)
{
    if (at >= count)
        return fail(in, BOOK_UNREADABLE, "%s has %zu entries; more are asked for.", name, count);
    *out = items[at];
    return true;
}

#define TAKE_OF(in, message, field, at, out)                                                       \
    _Generic((message)->field, uint32_t *                                                          \
             : take32, uint64_t *                                                                  \
             : take64)((in), #field, (message)->field, (message)->n_##field, (at), (out))
#define TAKE(in, field, at, out) TAKE_OF((in), (in)->content, field, (at), (out))

static bool in_range(reading *in, const char *what, uint64_t number, size_t count)
{
    return number < count || fail(in, BOOK_UNREADABLE, "A page names %s %llu; the book has %zu.",
                                  what, (unsigned long long)number, count);
}

/* ---- strings ---- */

/* Room for entry `at` of an array whose entries begin as zero. */
static bool reserve_zeroed(void **items, size_t *room, size_t at, size_t item_size)
{
    while (*room <= at) {
        size_t old = *room;
        if (array_reserve(items, room, old, item_size) != 0)
            return false;
        memset((char *)*items + old * item_size, 0, (*room - old) * item_size);
    }
    return true;
}

static bool take_string(reading *in, uint32_t *number)
{
    book *b = in->from;
    uint32_t length = 0;
    const ProtobufCBinaryData *data = &in->content->string_data;
    if (!TAKE(in, string_length, in->at.string, &length))
        return false;
    if (length > STRING_BYTES_MAX || length > data->len - in->at.string_byte || length == 0)
        return fail(in, BOOK_UNREADABLE, "string_length: entry %zu is %u.", in->at.string, length);
    if (string_table_append(&b->strings, (const char *)data->data + in->at.string_byte, length) !=
        0)
        return no_memory(in);
    in->at.string++;
    in->at.string_byte += length;
    *number = (uint32_t)b->strings.count - 1;
    b->counts.strings = b->strings.count;
    b->counts.string_bytes = b->strings.bytes;
    return reserve_zeroed((void **)&b->newest, &b->newest_room, *number, sizeof(*b->newest)) &&
                   reserve_zeroed((void **)&b->string_uses, &b->string_use_room, *number,
                                  sizeof(*b->string_uses))
               ? true
               : no_memory(in);
}

static bool resolve_string(reading *in, uint32_t ref, uint32_t *number)
{
    if (ref == 0)
        return take_string(in, number);
    *number = ref - 1;
    return in_range(in, "string", *number, in->from->strings.count);
}

/* The book's string as one of the batch. */
static bool use_string(reading *in, uint32_t number, uint32_t *index)
{
    book *b = in->from;
    if (number == 0) {
        *index = 0;
        return true;
    }
    use *known = &b->string_uses[number];
    if (known->page != b->pages + 1) {
        if (batch_move_string(&in->out->strings, &b->strings, number, index) != 0)
            return no_memory(in);
        *known = (use){b->pages + 1, *index};
    }
    *index = known->index;
    return true;
}

/* ---- frames and stacks ---- */

static sagg_str word(const book *b, uint32_t number)
{
    size_t length = 0;
    const char *text = string_table_at(&b->strings, number, &length);
    return (sagg_str){text, length};
}

static bool hash_frame(reading *in, read_frame *to)
{
    const book *b = in->from;
    sagg_frame given = {.class_name = word(b, to->frame.class_name),
                        .method = word(b, to->frame.method),
                        .line = to->frame.line,
                        .kind = (uint8_t)to->frame.kind};
    sagg_frame normal;
    char *storage = NULL;
    if (sagg_frame_normalise(&normal, &storage, &given, SAGG_NORMALISE_V1, NULL) != 0)
        return no_memory(in);
    sagg_frame_hash(NULL, &to->id, &normal);
    free(storage);
    return true;
}

static bool take_file(reading *in, const book_frame *frame, uint32_t code, uint32_t *file)
{
    const book *b = in->from;
    uint32_t newest = frame->class_name < b->newest_room ? b->newest[frame->class_name] : 0;
    if (code != 0)
        return resolve_string(in, code - 1, file);
    *file = newest != 0 ? b->frames[newest - 1].frame.file : 0;
    return true;
}

static bool take_frame(reading *in, uint32_t *number)
{
    enum { KINDS = 5 };
    book *b = in->from;
    const page_content *c = in->content;
    size_t at = in->at.frame++;
    uint32_t class_ref = 0;
    uint32_t method_ref = 0;
    uint32_t file_code = 0;
    read_frame fresh = {0};
    if (!TAKE(in, frame_class, at, &class_ref) || !TAKE(in, frame_method, at, &method_ref) ||
        !TAKE(in, frame_file, at, &file_code) || !TAKE(in, frame_line, at, &fresh.frame.line) ||
        !resolve_string(in, class_ref, &fresh.frame.class_name) ||
        !resolve_string(in, method_ref, &fresh.frame.method) ||
        !take_file(in, &fresh.frame, file_code, &fresh.frame.file))
        return false;
    if (at >= c->frame_kind.len || c->frame_kind.data[at] >= KINDS)
        return fail(in, BOOK_UNREADABLE, "frame_kind has no kind of a frame at entry %zu.", at);
    fresh.frame.kind = c->frame_kind.data[at];
    read_frame *to = BATCH_NEXT(b->frames, b->frame_room, b->counts.frames);
    if (to == NULL)
        return no_memory(in);
    if (!hash_frame(in, &fresh))
        return false;
    *number = (uint32_t)b->counts.frames++;
    if (fresh.frame.class_name != 0) {
        fresh.newest_before = b->newest[fresh.frame.class_name];
        b->newest[fresh.frame.class_name] = *number + 1;
    }
    *to = fresh;
    return true;
}

static bool take_node(reading *in, uint32_t *node)
{
    book *b = in->from;
    uint32_t ref = 0;
    read_node fresh = {.node = {.parent = *node}, .depth = b->nodes[*node].depth + 1};
    if (!TAKE(in, stack_frame, in->at.stack_frame, &ref))
        return false;
    in->at.stack_frame++;
    if (fresh.depth > in->limits->depth)
        return fail(in, BOOK_UNREADABLE, "A stack has more than %llu frames.",
                    (unsigned long long)in->limits->depth);
    if (ref == 0) {
        if (!take_frame(in, &fresh.node.frame))
            return false;
    } else {
        fresh.node.frame = ref - 1;
        if (!in_range(in, "frame", fresh.node.frame, b->counts.frames))
            return false;
    }
    read_node *to = BATCH_NEXT(b->nodes, b->node_room, b->counts.nodes);
    if (to == NULL)
        return no_memory(in);
    *to = fresh;
    *node = (uint32_t)b->counts.nodes++;
    return true;
}

/* The id of the stack that ends at a node. */
static bool hash_stack(reading *in, read_stack *stack)
{
    book *b = in->from;
    size_t depth = b->nodes[stack->node].depth;
    sagg_stack_id id;
    if (b->frame_id_room < depth + 1) {
        uint64_t *grown = realloc(b->frame_ids, 2 * (depth + 1) * sizeof(*grown));
        if (grown == NULL)
            return no_memory(in);
        b->frame_ids = grown;
        b->frame_id_room = 2 * (depth + 1);
    }
    uint32_t node = stack->node;
    for (size_t i = 0; i < depth; i++) {
        b->frame_ids[i] = b->frames[b->nodes[node].node.frame].id;
        node = b->nodes[node].node.parent;
    }
    if (sagg_stack_id_of_frame_ids(&id, b->frame_ids, depth, SAGG_NORMALISE_V1, NULL) != 0)
        return no_memory(in);
    memcpy(stack->id, id.bytes, sizeof(stack->id));
    return true;
}

static bool take_stack(reading *in, uint32_t *number)
{
    book *b = in->from;
    size_t at = in->at.stack++;
    read_stack fresh = {0};
    uint32_t added = 0;
    if (!TAKE(in, stack_base, at, &fresh.node) || !TAKE(in, stack_added, at, &added) ||
        !in_range(in, "node", fresh.node, b->counts.nodes))
        return false;
    for (uint32_t i = 0; i < added; i++) {
        if (!take_node(in, &fresh.node))
            return false;
    }
    if (at >= in->content->stack_flags.len)
        return fail(in, BOOK_UNREADABLE, "stack_flags has no entry %zu.", at);
    fresh.flags = in->content->stack_flags.data[at];
    read_stack *to = BATCH_NEXT(b->stacks, b->stack_room, b->counts.stacks);
    if (to == NULL || !reserve_zeroed((void **)&b->stack_uses, &b->stack_use_room, b->counts.stacks,
                                      sizeof(*b->stack_uses)))
        return no_memory(in);
    if (!hash_stack(in, &fresh))
        return false;
    *to = fresh;
    *number = (uint32_t)b->counts.stacks++;
    return true;
}

/* The book's stack as one of the batch. */
static bool use_stack(reading *in, uint32_t number, uint32_t *index)
{
    book *b = in->from;
    use *known = &b->stack_uses[number];
    if (known->page == b->pages + 1) {
        *index = known->index;
        return true;
    }
    bool is_new = false;
    uint32_t *used = BATCH_NEXT(b->used, b->used_room, b->used_count);
    if (used == NULL ||
        key_table_add(&in->out->stack_ids, b->stacks[number].id, index, &is_new) != 0)
        return no_memory(in);
    if (!is_new)
        return fail(in, BOOK_UNREADABLE, "Stack %u has frames that another stack has.", number);
    b->used[b->used_count++] = number;
    *known = (use){b->pages + 1, *index};
    return true;
}

/* ---- targets ---- */

static bool take_target(reading *in, uint32_t *number)
{
    book *b = in->from;
    const Hotstack__V1__TargetColumns *t = in->content->targets;
    size_t at = in->at.target++;
    batch_target fresh;
    uint32_t refs[TARGET_TEXTS] = {0};
    memset(&fresh, 0, sizeof(fresh));
    if (t == NULL)
        return fail(in, BOOK_UNREADABLE, "targets is missing.");
    if (!TAKE_OF(in, t, namespace_str, at, &refs[0]) ||
        !TAKE_OF(in, t, workload_kind_str, at, &refs[1]) ||
        !TAKE_OF(in, t, workload_str, at, &refs[2]) || !TAKE_OF(in, t, pod_str, at, &refs[3]) ||
        !TAKE_OF(in, t, container_str, at, &refs[4]) ||
        !TAKE_OF(in, t, pod_uid_str, at, &refs[5]) ||
        !TAKE_OF(in, t, container_id_str, at, &refs[6]) ||
        !TAKE_OF(in, t, boot_id_str, at, &refs[7]) ||
        !TAKE_OF(in, t, host_pid, at, &fresh.host_pid) ||
        !TAKE_OF(in, t, ns_pid, at, &fresh.ns_pid) ||
        !TAKE_OF(in, t, start_ticks, at, &fresh.start_ticks) ||
        !TAKE_OF(in, t, start_ms, at, &fresh.start_ms) ||
        !TAKE_OF(in, t, jvm_version_str, at, &refs[8]) ||
        !TAKE_OF(in, t, jvm_vendor_str, at, &refs[9]) ||
        !TAKE_OF(in, t, main_class_str, at, &refs[10]) ||
        !TAKE_OF(in, t, app_version_str, at, &refs[11]) ||
        !TAKE_OF(in, t, image_str, at, &refs[12]))
        return false;
    for (size_t i = 0; i < TARGET_TEXTS; i++) {
        uint32_t string = 0;
        if (!resolve_string(in, refs[i], &string))
            return false;
        memcpy((char *)&fresh + batch_target_texts[i], &string, sizeof(string));
    }
    batch_target *to = BATCH_NEXT(b->targets, b->target_room, b->counts.targets);
    if (to == NULL || !reserve_zeroed((void **)&b->target_uses, &b->target_use_room,
                                      b->counts.targets, sizeof(*b->target_uses)))
        return no_memory(in);
    *to = fresh;
    *number = (uint32_t)b->counts.targets++;
    return true;
}

static bool use_target(reading *in, uint32_t number, uint32_t *index)
{
    book *b = in->from;
    batch *out = in->out;
    use *known = &b->target_uses[number];
    if (known->page == b->pages + 1) {
        *index = known->index;
        return true;
    }
    batch_target *to = BATCH_NEXT(out->targets, out->target_room, out->target_count);
    if (to == NULL)
        return no_memory(in);
    *to = b->targets[number];
    for (size_t i = 0; i < TARGET_TEXTS; i++) {
        uint32_t string = 0;
        memcpy(&string, (const char *)to + batch_target_texts[i], sizeof(string));
        if (!use_string(in, string, &string))
            return false;
        memcpy((char *)to + batch_target_texts[i], &string, sizeof(string));
    }
    *index = (uint32_t)out->target_count++;
    *known = (use){b->pages + 1, *index};
    return true;
}

static bool take_window_target(reading *in, size_t window, uint32_t *index)
{
    uint32_t ref = 0;
    uint32_t number = 0;
    if (!TAKE(in, window_target, window, &ref))
        return false;
    if (ref == 0 ? !take_target(in, &number)
                 : !in_range(in, "target", number = ref - 1, in->from->counts.targets))
        return false;
    return use_target(in, number, index);
}

/* ---- rows ---- */

static bool take_list(reading *in, size_t window, uint32_t *number)
{
    book *b = in->from;
    uint32_t ref = 0;
    if (!TAKE(in, window_list, window, &ref))
        return false;
    *number = ref - 1;
    if (ref != 0)
        return in_range(in, "list", *number, b->counts.lists);
    read_list *to = BATCH_NEXT(b->lists, b->list_room, b->counts.lists);
    if (to == NULL)
        return no_memory(in);
    *to = (read_list){0};
    *number = (uint32_t)b->counts.lists++;
    return true;
}

static bool note_key(reading *in, uint32_t key)
{
    uint32_t *next = BATCH_NEXT(in->keys, in->key_room, in->key_count);
    if (next == NULL)
        return no_memory(in);
    *next = key;
    in->key_count++;
    return true;
}

static bool take_key(reading *in, read_list *list)
{
    size_t at = in->at.key++;
    uint32_t stack = 0;
    uint32_t pool = 0;
    uint32_t object = 0;
    book_key fresh = {0};
    if (!TAKE(in, key_stack, at, &stack) || !TAKE(in, key_pool, at, &pool) ||
        !TAKE(in, key_facet, at, &fresh.facet) || !TAKE(in, key_object, at, &object))
        return false;
    if (stack == 0 ? !take_stack(in, &fresh.stack)
                   : !in_range(in, "stack", fresh.stack = stack - 1, in->from->counts.stacks))
        return false;
    if (!resolve_string(in, pool, &fresh.pool) || !resolve_string(in, object, &fresh.object))
        return false;
    book_key *to = BATCH_NEXT(list->keys, list->room, list->count);
    if (to == NULL)
        return no_memory(in);
    *to = fresh;
    in->from->counts.keys++;
    return note_key(in, (uint32_t)list->count++);
}

/* The keys of the window's rows, as numbers in their list, into in->keys. */
static bool take_keys(reading *in, size_t window, uint32_t form, uint32_t list_number)
{
    read_list *list = &in->from->lists[list_number];
    uint32_t known = 0;
    uint32_t fresh = 0;
    uint64_t next = 0;
    if ((form & FORM(ROWS_AS_BEFORE)) != 0)
        return (window > 0 && in->list == list_number) ||
               fail(in, BOOK_UNREADABLE, "Window %zu has rows as before, of another list.", window);
    in->key_count = 0;
    in->list = list_number;
    if (!TAKE(in, window_known, window, &known) || !TAKE(in, window_new, window, &fresh))
        return false;
    size_t count = list->count;
    for (uint32_t i = 0; i < known; i++) {
        uint32_t gap = 0;
        if (!TAKE(in, row_gap, in->at.row_gap, &gap))
            return false;
        in->at.row_gap++;
        next += gap;
        if (!in_range(in, "key", next, count) || !note_key(in, (uint32_t)next))
            return false;
        next++;
    }
    for (uint32_t i = 0; i < fresh; i++) {
        if (!take_key(in, list))
            return false;
    }
    return true;
}

typedef struct values {
    uint64_t samples, raw, value;
} values;

static bool take_row_values(reading *in, uint32_t form, uint64_t interval, values *out)
{
    uint64_t difference = 0;
    if ((form & FORM(SAMPLES_AS_BEFORE)) == 0 &&
        !TAKE(in, row_samples, in->at.row_samples++, &out->samples))
        return false;
    if ((form & FORM(RAW_IS_SAMPLES)) != 0)
        out->raw = out->samples;
    else if ((form & FORM(RAW_BY_INTERVAL)) != 0)
        out->raw = out->samples * interval;
    else if (!TAKE(in, row_raw, in->at.row_raw++, &out->raw))
        return false;
    if ((form & FORM(VALUE_IS_RAW)) == 0 && !TAKE(in, row_value, in->at.row_value++, &difference))
        return false;
    out->value = out->raw + unzigzag(difference);
    return true;
}

static bool take_row(reading *in, uint32_t window, const book_key *key, const values *got)
{
    batch *out = in->out;
    batch_row *to = BATCH_NEXT(out->rows, out->row_room, out->row_count);
    if (to == NULL)
        return no_memory(in);
    *to = (batch_row){.window = window,
                      .facet = key->facet,
                      .raw_value = got->raw,
                      .value = got->value,
                      .samples = got->samples};
    out->row_count++;
    profile_part *totals = &out->windows[window].totals;
    totals->samples += got->samples;
    totals->raw_total += got->raw;
    totals->value_total += got->value;
    return use_string(in, key->pool, &to->pool_str) &&
           use_string(in, key->object, &to->object_str) && use_stack(in, key->stack, &to->stack);
}

static bool take_rows(reading *in, uint32_t window, uint32_t form)
{
    const read_list *list = &in->from->lists[in->list];
    uint64_t interval = in->out->windows[window].totals.interval;
    size_t before = in->first_row;
    if (in->out->row_count + in->key_count > in->limits->rows)
        return fail(in, BOOK_TOO_LARGE, "A page stands for more than %llu rows.",
                    (unsigned long long)in->limits->rows);
    if ((form & FORM(SAMPLES_AS_BEFORE)) != 0 && (form & FORM(ROWS_AS_BEFORE)) == 0)
        return fail(in, BOOK_UNREADABLE, "Window %u has samples as before, but other rows.",
                    window);
    in->first_row = in->out->row_count;
    for (size_t i = 0; i < in->key_count; i++) {
        values got = {0};
        if ((form & FORM(SAMPLES_AS_BEFORE)) != 0)
            got.samples = in->out->rows[before + i].samples;
        if (!take_row_values(in, form, interval, &got) ||
            !take_row(in, window, &list->keys[in->keys[i]], &got))
            return false;
    }
    return true;
}

/* ---- seconds ---- */

static bool take_second(reading *in, uint32_t window, uint32_t pool, uint64_t unit, uint64_t *next,
                        uint64_t *last)
{
    batch *out = in->out;
    uint32_t gap = 0;
    uint64_t difference = 0;
    if (!TAKE(in, second_gap, in->at.second, &gap) ||
        !TAKE(in, second_value, in->at.second, &difference))
        return false;
    in->at.second++;
    batch_second *to = BATCH_NEXT(out->seconds, out->second_room, out->second_count);
    if (to == NULL)
        return no_memory(in);
    *next += gap;
    *last += unzigzag(difference);
    if (*next >= UINT32_MAX)
        return fail(in, BOOK_UNREADABLE, "second_gap leads out of window %u.", window);
    *to = (batch_second){
        .window = window, .pool_str = pool, .second = (uint32_t)*next, .value = *last * unit};
    out->second_count++;
    (*next)++;
    return true;
}

static bool take_seconds(reading *in, uint32_t window, uint32_t form)
{
    uint64_t interval = in->out->windows[window].totals.interval;
    uint64_t unit = (form & FORM(SECONDS_BY_INTERVAL)) != 0 ? interval : 1;
    uint32_t series = 0;
    if (!TAKE(in, window_series, window, &series))
        return false;
    for (uint32_t i = 0; i < series; i++) {
        uint32_t ref = 0;
        uint32_t length = 0;
        uint32_t pool = 0;
        uint64_t next = 0;
        uint64_t last = 0;
        if (!TAKE(in, series_pool, in->at.series, &ref) ||
            !TAKE(in, series_length, in->at.series, &length) || !resolve_string(in, ref, &pool) ||
            !use_string(in, pool, &pool))
            return false;
        in->at.series++;
        for (uint32_t k = 0; k < length; k++) {
            if (!take_second(in, window, pool, unit, &next, &last))
                return false;
        }
    }
    return true;
}

/* ---- threads ---- */

static bool take_new_thread(reading *in, uint32_t *number)
{
    book *b = in->from;
    size_t at = in->at.thread++;
    uint32_t name = 0;
    uint32_t pool = 0;
    book_thread fresh = {0};
    if (!TAKE(in, thread_os_tid, at, &fresh.os_tid) ||
        !TAKE(in, thread_java_tid, at, &fresh.java_tid) || !TAKE(in, thread_name, at, &name) ||
        !TAKE(in, thread_pool, at, &pool) || !resolve_string(in, name, &fresh.name) ||
        !resolve_string(in, pool, &fresh.pool))
        return false;
    book_thread *to = BATCH_NEXT(b->threads, b->thread_room, b->counts.threads);
    if (to == NULL)
        return no_memory(in);
    *to = fresh;
    *number = (uint32_t)b->counts.threads++;
    return true;
}

static bool take_thread_number(reading *in, uint64_t next, uint32_t *number)
{
    uint32_t step = 0;
    if (!TAKE(in, thread_step, in->at.thread_step, &step))
        return false;
    in->at.thread_step++;
    if (step == 0)
        return take_new_thread(in, number);
    uint64_t got = next + unzigzag(step - 1);
    *number = (uint32_t)got;
    return in_range(in, "thread", got, in->from->counts.threads);
}

static bool take_thread_values(reading *in, uint32_t form, uint64_t interval, values *out)
{
    uint64_t difference = 0;
    if ((form & FORM(THREAD_SAMPLES_AS_BEFORE)) == 0 &&
        !TAKE(in, thread_samples, in->at.thread_samples++, &out->samples))
        return false;
    if ((form & FORM(RAW_IS_SAMPLES)) != 0)
        out->raw = out->samples;
    else if ((form & FORM(RAW_BY_INTERVAL)) != 0)
        out->raw = out->samples * interval;
    else if (!TAKE(in, thread_raw, in->at.thread_raw++, &out->raw))
        return false;
    if ((form & FORM(VALUE_IS_RAW)) == 0 &&
        !TAKE(in, thread_value, in->at.thread_value++, &difference))
        return false;
    out->value = out->raw + unzigzag(difference);
    return true;
}

static bool take_thread(reading *in, uint32_t window, uint32_t form, uint32_t number,
                        uint64_t samples)
{
    batch *out = in->out;
    values got = {.samples = samples};
    const book_thread *from = &in->from->threads[number];
    batch_thread *to = BATCH_NEXT(out->threads, out->thread_room, out->thread_count);
    if (to == NULL)
        return no_memory(in);
    if (!take_thread_values(in, form, out->windows[window].totals.interval, &got))
        return false;
    *to = (batch_thread){.window = window,
                         .os_tid = from->os_tid,
                         .java_tid = from->java_tid,
                         .raw_value = got.raw,
                         .value = got.value,
                         .samples = got.samples};
    out->thread_count++;
    return use_string(in, from->name, &to->name_str) && use_string(in, from->pool, &to->pool_str);
}

static bool take_threads(reading *in, uint32_t window, uint32_t form)
{
    bool as_before = (form & FORM(THREADS_AS_BEFORE)) != 0;
    bool same_samples = (form & FORM(THREAD_SAMPLES_AS_BEFORE)) != 0;
    uint32_t count = 0;
    if (!TAKE(in, window_threads, window, &count))
        return false;
    if (same_samples && !as_before)
        return fail(in, BOOK_UNREADABLE, "Window %u has samples as before, but other threads.",
                    window);
    size_t total = as_before ? in->thread_count : count;
    if (in->out->thread_count + total > in->limits->rows)
        return fail(in, BOOK_TOO_LARGE, "A page stands for more than %llu threads.",
                    (unsigned long long)in->limits->rows);
    size_t before = in->first_thread;
    in->first_thread = in->out->thread_count;
    for (size_t i = 0; i < total; i++) {
        uint32_t *number =
            as_before ? &in->thread_numbers[i] : BATCH_NEXT(in->thread_numbers, in->thread_room, i);
        if (number == NULL)
            return no_memory(in);
        uint64_t next = i > 0 ? (uint64_t)in->thread_numbers[i - 1] + 1 : 0;
        uint64_t samples = same_samples ? in->out->threads[before + i].samples : 0;
        if ((!as_before && !take_thread_number(in, next, number)) ||
            !take_thread(in, window, form, in->thread_numbers[i], samples))
            return false;
    }
    in->thread_count = total;
    return true;
}

/* ---- windows ---- */

static bool take_span(reading *in, size_t at, batch_window *to)
{
    const batch *out = in->out;
    uint32_t missed = 0;
    uint32_t engine = 0;
    uint64_t start = 0;
    profile_part *totals = &to->totals;
    if (!TAKE(in, window_type, at, &totals->type) || !TAKE(in, window_start, at, &start) ||
        !TAKE(in, window_length, at, &to->length_ms) || !TAKE(in, window_missed, at, &missed) ||
        !TAKE(in, window_engine, at, &engine) ||
        !TAKE(in, window_interval, at, &totals->interval) ||
        !TAKE(in, window_truncated, at, &totals->truncated_raw) ||
        !TAKE(in, window_dropped, at, &totals->dropped_raw) ||
        !TAKE(in, window_dropped_stacks, at, &totals->dropped_stacks) ||
        !TAKE(in, window_lost, at, &totals->lost_events) || !resolve_string(in, engine, &engine) ||
        !use_string(in, engine, &to->engine_str))
        return false;
    to->covered_ms = to->length_ms - missed;
    to->start_ms = (at == 0 ? out->created_ms : out->windows[at - 1].start_ms) + unzigzag(start);
    return true;
}

static bool take_window(reading *in, size_t at)
{
    batch *out = in->out;
    batch_window *to = BATCH_NEXT(out->windows, out->window_room, out->window_count);
    uint32_t list = 0;
    uint32_t form = 0;
    if (to == NULL)
        return no_memory(in);
    *to = (batch_window){0};
    if (!take_window_target(in, at, &to->target) || !take_span(in, at, to) ||
        !take_list(in, at, &list) || !TAKE(in, window_form, at, &form))
        return false;
    out->window_count++;
    return take_keys(in, at, form, list) && take_rows(in, (uint32_t)at, form) &&
           take_seconds(in, (uint32_t)at, form) && take_threads(in, (uint32_t)at, form);
}

/* ---- the page ---- */

static bool begin_tables(reading *in)
{
    book *b = in->from;
    if (b->counts.nodes > 0)
        return true;
    read_node *root = BATCH_NEXT(b->nodes, b->node_room, 0);
    if (root == NULL)
        return no_memory(in);
    *root = (read_node){0};
    b->counts.nodes = 1;
    return true;
}

/* The sender of page 0, in memory of the book's own. */
static bool take_sender(reading *in)
{
    book *b = in->from;
    const Hotstack__V1__Collector *from = in->content->collector;
    uint8_t *packed = NULL;
    size_t length = 0;
    if (b->pages > 0 || from == NULL)
        return (b->pages > 0 && from == NULL) ||
               fail(in, BOOK_UNREADABLE, "The collector stands in page 0 and in no other.");
    if (message_pack(&from->base, &packed, &length) != 0)
        return no_memory(in);
    b->sender = hotstack__v1__collector__unpack(NULL, length, packed);
    free(packed);
    b->sender_is_new = b->sender != NULL;
    return b->sender != NULL || no_memory(in);
}

static bool is_read_whole(reading *in)
{
    const page_content *c = in->content;
    const cursor *at = &in->at;
    if (at->string != c->n_string_length || at->string_byte != c->string_data.len ||
        at->frame != c->n_frame_class || at->stack != c->n_stack_base ||
        at->stack_frame != c->n_stack_frame || at->key != c->n_key_stack ||
        at->row_gap != c->n_row_gap || at->row_samples != c->n_row_samples ||
        at->series != c->n_series_pool || at->second != c->n_second_gap ||
        at->thread_step != c->n_thread_step || at->thread_samples != c->n_thread_samples)
        return fail(in, BOOK_UNREADABLE, "A page has more entries than its windows use.");
    return true;
}

static bool read_windows(reading *in)
{
    const page_content *c = in->content;
    if (c->n_window_target > in->limits->windows)
        return fail(in, BOOK_TOO_LARGE, "A page stands for more than %llu windows.",
                    (unsigned long long)in->limits->windows);
    in->out->created_ms = c->created_ms;
    for (size_t i = 0; i < c->n_window_target; i++) {
        if (!take_window(in, i))
            return false;
        if (in->out->target_count > in->limits->targets)
            return fail(in, BOOK_TOO_LARGE, "A page stands for more than %llu targets.",
                        (unsigned long long)in->limits->targets);
        if (book_size(in->from) > in->limits->book)
            return fail(in, BOOK_FULL, "The book would have more than %llu bytes.",
                        (unsigned long long)in->limits->book);
    }
    return is_read_whole(in);
}

size_t book_content_size(const void *content, size_t length)
{
    unsigned long long size = ZSTD_getFrameContentSize(content, length);
    return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > SIZE_MAX / 2
               ? 0
               : (size_t)size;
}

/* The content unpacked, malloc'd; NULL with the fault. */
static uint8_t *inflate(reading *in, const void *content, size_t length, size_t *size)
{
    size_t prefix_length = 0;
    const string_table *strings = &in->from->strings;
    const char *prefix = book__prefix(strings, strings->bytes, &prefix_length);
    *size = book_content_size(content, length);
    if (*size == 0 || *size > in->limits->bytes) {
        fail(in, *size == 0 ? BOOK_UNREADABLE : BOOK_TOO_LARGE,
             "A page says that it has %zu bytes unpacked.", *size);
        return NULL;
    }
    uint8_t *bytes = malloc(*size);
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    size_t got = 0;
    if (bytes != NULL && zstd != NULL) {
        (void)ZSTD_DCtx_refPrefix(zstd, prefix, prefix_length);
        got = ZSTD_decompressDCtx(zstd, bytes, *size, content, length);
    }
    ZSTD_freeDCtx(zstd);
    if (bytes == NULL || zstd == NULL)
        no_memory(in);
    else if (ZSTD_isError(got) || got != *size)
        fail(in, BOOK_UNREADABLE, "A page is no zstd frame with the book's prefix.");
    else
        return bytes;
    free(bytes);
    return NULL;
}

static page_content *unpack(reading *in, budget *memory, const uint8_t *bytes, size_t size)
{
    const char *problem = NULL;
    size_t offset = 0;
    if (!wire_check(&hotstack__v1__page_content__descriptor, bytes, size, &problem, &offset)) {
        fail(in, BOOK_UNREADABLE, "PageContent: %s, at byte %zu.", problem, offset);
        return NULL;
    }
    budget_init(memory, 8 * size + 65536);
    page_content *content = hotstack__v1__page_content__unpack(&memory->allocator, size, bytes);
    if (content == NULL && memory->no_memory)
        no_memory(in);
    else if (content == NULL)
        fail(in, BOOK_UNREADABLE, "A page is not the protobuf message that belongs here.");
    return content;
}

static void read_content(reading *in, const uint8_t *bytes, size_t size)
{
    static const uint8_t no_id[BATCH_ID_SIZE];
    budget memory;
    page_content *content = unpack(in, &memory, bytes, size);
    if (content == NULL)
        return;
    in->content = content;
    in->from->used_count = 0;
    batch_begin(in->out, no_id, content->day);
    if (begin_tables(in) && take_sender(in) && read_windows(in) && batch_order(in->out) != 0)
        no_memory(in);
    hotstack__v1__page_content__free_unpacked(content, &memory.allocator);
}

enum book_result book_read(book *one, const void *content, size_t length, const book_limits *limits,
                           batch *out, book_fault *fault)
{
    static const uint8_t no_id[BATCH_ID_SIZE];
    reading in = {.from = one, .limits = limits, .out = out, .fault = fault};
    size_t size = 0;
    batch_begin(out, no_id, 0);
    uint8_t *bytes = inflate(&in, content, length, &size);
    if (bytes != NULL)
        read_content(&in, bytes, size);
    free(bytes);
    free(in.keys);
    free(in.thread_numbers);
    if (in.result != BOOK_READ) {
        book_drop(one);
        batch_clear(out);
    }
    return in.result;
}

/* ---- stacks for the store ---- */

static int add_stack(const book *one, const profile_frame *frames, const read_stack *from,
                     uint32_t *numbers, batch *out)
{
    profile_stack stack = {.normaliser = SAGG_NORMALISE_V1,
                           .flags = from->flags,
                           .depth = one->nodes[from->node].depth};
    uint32_t node = from->node;
    uint32_t index = 0;
    const frame_source source = {&one->strings, frames, numbers};
    memcpy(stack.id, from->id, sizeof(stack.id));
    for (uint32_t i = 0; i < stack.depth; i++) {
        numbers[i] = one->nodes[node].node.frame;
        node = one->nodes[node].node.parent;
    }
    return batch_add_stack(out, &source, &stack, &index);
}

static profile_frame *plain_frames(const book *one)
{
    profile_frame *frames = calloc(one->counts.frames + 1, sizeof(*frames));
    for (size_t i = 0; frames != NULL && i < one->counts.frames; i++) {
        const book_frame *from = &one->frames[i].frame;
        frames[i].class_name = from->class_name;
        frames[i].method = from->method;
        frames[i].file = from->file;
        frames[i].line = from->line;
        frames[i].kind = (uint8_t)from->kind;
    }
    return frames;
}

enum book_result book_stacks(const book *one, bool all, uint64_t frames, batch *out)
{
    static const uint8_t no_id[BATCH_ID_SIZE];
    enum book_result result = BOOK_READ;
    uint32_t deepest = 0;
    uint64_t sum = 0;
    batch_begin(out, no_id, 0);
    for (size_t i = 0; i < one->used_count; i++) {
        uint32_t depth = one->nodes[one->stacks[one->used[i]].node].depth;
        if (all || one->used[i] >= one->kept.stacks)
            sum += depth;
        deepest = depth > deepest ? depth : deepest;
    }
    if (sum > frames)
        return BOOK_TOO_LARGE;
    uint32_t *numbers = calloc((size_t)deepest + 1, sizeof(*numbers));
    profile_frame *plain = plain_frames(one);
    if (numbers == NULL || plain == NULL)
        result = BOOK_NO_MEMORY;
    for (size_t i = 0; i < one->used_count && result == BOOK_READ; i++) {
        const read_stack *stack = &one->stacks[one->used[i]];
        if ((all || one->used[i] >= one->kept.stacks) &&
            add_stack(one, plain, stack, numbers, out) != 0)
            result = BOOK_NO_MEMORY;
    }
    free(numbers);
    free(plain);
    if (result != BOOK_READ)
        batch_clear(out);
    return result;
}
