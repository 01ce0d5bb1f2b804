// SPDX-License-Identifier: Apache-2.0
/**
 * Tests that libstackagg as WebAssembly computes the stack ids of docs/formats/stack-id.md's vectors, and needs
 * nothing of its host.
 *
 * usage: node vectors.test.mjs LIBSTACKAGG.wasm VECTORS.json   prints TAP
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const FRAME_SIZE = 32
const [moduleFile, vectorsFile] = process.argv.slice(2)
const module = new WebAssembly.Module(readFileSync(moduleFile))
const wasm = new WebAssembly.Instance(module, {}).exports
wasm._initialize()

const view = () => new DataView(wasm.memory.buffer)
const memory = (at, len) => new Uint8Array(wasm.memory.buffer, at, len)

function place(bytes) {
  const at = wasm.malloc(bytes.length || 1)
  memory(at, bytes.length).set(bytes)
  return at
}

/** Returns a name's bytes: text, or hexadecimal where it is no text; a long name is given by a repetition. */
function bytesOf(frame, key) {
  const hex = frame[`${key}_hex`]
  const bytes = hex === undefined ? Buffer.from(frame[key]) : Buffer.from(hex, 'hex')
  return Buffer.concat(Array(frame[`${key}_repeat`] ?? 1).fill(bytes))
}

function putFrame(at, frame) {
  memory(at, FRAME_SIZE).fill(0)
  for (const [offset, key] of [[0, 'class'], [8, 'method']]) {
    const bytes = bytesOf(frame, key)
    const name = place(bytes) // may move the memory
    view().setUint32(at + offset, name, true)
    view().setUint32(at + offset + 4, bytes.length, true)
  }
  view().setUint32(at + 24, frame.line, true)
  view().setUint8(at + 28, frame.kind)
}

function text(at) {
  return Buffer.from(memory(view().getUint32(at, true), view().getUint32(at + 4, true))).toString('utf8')
}

const hex64 = (at) => view().getBigUint64(at, true).toString(16).padStart(16, '0')

function checkFrame(given, frame, version) {
  const out = wasm.malloc(FRAME_SIZE)
  const storage = wasm.malloc(4)
  const hashes = wasm.malloc(16)
  assert.equal(wasm.sagg_frame_normalise(out, storage, given, version, 0), 0)
  if (frame.class_repeat === undefined) {
    assert.equal(text(out), frame.normal_class)
    assert.equal(text(out + 8), frame.normal_method)
  }
  wasm.sagg_frame_hash(hashes, hashes + 8, out)
  assert.equal(hex64(hashes), frame.method_hash)
  assert.equal(hex64(hashes + 8), frame.frame_id)
  wasm.free(view().getUint32(storage, true))
}

function checkCase({ version, frames, stack_id: expected }) {
  const given = wasm.malloc(FRAME_SIZE * frames.length || 1)
  const id = wasm.malloc(16)
  frames.forEach((frame, i) => putFrame(given + i * FRAME_SIZE, frame))
  frames.forEach((frame, i) => checkFrame(given + i * FRAME_SIZE, frame, version))
  assert.equal(wasm.sagg_stack_id_of(id, given, frames.length, version, 0), 0)
  assert.equal(Buffer.from(memory(id, 16)).toString('hex'), expected)
}

const { format, cases } = JSON.parse(readFileSync(vectorsFile, 'utf8'))
const tests = [
  ['imports nothing', () => assert.deepEqual(WebAssembly.Module.imports(module), [])],
  ['the vectors are of the format that is known here', () => assert.equal(format, 1)],
  ...cases.map((one) => [one.name, () => checkCase(one)]),
]
let failed = 0
console.log(`1..${tests.length}`)
for (const [i, [name, body]] of tests.entries())
  try {
    body()
    console.log(`ok ${i + 1} - ${name}`)
  } catch (error) {
    failed++
    console.log(`not ok ${i + 1} - ${name}\n# ${String(error.stack).replaceAll('\n', '\n# ')}`)
  }
process.exitCode = failed ? 1 : 0
