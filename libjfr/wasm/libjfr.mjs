// SPDX-License-Identifier: Apache-2.0
/**
 * libjfr as WebAssembly: the library's public functions over one module, for Node and browsers. The
 * module needs no import. Recordings that are packed with gzip are unpacked by the caller
 * (zlib.gunzipSync, DecompressionStream).
 *
 *     const jfr = await Jfr.load(bytesOfTheModule)
 *     const file = jfr.open(bytesOfTheRecording)
 *     for (const chunk of file.chunks())
 *       for (const sample of chunk.samples()) { ... sample.values ... chunk.stack(sample.stack) ... }
 *     file.close()
 *
 * Numbers of 64 bits are BigInt. The offsets below are checked by layout.c when the module is built.
 */

export const NONE = 0xffffffff
export const WALK_UNFINISHED = 1
export const KEEP_IDLE_WAITS = 2
export const KEEP_NATIVE_SAMPLES = 4

const ERROR_SIZE = 272
const SAMPLE_SIZE = 72
const VALUE_SIZE = 24
const FRAME_SIZE = 20
const LOSS_RECORD_SIZE = 32
const SCRATCH_SIZE = 512 // one record of any kind
const utf8 = new TextDecoder()

/** A failure of the library: code as in jfr/error.h, the byte offset and one sentence. */
export class JfrError extends Error {
  constructor(code, offset, message) {
    super(message)
    this.code = code
    this.offset = offset
  }
}

/** The module. Independent of other instances; one recording after the other or several at once. */
export class Jfr {
  static async load(module) {
    const { instance } = await WebAssembly.instantiate(module, {})
    return new Jfr(instance.exports)
  }

  constructor(exports) {
    this.exports = exports
    exports._initialize()
    this.error = this.allocate(ERROR_SIZE)
    this.scratch = this.allocate(SCRATCH_SIZE)
    this.types = []
    for (let type = 0, name; (name = exports.jfr_profile_type_name(type)) !== 0; type++) this.types.push(this.terminated(name))
  }

  /** The memory as it is now: it moves when it grows. */
  get view() {
    const { buffer } = this.exports.memory
    if (this.lastView?.buffer !== buffer) this.lastView = new DataView(buffer)
    return this.lastView
  }

  allocate(size) {
    const at = this.exports.malloc(size)
    if (at === 0) throw new JfrError(-5, 0n, 'Out of memory while reading a JFR recording.')
    return at
  }

  terminated(at) {
    const bytes = new Uint8Array(this.exports.memory.buffer)
    return utf8.decode(bytes.subarray(at, bytes.indexOf(0, at)))
  }

  /** A jfr_str; null where the recording has null. */
  string(at) {
    const data = this.view.getUint32(at, true)
    if (data === 0) return null
    return utf8.decode(new Uint8Array(this.exports.memory.buffer, data, this.view.getUint32(at + 4, true)))
  }

  /** Returns rc, or throws what the library wrote about the failure. */
  checked(rc) {
    if (rc >= 0) return rc
    throw new JfrError(rc, this.view.getBigUint64(this.error + 8, true), this.terminated(this.error + 16))
  }

  version() {
    return this.terminated(this.exports.jfr_version())
  }

  /** Opens a recording of bytes, which are copied into the module. `flags`: of jfr_options. */
  open(bytes, flags = 0) {
    return new JfrFile(this, bytes, flags)
  }
}

class JfrFile {
  constructor(jfr, bytes, flags) {
    this.jfr = jfr
    this.data = jfr.allocate(bytes.length || 1)
    new Uint8Array(jfr.exports.memory.buffer, this.data, bytes.length).set(bytes)
    const options = jfr.scratch
    jfr.view.setUint32(options, 8, true) // jfr_options.size: up to and with flags
    jfr.view.setUint32(options + 4, flags, true)
    try {
      jfr.checked(jfr.exports.jfr_open_mem(options + 8, this.data, bytes.length, options, jfr.error))
    } catch (error) {
      jfr.exports.free(this.data)
      throw error
    }
    this.handle = jfr.view.getUint32(options + 8, true)
  }

  /** Each chunk is good until the next. A limit that is passed throws; what went before stays counted. */
  *chunks() {
    const { jfr } = this
    while (jfr.checked(jfr.exports.jfr_next_chunk(this.handle, jfr.scratch, jfr.error)) === 1)
      yield new JfrChunk(jfr, jfr.view.getUint32(jfr.scratch, true))
  }

