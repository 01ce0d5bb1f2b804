// SPDX-License-Identifier: Apache-2.0
import type { UseQueryResult } from '@tanstack/react-query';
import type { Mode, Profile } from '@hotstack/flamegraph';
import { useFlamegraph, useTimeline } from '../../api/queries.ts';
import type { Target } from '../../api/status.ts';
import type { TimelineAnswer } from '../../api/timeline.ts';
import type { ServiceId } from '../../api/types.ts';
import { narrowedOf } from '../../url/address.ts';
import type { Address } from '../../url/useAddress.ts';
import { Answer } from '../Answer.tsx';
import { Choice } from '../Choice.tsx';
import { EmptyGraph } from './EmptyGraph.tsx';
import { FlameGraph } from './FlameGraph.tsx';
import { chosenType, typesOf, type GraphGroup } from './groups.ts';
import { useService } from '../frame/ServiceFrame.tsx';
import { ErrorNotice } from '../ErrorNotice.tsx';
import { LedgerLine, Warnings } from './LedgerLine.tsx';
import { Timeline } from './Timeline.tsx';
import timelines from './Timeline.module.css';
import styles from '../Panel.module.css';

const MAX_HEIGHT = 432;

interface FlamePanelProps {
  group: GraphGroup;
  service: ServiceId;
  address: Address;
  targets: Target[] | undefined;
}

export function FlamePanel({ group, service, address, targets }: FlamePanelProps) {
  const first = group.types[0]![0];
  const { present } = useService();
  const type = chosenType(group, address.get(group.key, first));
  const types = typesOf(group, present, type);
  const narrowed = narrowedOf(address.search);
  const query = useFlamegraph(service, narrowed, type, address.refresh);
  const isSum = !LEVELS.includes(type);
  const timeline = useTimeline(service, narrowed, type, address.refresh, isSum);
  return (
    <section className={styles['panel']} data-testid={`panel-${group.key}`} aria-labelledby={`panel-${group.key}`}>
      <header className={styles['head']}>
        <h2 id={`panel-${group.key}`}>{group.name}</h2>
        {types.length > 1 && (
          <Choice
            label={`${group.name}: what to count`}
            testId={`type-${group.key}`}
            value={type}
            options={types}
            onChange={(next) => address.set(group.key, next, first, true)}
          />
        )}
        {query.data !== undefined &&
          (hasSamples(query.data.profile) ? (
            <LedgerLine profile={query.data.profile} meta={query.data.meta} />
          ) : (
            <Warnings meta={query.data.meta} />
          ))}
      </header>
      {query.data !== undefined && isSum && <OverTime query={timeline} address={address} />}
      <Answer query={query} waitsFor="the backend to build the graph">
        {({ profile }) =>
          hasSamples(profile) ? (
            <FlameGraph
              profile={profile}
              label={`${group.name} flame graph`}
              testId={`flamegraph-${group.key}`}
              maxHeight={MAX_HEIGHT}
              query={address.get('q', '')}
              mode={modeOf(address.get('view', 'icicle'))}
              onQuery={(next) => address.set('q', next, '', true)}
              onMode={(next) => address.set('view', next, 'icicle', true)}
            />
          ) : (
            <EmptyGraph type={type} targets={targets} />
          )
        }
      </Answer>
    </section>
  );
}

/** Types that are levels: a sum over a time means nothing. */
const LEVELS = ['live_bytes'];

/** Shows the type over time, unless nothing was recorded at all, which the graph explains. */
function OverTime({ query: { data, error }, address }: { query: UseQueryResult<TimelineAnswer>; address: Address }) {
  if (data === undefined) return error === null ? <div className={timelines['room']} /> : <ErrorNotice error={error} />;
  return data.values.some((value) => value !== null) ? <Timeline answer={data} address={address} /> : null;
}

function hasSamples({ total }: Profile): boolean {
  return total[0]! > 0;
}

function modeOf(text: string): Mode {
  return text === 'flame' ? 'flame' : 'icicle';
}
