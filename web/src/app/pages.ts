import type { IconName } from '../ui/icon.tsx'

type Page = { readonly path: string; readonly name: string; readonly icon: IconName; readonly key: string }

/** The pages of the bar, with the letter that follows `g`. */
export const pages = [
  { path: '/', name: 'Overview', icon: 'n-overview', key: 'o' },
  { path: '/tasks', name: 'Deployments', icon: 'n-tasks', key: 't' },
  { path: '/versions', name: 'Versions', icon: 'n-versions', key: 'v' },
  { path: '/history', name: 'History', icon: 'n-history', key: 'h' },
  { path: '/lock', name: 'Lock', icon: 'n-lock', key: 'l' },
  { path: '/settings', name: 'Settings', icon: 'n-settings', key: 's' },
] as const satisfies readonly Page[]

/** Whether the page of this path is the one at this address; a task belongs to the list. */
export const isCurrentPage = (path: string, at: string): boolean =>
  path === at || (path === '/tasks' && at.startsWith('/task/'))
