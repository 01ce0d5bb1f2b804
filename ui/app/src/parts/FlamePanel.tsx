// SPDX-License-Identifier: Apache-2.0
import type { Mode } from '@hotstack/flamegraph';
import { useFlamegraph } from '../api/queries.ts';
import type { ServiceId, Target } from '../api/types.ts';
import type { Address } from '../url/useAddress.ts';
import { Choice } from './Choice.tsx';
import { EmptyGraph } from './EmptyGraph.tsx';
import { ErrorNotice, StaleNotice } from './ErrorNotice.tsx';
import { FlameGraph } from './FlameGraph.tsx';
import { chosenType, type GraphGroup } from './groups.ts';
import { LedgerLine } from './LedgerLine.tsx';
import { Notice } from './Notice.tsx';
import styles from './FlamePanel.module.css';

const MAX_HEIGHT = 432;

interface FlamePanelProps {
  group: GraphGroup;
  service: ServiceId;
  address: Address;
  targets: Target[] | undefined;
}

export function FlamePanel({ group, service, address, targets }: FlamePanelProps) {
  const first = group.types[0]![0];
  const type = chosenType(group, address.get(group.key, first));
  const query = useFlamegraph(service, type, address.refresh);
  const hasSamples = query.data !== undefined && query.data.profile.total[0]! > 0;
  return (
    <section className={styles['panel']} data-testid={`panel-${group.key}`} aria-labelledby={`panel-${group.key}`}>
      <header className={styles['head']}>
        <h2 id={`panel-${group.key}`}>{group.name}</h2>
        {group.types.length > 1 && (
          <Choice
            label={`${group.name}: what to count`}
            testId={`type-${group.key}`}
            value={type}
            options={group.types}
            onChange={(next) => address.set(group.key, next, first, true)}
          />
        )}
        {hasSamples && <LedgerLine profile={query.data.profile} meta={query.data.meta} />}
      </header>
      {query.data !== undefined && query.error !== null && <StaleNotice error={query.error} since={query.dataUpdatedAt} />}
      {query.data === undefined && query.error === null && <Notice title="Loading" busy testId="loading" />}
      {query.data === undefined && query.error !== null && <ErrorNotice error={query.error} />}
      {query.data !== undefined && !hasSamples && <EmptyGraph type={type} targets={targets} />}
      {hasSamples && (
        <div className={query.isPlaceholderData ? styles['fading'] : undefined} aria-busy={query.isPlaceholderData}>
          <FlameGraph
            profile={query.data.profile}
            label={`${group.name} flame graph`}
            testId={`flamegraph-${group.key}`}
            maxHeight={MAX_HEIGHT}
            query={address.get('q', '')}
            mode={modeOf(address.get('view', 'icicle'))}
            onQuery={(next) => address.set('q', next, '', true)}
            onMode={(next) => address.set('view', next, 'icicle', true)}
          />
        </div>
      )}
    </section>
  );
}

function modeOf(text: string): Mode {
  return text === 'flame' ? 'flame' : 'icicle';
}
