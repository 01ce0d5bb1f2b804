/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

/** Arithmetic without allocation: half of the CPU. */
final class PriceEngine implements Work {
    private static final int ITEMS = 4096;

    private final double[] prices = new double[ITEMS];
    private volatile double total;

    PriceEngine() {
        for (int i = 0; i < ITEMS; i++) {
            prices[i] = 1 + i % 97 * 0.75;
        }
    }

    @Override
    public String method() {
        return "PriceEngine.computeDiscounts";
    }

    @Override
    public int percent() {
        return 50;
    }

    @Override
    public void unit() {
        total = computeDiscounts(0.015);
    }

    private double computeDiscounts(double rate) {
        double sum = 0;
        for (int round = 0; round < 8; round++) {
            for (int i = 0; i < ITEMS; i++) {
                double price = prices[i];
                sum += price - Math.sqrt(price * rate + round) % 3.0;
            }
        }
        return sum;
    }
}
