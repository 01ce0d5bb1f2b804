// SPDX-License-Identifier: Apache-2.0
import { formatDecimal, formatPercent, groupDigits, visibleText, type Profile } from '@hotstack/flamegraph';
import type { Meta } from '../../api/types.ts';
import { formatMoment } from '../../url/range.ts';
import { ledgerShares } from './ledger.ts';
import { plural } from '../words.ts';
import styles from './LedgerLine.module.css';

/** Shows totals, with all digits in a tooltip, and the shares of the sampled value. */
export function LedgerLine({ profile, meta }: { profile: Profile; meta: Partial<Meta> }) {
  const { type, unit, valueTotal, rawTotal } = profile;
  return (
    <div className={styles['line']} data-testid="ledger" data-type={type}>
      <span title={`Sum of the estimates, exactly: ${valueTotal} ${unit}`} data-testid="value-total" data-type={type} data-exact={valueTotal}>
        Total <b>{formatDecimal(valueTotal, unit)}</b>
      </span>
      <span title={`Sum of what the samples said, exactly: ${rawTotal} ${unit}`} data-testid="raw-total" data-type={type} data-exact={rawTotal}>
        raw <b>{formatDecimal(rawTotal, unit)}</b>
      </span>
      <Shares meta={meta} />
      <Recorded meta={meta} />
      {meta.fresh_until != null && <span title="End of the last window in the store">up to {formatMoment(meta.fresh_until, Date.now())}</span>}
      {meta.rows_scanned !== undefined && <span>{groupDigits(String(meta.rows_scanned))} rows read</span>}
      <Warnings meta={meta} />
    </div>
  );
}

function Shares({ meta }: { meta: Partial<Meta> }) {
  if (meta.ledger === undefined || meta.ledger.seen === '0') return null;
  return (
    <span className={styles['shares']} data-testid="shares">
      {ledgerShares(meta.ledger)
        .filter((share) => share.key === 'shown' || !share.isZero)
        .map(({ key, percent, explanation }) => (
          <span key={key} title={explanation} data-share={key}>
            {key} <b>{percent}</b>
          </span>
        ))}
    </span>
  );
}

function Recorded({ meta }: { meta: Partial<Meta> }) {
  if (meta.coverage == null) return null;
  return (
    <span title="Of the time that was asked for, over all JVMs of the selection" data-testid="coverage">
      recorded <b>{formatPercent(Math.min(1, Math.max(0, meta.coverage.share)), 1)}</b> of the time
    </span>
  );
}

/** What is missing from an answer, which matters most where nothing is left to draw. */
export function Warnings({ meta }: { meta: Partial<Meta> }) {
  const warnings: string[] = [];
  if (meta.truncated === true) warnings.push('stopped at its budget: less than the whole');
  if (meta.sampled === true) warnings.push('computed from a sample of the rows');
  if (meta.missing !== undefined && meta.missing.length > 0) warnings.push(`missing: ${visibleText(meta.missing.join(', '))}`);
  if (meta.lost_events !== undefined && /^[1-9]\d{0,39}$/.test(meta.lost_events))
    warnings.push(`${groupDigits(meta.lost_events)} events were lost in the JVM or its recording, and are not counted`);
  if (meta.coverage != null && meta.coverage.lost_windows > 0)
    warnings.push(
      `nothing was recorded in ${plural(meta.coverage.lost_windows, 'window')}, last because of ${visibleText(meta.coverage.reason ?? 'an unknown reason')}`,
    );
  if (meta.loss !== undefined && meta.loss.dropped_batches > 0)
    warnings.push(`${plural(meta.loss.dropped_batches, 'batch', 'batches')} of these nodes never came: collectors lost them`);
  if (meta.loss !== undefined && meta.loss.rejected_batches > 0)
    warnings.push(
      `${plural(meta.loss.rejected_batches, 'batch', 'batches')} of these nodes ${meta.loss.rejected_batches === 1 ? 'was' : 'were'} rejected, last as ${visibleText(meta.loss.code ?? 'unknown')}`,
    );
  return warnings.map((warning) => (
    <span key={warning} className={styles['warning']} role="note">
      {warning}
    </span>
  ));
}
