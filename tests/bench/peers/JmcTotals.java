/* SPDX-License-Identifier: Apache-2.0 */
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmc.common.IMCFrame;
import org.openjdk.jmc.common.IMCStackTrace;
import org.openjdk.jmc.common.item.IAttribute;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.jdk.JdkAttributes;
import org.openjdk.jmc.flightrecorder.jdk.JdkTypeIDs;

/** The stacks of a recording with their totals, by JDK Mission Control. usage: JmcTotals FILE */
public final class JmcTotals {
    private JmcTotals() {}

    private static List<Object> frames(IMCStackTrace stack) {
        List<Object> out = new ArrayList<>(3 * stack.getFrames().size());
        for (IMCFrame frame : stack.getFrames()) {
            out.add(frame.getMethod().getType().getFullName());
            out.add(frame.getMethod().getMethodName());
            out.add(frame.getFrameLineNumber());
        }
        return out;
    }

    /** Sums one event type's items; a sample is worth 1 where it has no value. */
    private static void add(
            Totals<IMCStackTrace> totals, String kind, IItemIterable items, IAttribute<IQuantity> value) {
        IMemberAccessor<IMCStackTrace, IItem> stacks = JfrAttributes.EVENT_STACKTRACE.getAccessor(items.getType());
        IMemberAccessor<IQuantity, IItem> values = value == null ? null : value.getAccessor(items.getType());
        for (IItem item : items) {
            totals.event();
            totals.add(kind, stacks.getMember(item), values == null ? 1 : values.getMember(item).longValue());
        }
    }

    private static void add(Totals<IMCStackTrace> totals, IItemIterable items) {
        switch (items.getType().getIdentifier()) {
            case JdkTypeIDs.EXECUTION_SAMPLE:
                add(totals, "cpu", items, null);
                break;
            case JdkTypeIDs.ALLOC_INSIDE_TLAB:
                add(totals, "alloc", items, JdkAttributes.TLAB_SIZE);
                break;
            case JdkTypeIDs.ALLOC_OUTSIDE_TLAB:
                add(totals, "alloc", items, JdkAttributes.ALLOCATION_SIZE);
                break;
            case JdkTypeIDs.OBJ_ALLOC_SAMPLE:
                add(totals, "alloc", items, JdkAttributes.SAMPLE_WEIGHT);
                break;
            case JdkTypeIDs.MONITOR_ENTER:
            case JdkTypeIDs.THREAD_PARK:
                add(totals, "lock", items, null);
                break;
            default:
                for (long i = items.getItemCount(); i > 0; i--) {
                    totals.event();
                }
                break;
        }
    }

    public static void main(String[] args) throws Exception {
        Totals<IMCStackTrace> totals = new Totals<>(JmcTotals::frames);
        for (IItemIterable items : JfrLoaderToolkit.loadEvents(new File(args[0]))) {
            add(totals, items);
        }
        System.out.println(totals.json());
    }
}
