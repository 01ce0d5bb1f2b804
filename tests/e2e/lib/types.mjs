// SPDX-License-Identifier: Apache-2.0
// Profile types as the store holds them: each is the amount or the count of a source.
export const types = {
  cpu: { source: 1, column: 'raw_amount' },
  alloc_bytes: { source: 3, column: 'raw_amount' },
  alloc_objects: { source: 3, column: 'raw_count' },
  lock_count: { source: 4, column: 'raw_count' },
  lock_delay: { source: 4, column: 'raw_amount' },
  wall: { source: 2, column: 'raw_amount' },
  live_bytes: { source: 5, column: 'raw_amount' },
  nativemem_bytes: { source: 6, column: 'raw_amount' },
};

const columns = ['raw_amount', 'raw_count'].map((name) => `toString(sum(${name})) AS ${name}`).join(', ');

// Returns a table's sums of every type: raw sums by "KEY type", with KEY a column's value, or by type.
export async function storedTotals(query, table, key = '') {
  const prefix = key ? `toString(${key}) AS prefix, ` : "'' AS prefix, ";
  const rows = await query(
    `SELECT ${prefix}source, ${columns} FROM (SELECT ${key ? `${key}, ` : ''}source, raw_amount, raw_count FROM ${table})
     GROUP BY prefix, source ORDER BY prefix, source`,
  );
  const totals = {};
  for (const row of rows)
    for (const [type, { source, column }] of Object.entries(types))
      if (source === row.source) totals[key ? `${row.prefix} ${type}` : type] = BigInt(row[column]);
  return totals;
}
