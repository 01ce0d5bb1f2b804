/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the reader on any bytes, from memory and in pieces: no fault, and no value outside its
 * block. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <chsink/chsink.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct pieces {
    const uint8_t *data;
    size_t left;
    size_t step;
} pieces;

static int read_piece(void *context, void *buffer, size_t capacity, size_t *length, chs_error *err)
{
    pieces *in = context;

    (void)err;
    *length = in->left < in->step ? in->left : in->step;
    if (*length > capacity)
        *length = capacity;
    memcpy(buffer, in->data, *length);
    in->data += *length;
    in->left -= *length;
    return 0;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_ends(const uint64_t *ends, uint64_t rows, uint64_t count)
{
    uint64_t row, last = 0;

    for (row = 0; ends && row < rows; row++) {
        check(ends[row] >= last);
        last = ends[row];
    }
    check(!ends || last == count);
}

/* Reads every byte that a column lends. */
static uint64_t touch_column(const chs_result *block, const char *name)
{
    chs_uints uints;
    chs_ints ints;
    chs_floats floats;
    chs_strings strings;
    uint64_t sum = 0, i;

    if (chs_result_uints(&uints, block, name, NULL) == 0 ||
        chs_result_uint_arrays(&uints, block, name, NULL) == 0) {
        check_ends(uints.ends, uints.rows, uints.count);
        for (i = 0; i < uints.count; i++)
            sum += uints.values[i];
    } else if (chs_result_ints(&ints, block, name, NULL) == 0 ||
               chs_result_int_arrays(&ints, block, name, NULL) == 0) {
        check_ends(ints.ends, ints.rows, ints.count);
        for (i = 0; i < ints.count; i++)
            sum += (uint64_t)ints.values[i];
    } else if (chs_result_floats(&floats, block, name, NULL) == 0 ||
               chs_result_float_arrays(&floats, block, name, NULL) == 0) {
        check_ends(floats.ends, floats.rows, floats.count);
        for (i = 0; i < floats.count; i++)
            sum += floats.values[i] > 0;
    } else if (chs_result_strings(&strings, block, name, NULL) == 0 ||
               chs_result_string_arrays(&strings, block, name, NULL) == 0) {
        check_ends(strings.ends, strings.rows, strings.count);
        for (i = 0; i < strings.count; i++) {
            const chs_bytes *value = &strings.values[i];

            if (value->length)
                sum +=
                    (unsigned char)value->data[0] + (unsigned char)value->data[value->length - 1];
        }
    } else {
        abort();
    }
    return sum;
}

/* Reads to the end. Returns a sum of all values; *code is the result of the last read. */
static uint64_t read_all(chs_reader *reader, int *code)
{
    const chs_result *block;
    uint64_t sum = 0;
    size_t i;

    while ((*code = chs_reader_next(&block, reader, NULL)) == 0 && block) {
        sum += chs_result_rows(block);
        for (i = 0; i < chs_result_columns(block); i++)
            sum += touch_column(block, chs_result_name(block, i));
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    chs_reader_options options = CHS_READER_OPTIONS_INIT;
    pieces in = {data, size, size ? 1 + data[0] % 64 : 1};
    chs_reader *from_memory, *from_pieces;
    uint64_t sum;
    int code, other;

    options.max_block_bytes = 1 << 20;
    if (chs_reader_open_mem(&from_memory, data, size, &options, NULL) ||
        chs_reader_open(&from_pieces, read_piece, &in, &options, NULL))
        abort();
    sum = read_all(from_memory, &code);
    check(sum == read_all(from_pieces, &other));
    check(code == other);
    chs_reader_close(from_memory);
    chs_reader_close(from_pieces);
    return 0;
}
