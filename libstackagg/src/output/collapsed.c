/* SPDX-License-Identifier: Apache-2.0 */
/* Writes collapsed stacks. The stacks of an aggregate are sorted once, and each frame's name is
 * made once. Then a line is written for each distinct path of a type. */
#include <stdio.h>
#include <string.h>

#include "aggregate/saturate_impl.h"
#include "fail_impl.h"
#include "frames/utf8_impl.h"
#include "options_impl.h"
#include "output/emit_impl.h"
#include "trees/paths_impl.h"

/* A frame's name in the text of all names, including the ';' after it. */
struct name {
    size_t begin;
    size_t size;
};

/* A name is copied in steps of this many bytes, most names in one step. After the text and the
 * lines there is room for as many bytes. */
enum { STEP = 48 };

/* The lines being written. Each begins with the bytes that it shares with the previous line, which
 * is kept for that. */
struct lines {
    sagg__array text; /* char */
    size_t size;
    size_t sent;  /* bytes already sent */
    size_t last;  /* where the last line begins */
    size_t *ends; /* by depth, where the path to there ends in the last line */
    uint32_t end_count;
    const sagg_sink *sink;
};

struct sagg_collapsed {
    sagg__mem mem;
    const sagg *agg;
    sagg_collapsed_options options;
    sagg__palette palette;
    sagg__array items;    /* sagg__path */
    sagg__array place_of; /* uint32_t, for each entry of the aggregate, then each dropped one: its
                             place in the order; its item until the items are sorted */
    uint32_t item_count;
    uint32_t entry_count;
    sagg__paths paths;
    uint64_t *values;   /* by place in the order, of the type being written */
    struct name *names; /* by number of the palette */
    sagg__array text;   /* char: all names */
    size_t text_size;
    struct lines lines;
};

/* ---- names ---- */

static int append(sagg_collapsed *c, const char *bytes, size_t count)
{
    int rc = sagg__extend(&c->mem, &c->text, c->text_size + count, 1);
    if (rc != 0)
        return rc;
    memcpy((char *)c->text.items + c->text_size, bytes, count);
    c->text_size += count;
    return 0;
}

/* Appends a name; characters that this format does not allow are replaced. */
static int append_name(sagg_collapsed *c, sagg_str name)
{
    const uint8_t *bytes = (const uint8_t *)name.data;
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < name.size;) {
        uint32_t code_point = 0xFFFD;
        int step = sagg__utf8_step(bytes + at, name.size - at, &code_point);
        size_t width = (size_t)(step > 0 ? step : -step);
        bool at_edge = at == 0 || at + width == name.size;
        if (code_point == ';' || code_point == '\n' || code_point == '\r' ||
            (code_point == ' ' && at_edge))
            rc = append(c, "_", 1);
        else if (step < 0 || sagg__hostile(code_point))
            rc = append(c, "?", 1);
        else
            rc = append(c, name.data + at, width);
        at += width;
    }
    return rc;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns where a number such as "42", "4.2" or "42." at the end of text[0, size) begins; `size` =
 * none. */
static size_t number_at_end(const char *text, size_t size)
{
    size_t digits = size;
    while (digits > 0 && is_digit(text[digits - 1]))
        digits--;
    if (digits == 0 || text[digits - 1] != '.')
        return digits;
    size_t whole = digits - 1;
    while (whole > 0 && is_digit(text[whole - 1]))
        whole--;
    return whole < digits - 1 ? whole : digits;
}

/* Returns the bytes of the Unicode blank that ends text[0, size); 0 = it ends with another
 * character. */
