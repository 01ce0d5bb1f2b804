// SPDX-License-Identifier: Apache-2.0
import { useCollectors, useIngestion, useRetention } from '../api/queries.ts';
import { Answer } from '../parts/Answer.tsx';
import { CollectorTable } from '../parts/ingestion/CollectorTable.tsx';
import { Funnel, OutcomeChart, RefusedTable } from '../parts/ingestion/Outcomes.tsx';
import { RetentionTable, Sums } from '../parts/ingestion/RetentionTable.tsx';
import { Notice } from '../parts/Notice.tsx';
import { PageHead } from '../parts/PageHead.tsx';
import { Panel } from '../parts/Panel.tsx';
import { plural } from '../parts/words.ts';
import { useAddress } from '../url/useAddress.ts';

/** Shows whether users can trust the data. */
export function IngestionPage() {
  const address = useAddress();
  const collectors = useCollectors(address.refresh);
  const ingestion = useIngestion(address.refresh);
  const retention = useRetention(address.refresh);
  return (
    <>
      <PageHead title="Ingestion" address={address} />
      <Panel title="Collectors" testId="collectors">
        <Answer query={collectors} waitsFor="the backend to read heartbeats">
          {(answer) =>
            answer.collectors.length === 0 ? (
              <Notice title="No collector was heard in this time range" testId="empty">
                Choose a longer range. If there is never one, see whether hotstack-collector runs on the nodes and reaches this backend.
              </Notice>
            ) : (
              <>
                <CollectorTable collectors={answer.collectors} />
                {answer.meta.nodes_omitted > 0 && <p>{plural(answer.meta.nodes_omitted, 'collector')} left off.</p>}
              </>
            )
          }
        </Answer>
      </Panel>
      <Answer query={ingestion} waitsFor="the backend to read the ledger">
        {(answer) => (
          <>
            <Panel title="Batches">
              <OutcomeChart answer={answer} />
            </Panel>
            <Panel title="Ledger" note="from the JVM into the store">
              <Funnel answer={answer} />
            </Panel>
            <Panel title="Refused batches" testId="refused">
              {answer.refused.length === 0 ? <p>Every batch of this time range was stored at its first try.</p> : <RefusedTable refused={answer.refused} />}
            </Panel>
          </>
        )}
      </Answer>
      <Answer query={retention} waitsFor="the store to look at its tables">
        {(answer) => (
          <>
            <Panel title="Retention" note="all clusters, now">
              <RetentionTable answer={answer} />
            </Panel>
            <Panel title="Hourly sums" note="what long time ranges read">
              <Sums answer={answer} />
            </Panel>
          </>
        )}
      </Answer>
    </>
  );
}
