// SPDX-License-Identifier: Apache-2.0
// A made-up shop for the mock backend: stacks as a Java service has them, growing as time goes on.
import { sample, type SampleDocument } from '../../flamegraph/tests/sample.ts';

const WORKER = [
  'java.lang.Thread.run',
  'java.util.concurrent.ThreadPoolExecutor$Worker.run',
  'java.util.concurrent.ThreadPoolExecutor.runWorker',
  'com.acme.http.Dispatcher.handle',
  'com.acme.http.Router.dispatch',
].join(';');

const CART = `${WORKER};com.acme.shop.CartController.checkout`;
const SEARCH = `${WORKER};com.acme.shop.SearchController.find`;
const REPORT = 'java.lang.Thread.run;com.acme.report.ReportJob.run;com.acme.report.CsvWriter.write';

const CPU: Record<string, number> = {
  [`${CART};com.acme.shop.Pricing.total;com.acme.shop.Pricing.discount;java.math.BigDecimal.multiply`]: 410,
  [`${CART};com.acme.shop.Pricing.total;com.acme.shop.Pricing.discount;java.util.regex.Pattern.compile;java.util.regex.Pattern.sequence`]: 640,
  [`${CART};com.acme.shop.Pricing.total;java.util.HashMap.get;java.util.HashMap.getNode`]: 230,
  [`${CART};com.acme.shop.Orders.save;com.acme.db.Pool.borrow`]: 60,
  [`${CART};com.acme.shop.Orders.save;com.acme.json.Writer.write;java.lang.StringBuilder.append;java.util.Arrays.copyOf`]: 280,
  [`${CART};com.acme.shop.Orders.save;java.net.SocketOutputStream.write;native:libc.so.6!__send;kernel:tcp_sendmsg;kernel:tcp_write_xmit`]: 190,
  [`${SEARCH};com.acme.search.Index.query;com.acme.search.Postings.intersect`]: 920,
  [`${SEARCH};com.acme.search.Index.query;com.acme.search.Scorer.score;java.lang.Math.log;native:libm.so.6!log`]: 210,
  [`${SEARCH};com.acme.search.Index.query;com.acme.search.Scorer.score`]: 330,
  [`${SEARCH};com.acme.json.Writer.write;java.lang.StringBuilder.append;jvm:libjvm.so!G1CollectedHeap::attempt_allocation`]: 120,
  [`${REPORT};java.lang.String.format;java.util.Formatter.format;java.util.Formatter.parse;java.util.regex.Matcher.find`]: 450,
  [`${REPORT};java.io.BufferedWriter.write`]: 90,
  'jvm:libjvm.so!G1ParTask::work;jvm:libjvm.so!G1ParEvacuateFollowersClosure::do_void': 260,
  'jvm:libjvm.so!CompileBroker::compiler_thread_loop;jvm:libjvm.so!C2Compiler::compile_method': 310,
};

const ALLOC: Record<string, number> = {
  [`${CART};com.acme.shop.Orders.save;com.acme.json.Writer.write;java.lang.StringBuilder.append;java.util.Arrays.copyOf`]: 900,
  [`${SEARCH};com.acme.search.Index.query;com.acme.search.Postings.intersect`]: 500,
  [`${REPORT};java.lang.String.format;java.util.Formatter.parse`]: 700,
};

const LOCK: Record<string, number> = {
  [`${CART};com.acme.db.Pool.borrow;java.util.concurrent.locks.ReentrantLock.lock;jdk.internal.misc.Unsafe.park`]: 800,
  [`${SEARCH};com.acme.search.Index.query;com.acme.search.Cache.get`]: 350,
};

const MS = 1_000_000;
const SCALE: Record<string, { unit: string; stacks: Record<string, number>; scale: number }> = {
  cpu: { unit: 'ns', stacks: CPU, scale: 10 * MS },
  alloc_bytes: { unit: 'bytes', stacks: ALLOC, scale: 512 * 1024 },
  alloc_objects: { unit: 'count', stacks: ALLOC, scale: 7 },
  lock_delay: { unit: 'ns', stacks: LOCK, scale: 3 * MS },
  lock_count: { unit: 'count', stacks: LOCK, scale: 1 },
  wall: { unit: 'ns', stacks: CPU, scale: 50 * MS },
  live_bytes: { unit: 'bytes', stacks: ALLOC, scale: 1024 },
};

export const TYPES = Object.keys(SCALE);

/** Returns the flame graph of a type after `age` windows; empty for a type that the shop does not know. */
export function shopGraph(type: string, age: number): SampleDocument {
  const { unit, stacks, scale } = SCALE[type] ?? { unit: 'count', stacks: {}, scale: 1 };
  const grown = Object.entries(stacks).map(([stack, weight]): [string, number] => [stack, weight * scale * age]);
  return sample({ [type]: { unit, stacks: Object.fromEntries(grown) } });
}
