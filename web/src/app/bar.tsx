import { Link, useLocation } from 'wouter'
import { useDeployLock } from '../locks/read-deploy-lock.ts'
import { ZoneMenu } from '../locks/zone-menu.tsx'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { Account } from './account.tsx'
import type { Liveness } from './liveness.ts'
import { isCurrentPage, pages } from './pages.ts'

type Props = {
  find: () => void
  liveness: Liveness['kind']
  isSignedOut: boolean
  /** Seconds since the last good read, while stale. */
  age: number | undefined
}

export function Bar({ find, liveness, isSignedOut, age }: Props) {
  const [path] = useLocation()
  return (
    <header className="bar">
      <div className="bar-in">
        <Link className="brand" href="/">
          <Brand />
          <span className="brand-name">Deployment Watcher</span>
        </Link>
        <nav className="nav" aria-label="Main">
          {pages.map((page) => (
            <PageLink page={page} isCurrent={isCurrentPage(page.path, path)} key={page.path} />
          ))}
        </nav>
        <div className="bar-end">
          <button className="find" type="button" aria-label="Find, key slash" aria-keyshortcuts="/" onClick={find}>
            <Icon name="i-find" />
            <span>Find</span>
            <kbd>/</kbd>
          </button>
          <span className={liveness === 'live' && !isSignedOut ? 'live' : 'live off'}>
            <i />
            {isSignedOut ? 'Signed out' : livenessWords(liveness, age)}
          </span>
          <ZoneMenu className="inline zone hide-phone" />
          <Account />
        </div>
      </div>
    </header>
  )
}

/** That of the lock shows the closed padlock while deployments are locked. */
function PageLink({ page: { path, name, icon }, isCurrent }: { page: (typeof pages)[number]; isCurrent: boolean }) {
  const isLocked = useDeployLock().data?.active === true && path === '/lock'
  return (
    <Link
      href={path}
      aria-current={isCurrent ? 'page' : undefined}
      aria-label={isLocked ? 'Lock, deployments are locked' : undefined}
    >
      {isLocked ? <Icon name="i-locked" className="nav-locked" /> : <Icon name={icon} />}
      <span>{name}</span>
    </Link>
  )
}

const livenessWords = (kind: Liveness['kind'], age = 0) =>
  ({ connecting: 'Connecting', live: 'Live', unanswered: 'No answer', cut: 'Not live', stale: `${duration(age)} old` })[
    kind
  ]

function Brand() {
  return (
    <svg viewBox="0 0 30 18" aria-hidden="true">
      <path d="M1 9h9" stroke="currentColor" strokeWidth="3" strokeLinecap="round" />
      <circle cx="15" cy="9" r="5.5" fill="none" stroke="var(--accent-mark)" strokeWidth="3.5" />
      <path d="M22.5 9H29" stroke="currentColor" strokeWidth="2" strokeDasharray="2 2.5" opacity=".6" />
    </svg>
  )
}
