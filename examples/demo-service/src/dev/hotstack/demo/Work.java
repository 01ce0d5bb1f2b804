/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

/** One kind of CPU work, in units of well under a millisecond. */
interface Work {
    /** The method that a profile shows. */
    String method();

    /** Its designed part of all CPU that orders cost, in percent. */
    int percent();

    void unit();
}
