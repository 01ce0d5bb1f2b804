// SPDX-License-Identifier: Apache-2.0
// Reads a stopped backend's store through chdb-http: the rows themselves, past the backend.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as parts from './parts.mjs';
import { Program, until } from './process.mjs';

export async function withStore(stack, use) {
  const portFile = stack.path('chdb-http.port');
  rmSync(portFile, { force: true });
  const program = new Program(
    'chdb-http',
    parts.programs.chdbHttp,
    ['--path', stack.path('store'), '--port', '0', '--port-file', portFile],
    { log: join(stack.dir, 'logs', 'chdb-http.log'), env: { HOTSTACK_LIBCHDB: parts.libchdb } },
  );
  try {
    const port = await until('chdb-http is ready', () => {
      if (!program.running) throw new Error(`it ended: ${program.log()}`);
      return existsSync(portFile) && readFileSync(portFile, 'utf8').trim();
    });
    const query = async (sql) => {
      const answer = await fetch(`http://127.0.0.1:${port}/?database=hotstack`, {
        method: 'POST',
        body: `${sql} FORMAT JSONEachRow`,
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${sql}: ${text}`);
      return text
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    };
    return await use(query);
  } finally {
    await program.end();
  }
}