static size_t blank_at_end(const char *text, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t begin = size > 0 ? size - 1 : 0;
    uint32_t code_point = 0;
    while (begin > 0 && size - begin < 4 && (bytes[begin] & 0xC0) == 0x80)
        begin--;
    if (size == 0 || sagg__utf8_step(bytes + begin, size - begin, &code_point) <= 0)
        return 0;
    bool is_blank = code_point == ' ' || code_point == 0xA0 || code_point == 0x1680 ||
                    (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x202F ||
                    code_point == 0x205F || code_point == 0x3000;
    return is_blank ? size - begin : 0;
}

/*
 * Replaces a blank before a number at the end of a frame by '_'. flamegraph.pl would read the
 * number as a second column of values for differential graphs. This applies to every frame, since
 * tools reverse stacks.
 */
static void join_number(sagg_collapsed *c, size_t begin)
{
    char *text = (char *)c->text.items + begin;
    size_t size = c->text_size - begin;
    size_t number = number_at_end(text, size);
    size_t blank = number < size ? blank_at_end(text, number) : 0;
    if (blank == 0)
        return;
    text[number - blank] = '_';
    memmove(text + number - blank + 1, text + number, size - number);
    c->text_size -= blank - 1;
}

/* Appends a frame. A frame without names gets the text that pages show for it, since an empty line
 * is not a stack. */
static int append_frame(sagg_collapsed *c, const sagg_frame *frame)
{
    const size_t begin = c->text_size;
    static const char no_name[] = "(no name)";
    bool nameless = frame->class_name.size == 0 && frame->method.size == 0;
    int rc = nameless ? append(c, no_name, sizeof(no_name) - 1) : 0;
    if (frame->class_name.size > 0) {
        rc = append_name(c, frame->class_name);
        if (rc == 0)
            rc = append(c, ".", 1);
    }
    if (rc == 0)
        rc = append_name(c, frame->method);
    if (rc == 0 && c->options.lines && frame->line > 0) {
        char number[16];
        int digits = snprintf(number, sizeof(number), ":%u", frame->line);
        rc = append(c, number, (size_t)digits);
    }
    if (rc != 0)
        return rc;
    join_number(c, begin);
    return append(c, ";", 1);
}

static int name_frames(sagg_collapsed *c)
{
    c->names = sagg__alloc(&c->mem, c->palette.count * sizeof(*c->names));
    int rc = c->names != NULL ? 0 : SAGG_ERR_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < c->palette.count; i++) {
        size_t begin = c->text_size;
        rc = append_frame(c, &c->palette.frames[i]);
        c->names[i] = (struct name){begin, c->text_size - begin};
    }
    return rc != 0 ? rc : sagg__extend(&c->mem, &c->text, c->text_size + STEP, 1);
}

/* ---- paths ---- */

/* Adds the item of an entry: one per stack, or one per entry where threads are separate. Equal
 * paths are joined when they are written. */
static int add_entry(sagg_collapsed *c, uint32_t stack, uint32_t of_thread, uint32_t *stack_items)
{
    uint32_t thread = SAGG__NO_RANK;
    uint32_t item = c->item_count;
    if (c->options.threads)
        thread = c->palette.of_thread[of_thread];
    else if (stack_items[stack] != UINT32_MAX)
        item = stack_items[stack];
    int rc = sagg__extend(&c->mem, &c->items, (size_t)c->item_count + 1, sizeof(sagg__path));
    if (rc == 0)
        rc = sagg__extend(&c->mem, &c->place_of, (size_t)c->entry_count + 1, sizeof(uint32_t));
    if (rc != 0)
        return rc;
    if (item == c->item_count)
        *SAGG__AT(sagg__path, c->items, c->item_count++) = (sagg__path){stack, thread, 0};
    stack_items[stack] = item;
    *SAGG__AT(uint32_t, c->place_of, c->entry_count++) = item;
    return 0;
}

/* Reserves room for the stored entries; usually few are dropped. */
static int reserve(sagg_collapsed *c)
{
    const uint32_t entries = c->agg->entries.count;
    const uint32_t stacks = c->agg->stacks.count;
    const uint32_t items = c->options.threads || entries < stacks ? entries : stacks;
    int rc = sagg__extend(&c->mem, &c->items, items, sizeof(sagg__path));
    return rc != 0 ? rc : sagg__extend(&c->mem, &c->place_of, entries, sizeof(uint32_t));
}

