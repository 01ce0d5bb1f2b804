// SPDX-License-Identifier: Apache-2.0
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App.tsx';
import { applyStoredTheme } from './theme.ts';
import { codeOfFragment } from './url/address.ts';
import './global.css';

applyStoredTheme();

// A one-time code is taken out of the address before anything else sees it: no history entry, no bookmark, no referrer.
const code = codeOfFragment(location.hash);
if (code !== null) history.replaceState(history.state, '', location.pathname + location.search);

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App code={code} />
  </StrictMode>,
);
