import { Link, useLocation } from 'wouter'
import { usePermission } from '../auth/session.ts'
import { failureWords } from '../ui/failure-words.ts'
import { Icon } from '../ui/icon.tsx'
import { useTick } from '../ui/now.tsx'
import { useTimeWords } from '../ui/time-zone.ts'
import { useChangeLock } from './change-lock.ts'
import { lockSentence } from './lock-words.ts'
import { useDeployLock, useLiveDeployLock } from './read-deploy-lock.ts'
import { useIsInsideWindow } from './read-lock-calendar.ts'

/** Below the bar of every page but that of the lock, which says the same, while deployments are locked: until when, why, and the way to release it. */
export function LockBanner() {
  useLiveDeployLock()
  const [path] = useLocation()
  const { data: lock } = useDeployLock()
  const now = useTick()
  const time = useTimeWords(now)
  const isInsideWindow = useIsInsideWindow(lock, now)
  const change = useChangeLock()
  const may = usePermission().kind === 'allowed'
  const release = () => {
    if (lock !== undefined && !change.isPending) change.release(lock, isInsideWindow === true, now)
  }
  return (
    <div role="status">
      {lock?.active && path !== '/lock' ? (
        <div className="notice locked">
          <div>
            <Icon name="i-locked" />
            <p>
              <b>{lockSentence(lock, time)}</b> New deployments are rejected.
              {change.error === null ? null : <span role="alert"> Not changed: {failureWords(change.error)}.</span>}
            </p>
            {may ? (
              <button className="btn btn-s" type="button" aria-disabled={change.isPending} onClick={release}>
                {change.isPending ? 'Releasing' : isInsideWindow ? 'Open for 15 minutes' : 'Release'}
              </button>
            ) : (
              <Link className="btn btn-s" href="/lock">
                Deploy lock
              </Link>
            )}
          </div>
        </div>
      ) : null}
    </div>
  )
}
