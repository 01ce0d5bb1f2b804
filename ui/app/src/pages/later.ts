// SPDX-License-Identifier: Apache-2.0
// The pages behind the first screen, loaded together.
export { DeadlockPage } from './DeadlockPage.tsx';
export { DeadlocksPage, ServiceDeadlocksPage } from './DeadlocksPage.tsx';
export { IngestionPage } from './IngestionPage.tsx';
export { LocksPage } from './service/LocksPage.tsx';
export { OverviewPage } from './service/OverviewPage.tsx';
export { CpuPage, MemoryPage } from './service/ProfilePages.tsx';
export { ThreadPage } from './service/ThreadPage.tsx';
export { ThreadsPage } from './service/ThreadsPage.tsx';
export { ServiceTargetsPage, TargetsPage } from './TargetsPage.tsx';
