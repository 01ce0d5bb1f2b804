// SPDX-License-Identifier: Apache-2.0
import { useState, type FormEvent } from 'react';
import { useLocation, useNavigate, useSearchParams } from 'react-router';
import { ApiError, logIn } from '../api/client.ts';
import { nextAfterLogin } from '../url/address.ts';
import controls from '../parts/controls.module.css';
import styles from './LoginPage.module.css';

function initialProblem(state: unknown): string {
  const problem = (state as { problem?: unknown } | null)?.problem;
  return typeof problem === 'string' ? `The link could not log you in: ${problem}` : '';
}

export function LoginPage() {
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const { state } = useLocation();
  const [problem, setProblem] = useState(() => initialProblem(state));
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token')).trim();
    if (token === '') return setProblem('A token is needed.');
    setBusy(true);
    try {
      await logIn({ token });
      void navigate(nextAfterLogin(search), { replace: true });
    } catch (error) {
      setProblem(error instanceof ApiError && error.status === 401 ? 'This token is not valid.' : (error as Error).message);
      setBusy(false);
    }
  };
  return (
    <main className={styles['page']}>
      <form className={styles['form']} onSubmit={(event) => void submit(event)} data-testid="login-form">
        <h1>Hotstack</h1>
        {/* For password managers, which want a name to go with the secret. */}
        <input type="text" name="username" autoComplete="username" defaultValue="hotstack" hidden />
        <label className={styles['label']}>
          Access token
          <input
            className={controls['field']}
            type="password"
            name="token"
            autoComplete="current-password"
            autoFocus
            data-testid="token-input"
            aria-invalid={problem !== ''}
            aria-describedby="login-problem"
          />
        </label>
        <span id="login-problem" role="alert" className={styles['problem']} data-testid="login-problem">
          {problem}
        </span>
        <button type="submit" className={`${controls['button']} ${controls['primary']}`} disabled={busy}>
          Log in
        </button>
      </form>
    </main>
  );
}
