// SPDX-License-Identifier: Apache-2.0
/**
 * Tests that the module makes the same documents as `hotstack` of any recording, to the byte, and frees its memory.
 *
 * usage: node hotstack.test.mjs HOTSTACK.wasm HOTSTACK TREE   prints TAP
 *   HOTSTACK  the program, natively
 *   TREE      with tests/data, libjfr's fixtures and the corpora of its fuzzers
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Hotstack, HotstackError } from './hotstack.mjs'

const [moduleFile, program, tree] = process.argv.slice(2)
const moduleBytes = readFileSync(moduleFile)
const hotstack = await Hotstack.load(moduleBytes)
const tests = []
const test = (name, body) => tests.push([name, body])

const filesOf = (folder) =>
  readdirSync(join(tree, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(json|md)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))

const realFiles = filesOf('tests/data/jfr')
const fixtures = ['ok', 'bad', 'maybe'].flatMap((kind) => filesOf(`libjfr/tests/data/${kind}`))
const corpora = filesOf('libjfr/fuzz/corpus')

/** Runs the program in the file's folder, so that both write the same file name. */
function native(command, file, ...options) {
  const { status, stdout, stderr } = spawnSync(resolve(program), [command, basename(file), ...options], {
    cwd: dirname(file),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  assert.ok([0, 1, 3].includes(status), `${command} ended with ${status}: ${stderr}`)
  const lines = stderr.trimEnd().split('\n').map((line) => line.replace(`hotstack ${command}: `, ''))
  return { stdout, lines, isWhole: status === 0 }
}

/** Returns [type, value, raw_value, samples] as text, since the program writes 64-bit numbers as they are. */
function nativeTotals(file) {
  const row = /"type":"([^"]+)","unit":"[^"]+","value":(\d+),"raw_value":(\d+),"samples":(\d+),/g
  return [...native('top', file, '--json').stdout.matchAll(row)].map((found) => found.slice(1))
}

const stated = (lines) =>
  lines.map((line) => /^(?:missing|note): (.*)$/.exec(line)?.[1]).filter((line) => line && !line.endsWith('larger stack depth'))

/** Splits a document into the graph and its `meta`, which says less where the program is asked for one type alone. */
function parts(text) {
  const at = text.lastIndexOf('"meta":')
  return [text.slice(0, at), text.slice(at)]
}

/** Returns how many documents were compared. */
async function compare(file) {
  const convert = (...options) => native('convert', file, '--format', 'json', '-o', '-', ...options)
  const all = convert()
  let recording
  try {
    recording = await hotstack.open(readFileSync(file), basename(file))
  } catch (error) {
    assert.ok(error instanceof HotstackError, `${file}: ${error.stack}`)
    if (/gzip/.test(error.message)) assert.match(error.message, /the gzip data is damaged or cut: unpack/)
    else assert.deepEqual([error.message], all.lines, file)
    assert.equal(all.stdout, '', file)
    return 0
  }
  const { types, whole, meta } = recording.summary
  assert.deepEqual(types.map((row) => [row.type, row.value, row.raw_value, String(row.samples)]), nativeTotals(file), file)
  assert.equal(whole, all.isWhole || !all.lines.some((line) => line.startsWith('missing: ')), file)
  if (types.length > 0) assert.deepEqual(meta, JSON.parse(all.stdout).meta, file)
  else assert.deepEqual(meta.notes, stated(all.lines), file)
  for (const { type } of types) {
    const [graph, about] = parts(recording.documentText(type))
    assert.ok(graph === parts(convert('--type', type).stdout)[0], `${file}: the graph of ${type} differs`)
    assert.equal(about, parts(all.stdout)[1], `${file}: ${type}`)
  }
  recording.close()
  return types.length
}

/** Opens, reads and closes a recording; the module may refuse it. */
async function use(bytes, title) {
  try {
    const recording = await hotstack.open(bytes, title)
    for (const { type } of recording.summary.types) recording.documentText(type)
    recording.close()
  } catch (error) {
    assert.ok(error instanceof HotstackError, `${title}: ${error.stack}`)
  }
}

test('imports nothing', () => {
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(moduleBytes)), [])
})

for (const file of realFiles)
  test(`documents and totals as natively: ${basename(file)}`, async () => {
    assert.ok((await compare(file)) > 0)
  })