static int collect(sagg_collapsed *c)
{
    size_t bytes = c->agg->stacks.count * sizeof(uint32_t);
    uint32_t *stack_items = sagg__alloc(&c->mem, bytes);
    if (stack_items == NULL)
        return SAGG_ERR_NOMEM;
    memset(stack_items, 0xFF, bytes);
    const sagg__kept *entries = c->agg->entries.array.items;
    int rc = reserve(c);
    for (uint32_t i = 0; rc == 0 && i < c->agg->entries.count; i++)
        rc = add_entry(c, entries[i].key.stack, entries[i].key.thread, stack_items);
    size_t cursor = sagg__first_dropped(c->agg);
    sagg_entry dropped;
    while (rc == 0 && sagg_next(c->agg, &cursor, &dropped))
        rc = add_entry(c, dropped.stack, dropped.thread, stack_items);
    sagg__release(&c->mem, stack_items, bytes);
    return rc;
}

/* Replaces each entry's item by its place in the order. */
static int find_places(sagg_collapsed *c)
{
    const size_t bytes = c->item_count * sizeof(uint32_t);
    uint32_t *place_of_item = sagg__alloc(&c->mem, bytes);
    if (place_of_item == NULL)
        return SAGG_ERR_NOMEM;
    for (uint32_t i = 0; i < c->item_count; i++)
        place_of_item[c->paths.places[i].item] = i;
    uint32_t *place_of = c->place_of.items;
    for (uint32_t i = 0; i < c->entry_count; i++)
        place_of[i] = place_of_item[place_of[i]];
    sagg__release(&c->mem, place_of_item, bytes);
    return 0;
}

static int make_ends(sagg_collapsed *c)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->item_count; i++) {
        uint32_t length = sagg__path_length(&c->paths, &c->paths.places[i]);
        most = length > most ? length : most;
    }
    c->lines.end_count = most + 1;
    c->lines.ends = sagg__alloc_zero(&c->mem, c->lines.end_count, sizeof(*c->lines.ends));
    c->values = sagg__alloc(&c->mem, c->item_count * sizeof(*c->values));
    return c->lines.ends != NULL && c->values != NULL ? 0 : SAGG_ERR_NOMEM;
}

static int prepare(sagg_collapsed *c)
{
    int rc = sagg__palette_new(&c->palette, &c->mem, c->agg, c->options.lines,
                               c->options.threads ? SAGG__THREAD_IDS : SAGG__NO_THREADS);
    if (rc == 0)
        rc = name_frames(c);
    if (rc == 0)
        rc = collect(c);
    if (rc == 0)
        rc = sagg__paths_sort(&c->paths, &c->mem, c->agg, &c->palette, c->items.items,
                              c->item_count);
    if (rc == 0)
        rc = find_places(c);
    if (rc == 0)
        rc = make_ends(c);
    return rc;
}

static int read_options(sagg_collapsed_options *out, const sagg_collapsed_options *given,
                        sagg_error *err)
{
    *out = (sagg_collapsed_options)SAGG_COLLAPSED_OPTIONS_INIT;
    return given == NULL
               ? 0
               : sagg__options_copy(out, sizeof(*out), given,
                                    "The options have fields set that this library does not know.",
                                    err);
}

int sagg_collapsed_new(sagg_collapsed **out, const sagg *agg, const sagg_collapsed_options *options,
                       sagg_error *err)
{
    sagg_collapsed_options o;
    int rc = read_options(&o, options, err);
    if (rc != 0)
        return rc;
    sagg__mem mem;
    sagg__mem_init(&mem, &agg->mem.allocator, UINT64_MAX);
    sagg_collapsed *c = sagg__alloc_zero(&mem, 1, sizeof(*c));
    if (c == NULL)
        return sagg__no_memory(err);
    c->mem = mem;
    c->agg = agg;
    c->options = o;
    if (prepare(c) != 0) {
        sagg_collapsed_free(c);
        return sagg__no_memory(err);
    }
    *out = c;
    return 0;
}

