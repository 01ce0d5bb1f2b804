/* SPDX-License-Identifier: Apache-2.0 */
package bench;

/**
 * One walk down the call tree: which of its three callees each method calls, and what the last one
 * allocates. A leaf's number decides all of it, so that a run's stacks are the same in every run;
 * leaves with a common prefix of bits share the outer part of their stacks.
 */
public final class Walk {
    /** What a method gets from {@link #next} when it is the last one. */
    public static final int LEAF = 3;

    private static final Object[] LOCKS = new Object[4];

    static {
        for (int i = 0; i < LOCKS.length; i++) {
            LOCKS[i] = new Object();
        }
    }

    private final int bits;
    private final int meanDepth;
    private long leaf;
    private int level;
    private int depth;
    private int objects;
    private Object last;

    /** The walks to leaves [0, 2^bits), in mean {@code meanDepth} methods deep. */
    public Walk(int bits, int meanDepth) {
        this.bits = bits;
        this.meanDepth = meanDepth;
    }

    /** A number that looks random, from a number. */
    public static long mix(long x) {
        x = (x ^ (x >>> 30)) * 0xBF58476D1CE4E5B9L;
        x = (x ^ (x >>> 27)) * 0x94D049BB133111EBL;
        return x ^ (x >>> 31);
    }

    /** Before each walk: where it leads and how many objects it allocates there. */
    public void aim(long toLeaf, int withObjects) {
        leaf = toLeaf;
        objects = withObjects;
        level = 0;
        int spread = meanDepth / 3;
        depth = meanDepth - spread + (int) Long.remainderUnsigned(mix(toLeaf + 77), 2L * spread + 1);
    }

    /** Which callee is next: 0 to 2, or LEAF. */
    public int next() {
        if (level >= depth) {
            return LEAF;
        }
        int known = Math.min(bits, 1 + level * bits * 5 / (meanDepth * 3));
        long prefix = (leaf >>> (bits - known)) + ((long) known << 40);
        level++;
        return (int) Long.remainderUnsigned(mix(prefix * 0x9E3779B97F4A7C15L + level), 3);
    }

    /** The leaf's work: objects of its kind. */
    public Object arrive() {
        int kind = (int) Long.remainderUnsigned(mix(leaf), Records.KINDS);
        for (int i = 0; i < objects; i++) {
            last = Records.make(kind);
        }
        return last;
    }

    /** Takes a lock and lets the pool's other threads come to wait for it. */
    public static long contend(int pool) {
        synchronized (LOCKS[pool % LOCKS.length]) {
            long x = pool;
            for (int i = 0; i < 10_000; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
            Thread.yield();
            return x;
        }
    }
}
