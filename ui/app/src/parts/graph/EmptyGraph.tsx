// SPDX-License-Identifier: Apache-2.0
import { typeName, visibleText } from '@hotstack/flamegraph';
import type { Target } from '../../api/status.ts';
import { Notice } from '../Notice.tsx';
import { whyNot } from '../status.ts';

interface EmptyGraphProps {
  type: string;
  /** Undefined while the status is not known. */
  targets: Target[] | undefined;
}

/** Says why there are no samples, as far as the collectors have reported it. */
export function EmptyGraph({ type, targets }: EmptyGraphProps) {
  const title = `No ${typeName(type).toLowerCase().replace(/^cpu/, 'CPU')} in this time range`;
  if (targets === undefined) return <Notice title={title} testId="empty" />;
  const reasons = whyNot(targets);
  if (targets.length === 0) {
    return (
      <Notice title={title} testId="empty">
        No JVM of this service was seen in this time range. Choose an earlier or longer one, or see whether a collector runs on its node.
      </Notice>
    );
  }
  if (reasons.length === 0) {
    return (
      <Notice title={title} testId="empty">
        Its JVMs are being profiled and had nothing of this kind to report so far. The first window takes up to a minute; a type that the
        profiler cannot measure here stays empty.
      </Notice>
    );
  }
  return (
    <Notice title={title} testId="empty">
      <ul>
        {reasons.map(({ reason, message, fix, count }) => (
          <li key={reason}>
            {count === 1 ? '1 JVM' : `${count} JVMs`}: <code>{visibleText(reason)}</code>. {visibleText(message)} {visibleText(fix)}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
