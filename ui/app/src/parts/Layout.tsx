// SPDX-License-Identifier: Apache-2.0
import { Link, NavLink, Outlet, useNavigate, useSearchParams } from 'react-router';
import { useQueryClient } from '@tanstack/react-query';
import { logOut } from '../api/client.ts';
import { toggleTheme } from '../theme.ts';
import { pageAddress } from '../url/address.ts';
import controls from './controls.module.css';
import styles from './Layout.module.css';

const PAGES = [
  ['/services', 'Services'],
  ['/targets', 'Targets'],
  ['/deadlocks', 'Deadlocks'],
  ['/ingestion', 'Ingestion'],
] as const;

export function Layout() {
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const leave = async () => {
    await logOut().catch(() => undefined);
    queries.clear();
    void navigate('/login');
  };
  return (
    <>
      <header className={styles['bar']}>
        <Link to={pageAddress('/services', search)} className={styles['brand']}>
          Hotstack
        </Link>
        <nav aria-label="Pages" className={styles['pages']}>
          {PAGES.map(([path, name]) => (
            <NavLink key={path} to={pageAddress(path, search)}>
              {name}
            </NavLink>
          ))}
        </nav>
        <span className={styles['gap']} />
        <button type="button" className={controls['button']} onClick={toggleTheme}>
          Light / dark
        </button>
        <button type="button" className={controls['button']} onClick={() => void leave()}>
          Log out
        </button>
      </header>
      <main className={styles['main']}>
        <Outlet />
      </main>
    </>
  );
}