void sagg_collapsed_free(sagg_collapsed *c)
{
    if (c == NULL)
        return;
    sagg__mem mem = c->mem;
    sagg__palette_free(&c->palette, &mem);
    sagg__array_free(&mem, &c->items, sizeof(sagg__path));
    sagg__array_free(&mem, &c->place_of, sizeof(uint32_t));
    sagg__paths_free(&c->paths, &mem);
    sagg__release(&mem, c->names, c->palette.count * sizeof(*c->names));
    sagg__array_free(&mem, &c->text, 1);
    sagg__array_free(&mem, &c->lines.text, 1);
    sagg__release(&mem, c->lines.ends, c->lines.end_count * sizeof(*c->lines.ends));
    sagg__release(&mem, c->values, c->item_count * sizeof(*c->values));
    sagg__release(&mem, c, sizeof(*c));
}

/* ---- writing ---- */

static void take_values(sagg_collapsed *c, uint32_t type)
{
    const uint32_t *place_of = c->place_of.items;
    const sagg__kept *entries = c->agg->entries.array.items;
    const uint32_t count = c->agg->entries.count;
    const uint32_t slot = c->agg->slot_of[type];
    memset(c->values, 0, c->item_count * sizeof(*c->values));
    for (uint32_t i = 0; i < count; i++)
        (void)sagg__add_to(&c->values[place_of[i]], sagg__kept_value(&entries[i], slot));
    size_t cursor = sagg__first_dropped(c->agg);
    sagg_entry dropped;
    for (uint32_t i = count; sagg_next(c->agg, &cursor, &dropped); i++)
        if (dropped.type == type)
            (void)sagg__add_to(&c->values[place_of[i]], dropped.totals.value);
}

/* Makes room for `more` bytes after the lines. */
static int extend(sagg_collapsed *c, size_t more)
{
    return sagg__extend(&c->mem, &c->lines.text, c->lines.size + more, 1);
}

static int send(struct lines *l, size_t bytes)
{
    const char *text = l->text.items;
    if (bytes > 0 && l->sink->write(l->sink->ctx, text + l->sent, bytes) != 0)
        return SAGG_ERR_IO;
    l->sent += bytes;
    return 0;
}

/* Sends whole pieces. The bytes after them and the last line move to the front. */
static int send_pieces(struct lines *l)
{
    int rc = send(l, (l->size - l->sent) / SAGG__EMIT_BUFFER * SAGG__EMIT_BUFFER);
    size_t gone = l->sent < l->last ? l->sent : l->last;
    char *text = l->text.items;
    memmove(text, text + gone, l->size - gone);
    l->size -= gone;
    l->sent -= gone;
    l->last -= gone;
    return rc;
}

static void copy_name(char *to, const char *name, size_t size)
{
    memcpy(to, name, STEP);
    for (size_t at = STEP; at < size; at += STEP)
        memcpy(to + at, name + at, STEP);
}

/* Begins a line with the first `shared` frames of the last one. */
static int begin_line(sagg_collapsed *c, uint32_t shared)
{
    struct lines *l = &c->lines;
    const size_t size = l->ends[shared];
    int rc = extend(c, size);
    if (rc != 0)
        return rc;
    if (size > 0) {
        char *line = (char *)l->text.items + l->size;
        memcpy(line, (char *)l->text.items + l->last, size);
        line[size - 1] = ';'; /* the last line may end there */
    }
    l->last = l->size;
    l->size += size;
    return 0;
}

/* Adds the `length` frames of a place after its first `shared` ones. */
static int add_names(sagg_collapsed *c, const sagg__path_place *of, uint32_t length,
                     uint32_t shared)
{
    struct lines *l = &c->lines;
    /* Copied to local variables, which writes of bytes cannot alias. */
    const sagg__paths paths = c->paths;
    const sagg__path_place place = *of;
    const struct name *names = c->names;
    const char *text = c->text.items;
    char *out = l->text.items;
    size_t *ends = l->ends;
    const size_t begin = l->last;
    size_t size = l->size;
    for (uint32_t at = shared; at < length; at++) {
        const struct name name = names[sagg__path_rank(&paths, &place, at)];
        if (size + name.size + STEP > l->text.capacity) {
            l->size = size;
            int rc = extend(c, name.size + STEP);
            if (rc != 0)
                return rc;
            out = l->text.items;
        }
        copy_name(out + size, text + name.begin, name.size);
        size += name.size;
        ends[at + 1] = size - begin;
    }
    l->size = size;
    return 0;
}

