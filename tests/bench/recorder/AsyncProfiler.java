/* SPDX-License-Identifier: Apache-2.0 */
package one.profiler;

/** The entry that async-profiler's library offers to Java. */
public final class AsyncProfiler {
    private AsyncProfiler() {}

    /** Loads the library; the profiler is idle until its first command. */
    public static AsyncProfiler load(String library) {
        System.load(library);
        return new AsyncProfiler();
    }

    /** Runs a command such as "start,event=ctimer,jfr,file=x.jfr" or "stop". */
    public String execute(String command) {
        return execute0(command);
    }

    private native String execute0(String command);
}
