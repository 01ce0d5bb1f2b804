/* SPDX-License-Identifier: Apache-2.0 */
/* Beside map_none.c and files_none.c: there are no pages that could come back from the file. */
#include "read/reader_impl.h"

void jfr__drop_pages(const jfr_file *file, uint64_t from, uint64_t to)
{
    (void)file;
    (void)from;
    (void)to;
}
