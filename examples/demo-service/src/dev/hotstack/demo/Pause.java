/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

/** Waiting that stands for a database or a disk. */
final class Pause {
    private Pause() {}

    static void milliseconds(long duration) {
        try {
            Thread.sleep(duration);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
