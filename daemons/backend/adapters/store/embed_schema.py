# SPDX-License-Identifier: Apache-2.0
"""Writes the migrations as a C table: embed_schema.py OUTPUT 0001_name.sql 0002_name.sql ..."""
import pathlib
import sys

out = ['#include "migrate.h"', '']
rows = []
for number, name in enumerate(sorted(sys.argv[2:], key=lambda p: pathlib.Path(p).name), start=1):
    path = pathlib.Path(name)
    version = int(path.name[:4])
    if version != number:
        sys.exit(f'{path.name}: migrations are numbered from 0001 without gaps')
    body = ', '.join(str(byte) for byte in path.read_bytes() + b'\0')
    out.append(f'static const char sql_{version}[] = {{{body}}};')
    rows.append(f'    {{{version}, "{path.stem[5:]}", sql_{version}}},')
out += ['', 'const migration migrations[] = {'] + rows + ['};']
out += ['const size_t migration_count = sizeof(migrations) / sizeof(migrations[0]);', '']
pathlib.Path(sys.argv[1]).write_text('\n'.join(out))
