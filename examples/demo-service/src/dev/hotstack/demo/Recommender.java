/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

import java.util.stream.IntStream;

/** Streams and lambdas: 10 % of the CPU, under frames whose names differ from JVM to JVM. */
final class Recommender implements Work {
    private volatile long best;

    @Override
    public String method() {
        return "Recommender.rankItems";
    }

    @Override
    public int percent() {
        return 10;
    }

    @Override
    public void unit() {
        best = rankItems(20_000);
    }

    private static long rankItems(int items) {
        return IntStream.range(0, items)
                .mapToLong(item -> score(item))
                .filter(score -> score % 5 != 0)
                .reduce(0, (a, b) -> a ^ b);
    }

    private static long score(long item) {
        long mixed = item * 0x9E3779B97F4A7C15L;
        for (int i = 0; i < 4; i++) {
            mixed ^= mixed >>> 29;
            mixed *= 0xBF58476D1CE4E5B9L;
        }
        return mixed;
    }
}