/** Compares bytes as .jfr files in a new folder: with that name the program takes any bytes for a recording. */
async function compareBytes(inputs) {
  const folder = mkdtempSync(join(tmpdir(), 'hotstack-wasm-'))
  let documents = 0
  try {
    for (const [i, bytes] of inputs.entries()) {
      const file = join(folder, `${i}.jfr`)
      writeFileSync(file, bytes)
      documents += await compare(file)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return documents
}

test('documents, totals, losses and refusals as natively: fixtures', async () => {
  let documents = 0
  for (const file of fixtures) documents += await compare(file)
  assert.ok(documents > 20)
})

test('documents, totals, losses and refusals as natively: corpora of the fuzzers', async () => {
  assert.ok(corpora.length > 50)
  assert.ok((await compareBytes(corpora.map((file) => readFileSync(file)))) > 5)
})

test('documents, totals, losses and refusals as natively: cut recordings', async () => {
  const cuts = ['async-profiler-4.5-jdk17.jfr.gz', 'jdk25-all.jfr.gz'].flatMap((packed) => {
    const whole = gunzipSync(readFileSync(join(tree, 'tests/data/jfr', packed)))
    return Array.from({ length: 15 }, (_, i) => whole.subarray(0, Math.floor((whole.length * (i + 1)) / 16)))
  })
  assert.ok((await compareBytes(cuts)) > 5)
})

test('a document is cut to the heaviest nodes on request', async () => {
  const recording = await hotstack.open(readFileSync(realFiles[0]), 'app.jfr')
  const [{ type }] = recording.summary.types
  const [whole, cut] = [recording.document(type, 0), recording.document(type, 20)]
  assert.equal(cut.profiles[0].nodes.depth.length, 20)
  assert.ok(whole.profiles[0].nodes.depth.length > 20 && cut.profiles[0].omitted.node.length > 0)
  assert.equal(cut.profiles[0].value_total, whole.profiles[0].value_total)
  recording.close()
})

test('errors are sentences that name the file', async () => {
  const refused = (bytes, message) => assert.rejects(hotstack.open(bytes, 'my "app".jfr'), { message })
  await refused(Buffer.from('no recording at all'), /^my "app"\.jfr at byte 0: .*JFR.*$/)
  await refused(new Uint8Array(), /^my "app"\.jfr at byte 0: Only 0 bytes/)
  await refused(readFileSync(realFiles[0]).subarray(0, 2000), /^my "app"\.jfr: the gzip data is damaged or cut/)
  const recording = await hotstack.open(readFileSync(realFiles[0]), 'my "app".jfr')
  assert.throws(() => recording.document('no such type'), new HotstackError('my "app".jfr: there is no profile of that number in the recording'))
  recording.close()
})

test('packed bytes that reach the module are refused by name', () => {
  const { exports } = hotstack
  const packed = readFileSync(realFiles[0])
  const [data, title] = [exports.malloc(packed.length), exports.malloc(2)]
  new Uint8Array(exports.memory.buffer, data, packed.length).set(packed)
  new Uint8Array(exports.memory.buffer, title, 2).set(Buffer.from('x\0'))
  assert.equal(exports.hotstack_open(data, packed.length, title), 0)
  const message = Buffer.from(exports.memory.buffer, exports.hotstack_error(), 60).toString()
  assert.match(message, /^x at byte 0: The recording is packed with gzip/)
  for (const at of [data, title]) exports.free(at)
})

test('what was opened is freed, whatever it was', async () => {
  const inputs = [...fixtures, ...corpora].map((file) => [readFileSync(file), basename(file)])
  const round = async (times) => {
    for (let i = 0; i < times; i++) for (const [bytes, title] of inputs) await use(bytes, title)
    return hotstack.exports.memory.buffer.byteLength
  }
  const before = await round(2)
  // A leak of 64 bytes in only one of the files already takes another page of memory.
  assert.equal(await round(1024), before)
})

test('where memory ends a sentence says so', async () => {
  const full = await Hotstack.load(moduleBytes)
  const { malloc, free } = full.exports
  const room = malloc(8 << 20)
  for (let size = 64 << 20; size >= 64; ) if (malloc(size) === 0) size /= 2
  const bytes = gunzipSync(readFileSync(join(tree, 'tests/data/jfr/async-profiler-4.5-jdk17.jfr.gz')))
  free(room)
  const messages = new Set()
  let reads = 0
  for (let left = 16 << 10; left < 4 << 20; left *= 1.2) {
    const block = malloc((8 << 20) - left)
    try {
      const recording = await full.open(bytes, 'app.jfr')
      for (const { type } of recording.summary.types) recording.documentText(type)
      recording.close()
      reads++
    } catch (error) {
      assert.ok(error instanceof HotstackError, error.stack)
      assert.match(error.message, /^app\.jfr: .*memory/)
      messages.add(error.message)
    }
    free(block)
  }
  assert.ok(reads > 0 && messages.size > 1, [reads, ...messages].join('\n'))
})

let failed = 0
console.log(`1..${tests.length}`)
for (const [i, [name, body]] of tests.entries())
  try {
    await body()
    console.log(`ok ${i + 1} - ${name}`)
  } catch (error) {
    failed++
    console.log(`not ok ${i + 1} - ${name}\n# ${String(error.stack).replaceAll('\n', '\n# ')}`)
  }
process.exitCode = failed ? 1 : 0
