// SPDX-License-Identifier: Apache-2.0
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createBrowserRouter, Navigate } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { useEffect, useState } from 'react';
import { ApiError, hasSession, logIn } from './api/client.ts';
import { Layout } from './parts/Layout.tsx';
import { Notice } from './parts/Notice.tsx';
import type * as Pages from './pages/later.ts';
import { LoginPage } from './pages/LoginPage.tsx';
import { ServicesPage } from './pages/ServicesPage.tsx';
import { ServiceFrame } from './parts/frame/ServiceFrame.tsx';
import { loginAddress } from './url/address.ts';

/** Loads a page when the first of its kind is opened, because the first screen needs only the services. */
const later = (name: keyof typeof Pages) => ({ lazy: { Component: async () => (await import('./pages/later.ts'))[name] } });

const router = createBrowserRouter([
  { path: '/login', element: <LoginPage /> },
  {
    element: <Layout />,
    hydrateFallbackElement: <Notice title="Loading" busy />,
    children: [
      { path: '/', element: <Navigate to="/services" replace /> },
      { path: '/services', element: <ServicesPage /> },
      { path: '/targets', ...later('TargetsPage') },
      { path: '/ingestion', ...later('IngestionPage') },
      { path: '/deadlocks', ...later('DeadlocksPage') },
      { path: '/deadlocks/:id', ...later('DeadlockPage') },
      {
        path: '/services/:namespace/:workload',
        element: <ServiceFrame />,
        children: [
          { index: true, ...later('OverviewPage') },
          { path: 'cpu', ...later('CpuPage') },
          { path: 'memory', ...later('MemoryPage') },
          { path: 'locks', ...later('LocksPage') },
          { path: 'threads', ...later('ThreadsPage') },
          { path: 'threads/:jvm/:tid', ...later('ThreadPage') },
          { path: 'deadlocks', ...later('ServiceDeadlocksPage') },
          { path: 'targets', ...later('ServiceTargetsPage') },
        ],
      },
      { path: '*', element: <Notice title="No such page">The address leads nowhere. Start from the list of services.</Notice> },
    ],
  },
]);

function toLogin(): void {
  const { pathname, search } = router.state.location;
  if (pathname !== '/login') void router.navigate(loginAddress(pathname + search), { replace: true });
}

const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof ApiError && error.status === 401) toLogin();
    },
  }),
  defaultOptions: {
    queries: {
      retry: (failures, error) => error instanceof ApiError && error.isPassing && failures < 2,
      refetchOnWindowFocus: true,
      staleTime: 4_000,
    },
  },
});

/** `code`: a one-time code that opens the session before the first page asks for anything. */
export function App({ code }: { code: string | null }) {
  const [ready, setReady] = useState(code === null);
  useEffect(() => {
    if (code === null) return;
    redeem(code)
      .catch(async (error: Error) => {
        // The same link opened again: its code is used up, but the session it opened may still be good.
        if (!(await hasSession())) await router.navigate('/login', { replace: true, state: { problem: error.message } });
      })
      .finally(() => setReady(true));
  }, [code]);
  if (!ready) return <Notice title="Logging in" busy />;
  return (
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}

const redeemed = new Map<string, Promise<void>>();

/** Uses a code only once, because it works once and effects can run twice. */
function redeem(code: string): Promise<void> {
  const known = redeemed.get(code);
  if (known !== undefined) return known;
  const attempt = logIn({ code });
  redeemed.set(code, attempt);
  return attempt;
}
