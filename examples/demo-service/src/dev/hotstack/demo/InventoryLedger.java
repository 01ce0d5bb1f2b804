/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

/** The contended monitor: held for a millisecond of waiting, as for a slow write. */
final class InventoryLedger {
    private long reserved;

    synchronized void reserve() {
        reserved++;
        Pause.milliseconds(1);
    }
}
