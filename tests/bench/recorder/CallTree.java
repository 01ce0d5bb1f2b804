/* SPDX-License-Identifier: Apache-2.0 */
package bench;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import one.profiler.AsyncProfiler;

/**
 * A load made for recorders: pools of threads walk a tree of calls and allocate a known number of
 * objects at each leaf.
 *
 * <p>usage: java bench.CallTree POOLS THREADS LEAVES DEPTH OBJECTS SECONDS
 *     [--async LIBRARY COMMAND | --jdk PARTS PREFIX]
 *
 * <p>POOLS pools of THREADS threads each; every pool has its own LEAVES / POOLS leaves, in mean DEPTH
 * methods deep; together they allocate OBJECTS objects, or as many as they can in SECONDS, if that is
 * not 0. With --async async-profiler records that, started by COMMAND. With --jdk the JDK's recorder
 * writes PARTS recordings, each of one chunk with its share of the objects: PREFIX0.jfr and so on.
 * Both begin when the methods are compiled: before, stacks of the same frames differ in how the
 * frames ran.
 */
public final class CallTree {
    private static final long WARM_UP = 4_000_000;
    private static final long MANY = 4_000_000;
    private static final int SLICES = 32;
    private static final double OBJECTS_A_STEP = 2.5;

    private static volatile Object sink;

    private final int pools;
    private final int threads;
    private final int leaves;
    private final int depth;

    private CallTree(String[] args) {
        pools = Integer.parseInt(args[0]);
        threads = Integer.parseInt(args[1]);
        leaves = Integer.parseInt(args[2]) / pools;
        depth = Integer.parseInt(args[3]);
    }

    /**
     * One thread's share. The leaves come in slices, as a service's requests change with the hours (and
     * because async-profiler numbers a stack anew each time its table grows): of each slice first every
     * leaf once, then the low numbers more often.
     */
    private final class Share {
        private final int pool;
        private final AtomicLong steps;
        private final int bits = 64 - Long.numberOfLeadingZeros(leaves - 1);
        private final Walk walk = new Walk(bits + 3, depth);
        private final long sliceSteps;
        private long seed;
        private long left;

        Share(int pool, int thread, long objects, AtomicLong steps) {
            this.pool = pool;
            this.steps = steps;
            left = objects;
            sliceSteps = Math.max(1, (long) (Math.min(objects * threads, MANY) / OBJECTS_A_STEP / SLICES));
            seed = Walk.mix(pool * 1000L + thread);
        }

        void work(long deadline) {
            while (left > 0 && (deadline == 0 || System.nanoTime() < deadline)) {
                block();
            }
        }

        /** Few steps: a long loop would be replaced by compiled code in the midst, and so change its frame. */
        private void block() {
            for (int i = 0; i < 256 && left > 0; i++) {
                step();
            }
            sink = Walk.contend(pool);
        }

        private void step() {
            seed = Walk.mix(seed + 0x9E3779B97F4A7C15L);
            double u = (seed >>> 11) * 0x1.0p-53;
            long step = steps.getAndIncrement();
            int slice = (int) (step / sliceSteps % SLICES);
            int from = (int) ((long) leaves * slice / SLICES);
            int length = (int) ((long) leaves * (slice + 1) / SLICES) - from;
            long first = step % sliceSteps;
            long leaf = from + (first < length ? first : (long) (length * u * u));
            int count = (int) Math.min(left, 1 + (seed & 3));
            walk.aim(((long) pool << bits) + leaf, count);
            sink = Roots.enter(pool, walk);
            left -= count;
        }
    }

    /** All threads work; returns when they are done. */
    private void run(long objects, long seconds) throws InterruptedException {
        long deadline = seconds == 0 ? 0 : System.nanoTime() + seconds * 1_000_000_000L;
        Thread[] all = new Thread[pools * threads];
        AtomicLong[] steps = new AtomicLong[pools];
        Arrays.setAll(steps, i -> new AtomicLong());
        CountDownLatch ready = new CountDownLatch(all.length);
        for (int i = 0; i < all.length; i++) {
            int pool = i / threads;
            int thread = i % threads;
            all[i] = new Thread(() -> {
                ready.countDown();
                new Share(pool, thread, objects / all.length, steps[pool]).work(deadline);
            }, "pool-" + pool + "-thread-" + thread);
            all[i].start();
        }
        ready.await();
        for (Thread thread : all) {
            thread.join();
        }
    }

    private void recordAsync(long objects, long seconds, String library, String command) throws InterruptedException {
        AsyncProfiler profiler = AsyncProfiler.load(library);
        run(WARM_UP, 0);
        profiler.execute(command);
        run(objects, seconds);
        profiler.execute("stop");
    }

    private void recordJdk(long objects, int parts, String prefix) throws Exception {
        run(WARM_UP, 0);
        for (int i = -1; i < parts; i++) { // the first is written over: what recording itself compiles and loads
            try (Part part = new Part(prefix + Math.max(i, 0) + ".jfr")) {
                run(objects / parts, 0);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        CallTree tree = new CallTree(args);
        Roots.load();
        long objects = Long.parseLong(args[4]);
        long seconds = Long.parseLong(args[5]);
        String how = args.length > 6 ? args[6] : "";
        if (how.equals("--async")) {
            tree.recordAsync(objects, seconds, args[7], args[8]);
        } else if (how.equals("--jdk")) {
            tree.recordJdk(objects, Integer.parseInt(args[7]), args[8]);
        } else {
            tree.run(objects, seconds);
        }
    }
}
