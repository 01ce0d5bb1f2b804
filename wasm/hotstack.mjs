// SPDX-License-Identifier: Apache-2.0
/**
 * Makes flame graphs of JFR recordings in the browser or in Node, with hotstack.wasm. Nothing is sent anywhere.
 *
 *     const hotstack = await Hotstack.load(bytesOfTheModule)
 *     const recording = await hotstack.open(bytesOfTheFile, 'app.jfr')
 *     for (const { type } of recording.summary.types) show(recording.document(type))
 *     recording.close()
 */

const MAX_UNPACKED = 2 ** 30 // a 32-bit module holds the recording and its flame graphs
const utf8 = new TextDecoder()

/** Says that a recording cannot be read, or has no such profile: `message` is a sentence for the user. */
export class HotstackError extends Error {}

export class Hotstack {
  static async load(moduleBytes) {
    const { instance } = await WebAssembly.instantiate(moduleBytes, {})
    return new Hotstack(instance.exports)
  }

  constructor(exports) {
    this.exports = exports
    exports._initialize()
  }

  /** Reads a recording, also one packed with gzip. Keeps no reference to `bytes`. */
  async open(bytes, title) {
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b
    return new Recording(this.exports, isPacked ? await unpack(bytes, title) : bytes, title)
  }
}

/** One recording that was read; close it to free its memory. */
class Recording {
  constructor(exports, bytes, title) {
    this.exports = exports
    const name = new TextEncoder().encode(`${title}\0`)
    const [data, text] = [bytes, name].map((given) => this.#place(given, title))
    this.handle = data && text ? exports.hotstack_open(data, bytes.length, text) : 0
    exports.free(data)
    exports.free(text)
    if (!data || !text) throw new HotstackError(`${title}: the browser has no memory for a recording of ${bytes.length} bytes`)
    if (!this.handle) throw this.#error()
    /** `types` that have samples, `whole`, and `meta`: see hotstack_summary in hotstack.c. */
    this.summary = JSON.parse(this.#text(exports.hotstack_summary(this.handle)))
  }

  /** Returns the flame graph of a type as a document with one profile (docs/formats/flamegraph-json.md). */
  document(type, maxNodes = 200_000) {
    return JSON.parse(this.documentText(type, maxNodes))
  }

  documentText(type, maxNodes = 200_000) {
    const index = this.summary.types.findIndex((row) => row.type === type)
    return this.#text(this.exports.hotstack_document(this.handle, index, maxNodes))
  }

  close() {
    this.exports.hotstack_close(this.handle)
    this.handle = 0
  }

  /** Copies `bytes` into the module's memory. Returns 0 without memory. Addresses past 2 GiB come as negative numbers. */
  #place(bytes) {
    const at = this.exports.malloc(bytes.length || 1) >>> 0
    if (at) new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes)
    return at
  }

  #read(at) {
    const memory = new Uint8Array(this.exports.memory.buffer)
    return utf8.decode(memory.subarray(at >>> 0, memory.indexOf(0, at >>> 0)))
  }

  #text(at) {
    if (at === 0) throw this.#error()
    return this.#read(at)
  }

  #error() {
    return new HotstackError(this.#read(this.exports.hotstack_error()))
  }
}

async function unpack(bytes, title) {
  const pieces = []
  let size = 0
  try {
    for await (const piece of new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))) {
      pieces.push(piece)
      size += piece.length
      if (size > MAX_UNPACKED) break
    }
  } catch {
    throw new HotstackError(`${title}: the gzip data is damaged or cut: unpack what is left of it with gzip -dc and open that`)
  }
  if (size > MAX_UNPACKED) throw new HotstackError(`${title}: unpacks to more than 1 GiB: use hotstack convert for it`)
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
