import { type ReactNode, useMemo, useRef } from 'react'
import { useLocation } from 'wouter'
import { useLiveWhileVisible } from '../live/use-live-while-visible.ts'
import { LockBanner } from '../locks/lock-banner.tsx'
import { NowProvider } from '../ui/now.tsx'
import { useKeys } from '../ui/use-keys.ts'
import { ArgoCdNotice } from './argo-cd-notice.tsx'
import { Bar } from './bar.tsx'
import { ConnectionNotice } from './connection-notice.tsx'
import { DeviceDialog } from './device-dialog.tsx'
import { SignedOut } from './signed-out.tsx'
import { useRouteFocus } from './use-arrival.ts'
import { useLiveness } from './use-liveness.ts'

/** What is around every page: the way past it, the bar, a lost connection, the foot. */
export function Frame({ children }: { children: ReactNode }) {
  const { state, retrySeconds, isSignedOut, now } = useLiveness()
  const find = useFind()
  const device = useRef<HTMLDialogElement>(null)
  const showDevice = () => device.current?.showModal()
  usePageKeys(showDevice)
  useRouteFocus()
  useLiveWhileVisible()
  const since = 'since' in state ? Math.floor(state.since / 1000) : undefined
  const age = state.kind === 'stale' && since !== undefined ? now - since : undefined
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Bar find={find} liveness={state.kind} isSignedOut={isSignedOut} age={age} />
      <section aria-label="Notices">
        <SignedOut isReadingClosed={isSignedOut} />
        {since === undefined ? null : <ConnectionNotice since={since} age={age} retrySeconds={retrySeconds} />}
        <LockBanner />
        <ArgoCdNotice />
      </section>
      <main className="page" id="main" tabIndex={-1}>
        <NowProvider heldAt={age === undefined ? undefined : since}>{children}</NowProvider>
      </main>
      <footer className="foot">
        <span>Deployment Watcher</span>
        <a href="/swagger/index.html">API explorer</a>
        <button className="btn btn-plain btn-s" type="button" onClick={showDevice}>
          This device
        </button>
        <span className="hide-phone">
          Press <kbd>?</kbd> for shortcuts
        </span>
      </footer>
      <DeviceDialog dialog={device} />
    </>
  )
}

/** `g` and a letter lead to a page, `?` lists the keys. */
function usePageKeys(showDevice: () => void) {
  const [, navigate] = useLocation()
  const newest = useRef(showDevice)
  newest.current = showDevice
  useKeys(
    useMemo(
      () => ({ 'g t': () => navigate('/tasks'), 'g l': () => navigate('/lock'), '?': () => newest.current() }),
      [navigate],
    ),
  )
}

/** `/` and the button in the bar lead to the search field of the list, from any page. */
function useFind(): () => void {
  const [, navigate] = useLocation()
  const find = useMemo(
    () => () => {
      if (searchField() === null) navigate('/tasks')
      requestAnimationFrame(() => searchField()?.focus())
    },
    [navigate],
  )
  useKeys(useMemo(() => ({ '/': find }), [find]))
  return find
}

const searchField = () => document.querySelector<HTMLInputElement>('main input[type="search"]')