  loss() {
    const { jfr } = this
    const at = jfr.scratch
    jfr.exports.jfr_file_loss(this.handle, at)
    const records = []
    const first = jfr.view.getUint32(at + 36, true)
    for (let i = 0; i < jfr.view.getUint32(at + 32, true); i++) {
      const record = first + i * LOSS_RECORD_SIZE
      records.push({
        reason: jfr.terminated(jfr.exports.jfr_loss_reason_name(jfr.view.getUint32(record, true))),
        offset: jfr.view.getBigUint64(record + 8, true),
        bytes: jfr.view.getBigUint64(record + 16, true),
        chunk: jfr.view.getBigUint64(record + 24, true),
      })
    }
    return {
      chunksWhole: jfr.view.getBigUint64(at, true),
      chunksPartial: jfr.view.getBigUint64(at + 8, true),
      chunksLost: jfr.view.getBigUint64(at + 16, true),
      bytesLost: jfr.view.getBigUint64(at + 24, true),
      recorderSamples: jfr.view.getBigUint64(at + 40, true),
      recorderBytes: jfr.view.getBigUint64(at + 48, true),
      records,
    }
  }

  close() {
    this.jfr.exports.jfr_close(this.handle)
    this.jfr.exports.free(this.data)
  }
}

class JfrChunk {
  constructor(jfr, handle) {
    this.jfr = jfr
    this.handle = handle
  }

  info() {
    const { view, exports } = this.jfr
    const at = exports.jfr_chunk_get_info(this.handle)
    return {
      offset: view.getBigUint64(at, true),
      size: view.getBigUint64(at + 8, true),
      version: `${view.getUint16(at + 16, true)}.${view.getUint16(at + 18, true)}`,
      finished: view.getUint8(at + 20) !== 0,
      startNs: view.getBigInt64(at + 24, true),
      durationNs: view.getBigUint64(at + 32, true),
    }
  }

  *samples() {
    const { jfr } = this
    const at = jfr.allocate(SAMPLE_SIZE)
    try {
      while (jfr.checked(jfr.exports.jfr_samples_next(this.handle, at, jfr.error)) === 1) yield readSample(jfr.view, at)
    } finally {
      jfr.exports.free(at)
    }
  }

  /** Frames leaf first. */
  stack(index) {
    const { jfr } = this
    jfr.checked(jfr.exports.jfr_chunk_stack(this.handle, index, jfr.scratch, jfr.error))
    const { view } = jfr
    const first = view.getUint32(jfr.scratch, true)
    const frames = Array.from({ length: view.getUint32(jfr.scratch + 4, true) }, (_, i) => readFrame(jfr, first + i * FRAME_SIZE))
    return { frames, truncated: view.getUint8(jfr.scratch + 8) !== 0 }
  }

  thread(index) {
    const { jfr } = this
    const at = jfr.scratch
    jfr.checked(jfr.exports.jfr_chunk_thread(this.handle, index, at, jfr.error))
    return {
      osTid: jfr.view.getBigInt64(at, true),
      javaTid: jfr.view.getBigInt64(at + 8, true),
      osName: jfr.string(at + 16),
      javaName: jfr.string(at + 24),
      group: jfr.string(at + 32),
      isVirtual: jfr.view.getUint8(at + 40) !== 0,
    }
  }

  className(index) {
    const { jfr } = this
    jfr.checked(jfr.exports.jfr_chunk_class(this.handle, index, jfr.scratch, jfr.error))
    return jfr.string(jfr.scratch)
  }
}

function readSample(view, at) {
  const values = []
  for (let i = 0; i < view.getUint8(at + 23); i++) {
    const value = at + 24 + i * VALUE_SIZE
    values.push({
      type: view.getUint32(value, true),
      raw: view.getBigUint64(value + 8, true),
      value: view.getBigUint64(value + 16, true),
    })
  }
  return {
    timeNs: view.getBigInt64(at, true),
    stack: view.getUint32(at + 8, true),
    thread: view.getUint32(at + 12, true),
    klass: view.getUint32(at + 16, true),
    source: view.getUint8(at + 20),
    state: view.getUint8(at + 21),
    lockKind: view.getUint8(at + 22),
    values,
  }
}

function readFrame(jfr, at) {
  const method = jfr.view.getUint32(at, true)
  return {
    className: jfr.string(method),
    name: jfr.string(method + 8),
    line: jfr.view.getUint32(at + 8, true),
    kind: jfr.view.getUint8(at + 16),
    tier: jfr.view.getUint8(at + 17),
  }
}