/* Writes the end of a line: a space in place of the path's last ';', the value, the line break. A
 * stack without frames, below its thread or not, is "[no stack]". */
static int end_line(sagg_collapsed *c, uint32_t length, uint64_t value)
{
    static const char no_stack[] = "[no stack];";
    const uint32_t above = c->options.threads ? 1 : 0;
    struct lines *l = &c->lines;
    int rc = extend(c, sizeof(no_stack) + SAGG__DIGITS + 1);
    if (rc != 0)
        return rc;
    char *text = l->text.items;
    if (length <= above) {
        memcpy(text + l->size, no_stack, sizeof(no_stack) - 1);
        l->size += sizeof(no_stack) - 1;
    }
    text[l->size - 1] = ' ';
    l->size += sagg__put_number(text + l->size, value);
    text[l->size++] = '\n';
    return l->size - l->sent < SAGG__EMIT_BUFFER ? 0 : send_pieces(l);
}

static int put_line(sagg_collapsed *c, const sagg__path_place *place, uint32_t length,
                    uint32_t shared, uint64_t value)
{
    int rc = begin_line(c, shared);
    if (rc == 0)
        rc = add_names(c, place, length, shared);
    return rc != 0 ? rc : end_line(c, length, value);
}

/*
 * Sums the values of the places from *at on that have the same path; *at becomes the last of them.
 */
static uint64_t sum_alike(const sagg_collapsed *c, uint32_t length, uint32_t *at)
{
    const sagg__paths *paths = &c->paths;
    uint64_t value = c->values[*at];
    while (*at + 1 < paths->count) {
        if (paths->shared[*at + 1] != length ||
            sagg__path_length(paths, &paths->places[*at + 1]) != length)
            break;
        (void)sagg__add_to(&value, c->values[++*at]);
    }
    return value;
}

static int put_lines(sagg_collapsed *c)
{
    const sagg__paths *paths = &c->paths;
    uint32_t shared = 0; /* frames that the next path shares with the last line */
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < paths->count; i++) {
        const uint32_t ahead = i + SAGG__PATHS_AHEAD;
        if (ahead < paths->count && c->values[ahead] != 0)
            sagg__path_prefetch(paths, ahead, paths->shared[ahead], 16);
        shared = paths->shared[i] < shared ? paths->shared[i] : shared;
        if (c->values[i] == 0)
            continue;
        const sagg__path_place *place = &paths->places[i];
        uint32_t length = sagg__path_length(paths, place);
        uint64_t value = sum_alike(c, length, &i);
        rc = put_line(c, place, length, shared, value);
        shared = length;
    }
    return rc;
}

int sagg_collapsed_write(sagg_collapsed *c, uint32_t type, const sagg_sink *sink, sagg_error *err)
{
    if (type > SAGG_MAX_TYPE || c->agg->slot_of[type] == SAGG__NO_SLOT)
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Profile type %u is not in the aggregate's table.", type);
    struct lines *l = &c->lines;
    take_values(c, type);
    l->sink = sink;
    l->size = l->sent = l->last = 0;
    int rc = put_lines(c);
    if (rc == 0)
        rc = send(l, l->size - l->sent);
    if (rc == SAGG_ERR_IO)
        return sagg__refused(err);
    return rc != 0 ? sagg__no_memory(err) : 0;
}

int sagg_write_collapsed(const sagg *agg, uint32_t type, const sagg_collapsed_options *options,
                         const sagg_sink *sink, sagg_error *err)
{
    sagg_collapsed *c;
    int rc = sagg_collapsed_new(&c, agg, options, err);
    if (rc != 0)
        return rc;
    rc = sagg_collapsed_write(c, type, sink, err);
    sagg_collapsed_free(c);
    return rc;
}
