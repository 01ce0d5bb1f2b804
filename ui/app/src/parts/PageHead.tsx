// SPDX-License-Identifier: Apache-2.0
import type { ReactNode } from 'react';
import type { Address } from '../url/useAddress.ts';
import { RangePicker } from './RangePicker.tsx';
import page from '../pages/page.module.css';

/** Shows the head of a page about all services: its title, its filters, the time range. */
export function PageHead({ title, address, children }: { title: string; address: Address; children?: ReactNode }) {
  return (
    <>
      <title>{`${title} · Hotstack`}</title>
      <header className={page['head']}>
        <h1>{title}</h1>
        {children}
        <span className={page['gap']} />
        <RangePicker address={address} />
      </header>
    </>
  );
}
