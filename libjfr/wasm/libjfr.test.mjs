// SPDX-License-Identifier: Apache-2.0
/**
 * libjfr as WebAssembly reads what the library reads natively, and needs nothing of its host.
 *
 * usage: node libjfr.test.mjs LIBJFR.wasm JFR_TOTALS DATA_DIR FIXTURE_DIR   prints TAP
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Jfr, JfrError, NONE } from './libjfr.mjs'

const [moduleFile, nativeTotals, dataDir, fixtureDir] = process.argv.slice(2)
const module = readFileSync(moduleFile)
const tests = []
const test = (name, body) => tests.push([name, body])

/** In the shape of jfr_totals; every stack, thread and class of the samples is decoded on the way. */
function totalsOf(jfr, bytes) {
  const totals = jfr.types.map((name) => [name, { events: 0, raw_value: 0n, stackless: 0 }])
  const file = jfr.open(bytes)
  for (const chunk of file.chunks())
    for (const sample of chunk.samples()) {
      for (const { type, raw } of sample.values) {
        const total = totals[type][1]
        total.events++
        total.raw_value += raw
        total.stackless += sample.stack === NONE ? 1 : 0
      }
      if (sample.stack !== NONE) for (const frame of chunk.stack(sample.stack).frames) assert.equal(typeof frame.name, 'string')
      if (sample.thread !== NONE) assert.ok(chunk.thread(sample.thread).osTid >= 0n)
      if (sample.klass !== NONE) assert.ok(chunk.className(sample.klass).length > 0)
    }
  assert.equal(file.loss().chunksPartial + file.loss().chunksLost, 0n)
  file.close()
  // As jfr_totals: jfr-truth, whose answers these are compared with, does not know the last ones.
  const known = totals.filter(([, { events }], type) => type < 8 || events > 0)
  const shown = known.map(([name, t]) => `"${name}": {"events": ${t.events}, "raw_value": ${t.raw_value}, "stackless": ${t.stackless}}`)
  return `{"types": {${shown.join(', ')}}}\n`
}

test('imports nothing', () => {
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(module)), [])
})

for (const dir of [dataDir, join(dataDir, 'cut')])
  for (const name of readdirSync(dir).filter((name) => name.endsWith('.jfr.gz')))
    test(`same totals as native: ${name}`, async () => {
      const jfr = await Jfr.load(module)
      const native = execFileSync(nativeTotals, [join(dir, name)], { encoding: 'utf8' })
      const unpacked = gunzipSync(readFileSync(join(dir, name)))
      assert.equal(totalsOf(jfr, unpacked), native)
      assert.equal(totalsOf(jfr, unpacked), native) // the first left nothing behind
    })

test('names and stacks are whole', async () => {
  const jfr = await Jfr.load(module)
  const file = jfr.open(gunzipSync(readFileSync(join(dataDir, 'async-profiler-4.5-jdk17.jfr.gz'))))
  const seen = new Set()
  for (const chunk of file.chunks()) {
    assert.equal(chunk.info().offset, 0n)
    assert.equal(chunk.info().version, '2.0')
    for (const sample of chunk.samples()) {
      if (sample.thread !== NONE) seen.add(chunk.thread(sample.thread).javaName)
      if (sample.stack !== NONE) for (const frame of chunk.stack(sample.stack).frames) seen.add(`${frame.className}.${frame.name}`)
    }
  }
  file.close()
  assert.ok(seen.has('burner-1') && seen.has('idle-ä😀') && seen.has('Workload.burnCpu'))
})

test('a damaged recording yields what is left, with the loss', async () => {
  const jfr = await Jfr.load(module)
  const file = jfr.open(readFileSync(join(fixtureDir, 'maybe', 'cut-second.jfr')))
  assert.equal([...file.chunks()].length, 1)
  const loss = file.loss()
  assert.deepEqual([loss.chunksWhole, loss.chunksLost, loss.records.length], [1n, 1n, 1])
  assert.equal(loss.records[0].reason, 'truncated')
  file.close()
})

test('errors carry code, offset and a sentence', async () => {
  const jfr = await Jfr.load(module)
  assert.throws(
    () => jfr.open(readFileSync(join(fixtureDir, 'bad', 'no-frequency.jfr'))),
    (error) => error instanceof JfrError && error.code === -2 && error.offset === 56n && /frequency/.test(error.message),
  )
  assert.throws(() => jfr.open(new Uint8Array()), JfrError)
  assert.throws(() => jfr.open(readFileSync(join(dataDir, 'jdk11-all.jfr.gz'))), /no zlib/)
})

test('no byte of any fixture traps', async () => {
  const jfr = await Jfr.load(module)
  let read = 0
  for (const kind of ['ok', 'bad', 'maybe'])
    for (const name of readdirSync(join(fixtureDir, kind)))
      for (const flags of [0, 7]) {
        try {
          const file = jfr.open(readFileSync(join(fixtureDir, kind, name)), flags)
          for (const chunk of file.chunks()) for (const sample of chunk.samples()) read += sample.values.length
          file.close()
        } catch (error) {
          assert.ok(error instanceof JfrError, `${kind}/${name}: ${error}`)
        }
      }
  assert.ok(read > 0)
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
