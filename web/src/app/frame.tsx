import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { signInErrorPath } from '../../../contract/text/sign-in-error.ts'
import { useReading } from '../auth/session.ts'
import { OpenFind } from '../find/open-find.ts'
import { useLiveWhileVisible } from '../live/use-live-while-visible.ts'
import { LockBanner } from '../locks/lock-banner.tsx'
import { useServiceVersion } from '../service/read-status.ts'
import { NowProvider } from '../ui/now.tsx'
import { useKeys } from '../ui/use-keys.ts'
import { ArgoCdNotice } from './argo-cd-notice.tsx'
import { Bar } from './bar.tsx'
import { ConnectionNotice } from './connection-notice.tsx'
import { useFavicon } from './favicon.ts'
import { KeysDialog } from './keys-dialog.tsx'
import { PageBoundary } from './page-boundary.tsx'
import { pages } from './pages.ts'
import { SignedOut, SignInFirst } from './signed-out.tsx'
import { useLiveness } from './use-liveness.ts'
import { useRouteFocus } from './use-route-focus.ts'

const loadFind = () => import('../find/find-dialog.tsx')
const FindDialog = lazy(() => loadFind().then((m) => ({ default: m.FindDialog })))
/** Then the page has what it needs, and Find opens with the first key. */
const loadFindAfterMs = 2_000

/** Pages that have something for a reader who may read nothing. */
const readsNothing: ReadonlySet<string> = new Set(['/settings', signInErrorPath])

/** What is around every page: the way past it, the bar, a lost connection, the foot. */
export function Frame({ children }: { children: ReactNode }) {
  const { state, retrySeconds, isSignedOut, now } = useLiveness()
  const reading = useReading()
  const [path] = useLocation()
  const [finding, setFinding] = useState(0) // which opening of the dialog, as the browser tells late that one closed
  const keys = useRef<HTMLDialogElement>(null)
  const find = useCallback(() => setFinding((last) => last + 1), [])
  usePageKeys(find, keys)
  useRouteFocus()
  useLiveWhileVisible(reading === 'open')
  useFavicon()
  useEffect(() => {
    const timer = setTimeout(() => void loadFind().catch(() => undefined), loadFindAfterMs)
    return () => clearTimeout(timer)
  }, [])
  const needsSignIn = reading === 'closed' && !readsNothing.has(path)
  const since = 'since' in state ? Math.floor(state.since / 1000) : undefined
  const age = state.kind === 'stale' && since !== undefined ? now - since : undefined
  return (
    <OpenFind value={find}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Bar find={find} liveness={state.kind} isSignedOut={isSignedOut} age={age} />
      <section aria-label="Notices">
        {needsSignIn ? null : <SignedOut isReadingClosed={isSignedOut} />}
        {since === undefined ? null : <ConnectionNotice since={since} age={age} retrySeconds={retrySeconds} />}
        <LockBanner />
        <ArgoCdNotice />
      </section>
      <main className="page" id="main" tabIndex={-1}>
        <NowProvider heldAt={age === undefined ? undefined : since}>
          <PageBoundary key={path}>{needsSignIn ? <SignInFirst /> : children}</PageBoundary>
        </NowProvider>
      </main>
      <footer className="foot">
        <span>Deployment Watcher {useServiceVersion()}</span>
        <a href="/swagger/index.html">API explorer</a>
        <span className="hide-phone">
          Press <kbd>?</kbd> for shortcuts
        </span>
      </footer>
      <KeysDialog dialog={keys} />
      {finding === 0 ? null : (
        <PageBoundary key={finding}>
          <Suspense>
            <FindDialog onClose={() => setFinding(0)} />
          </Suspense>
        </PageBoundary>
      )}
    </OpenFind>
  )
}

/** `g` and a letter lead to a page, `/` finds, `?` lists the keys. */
function usePageKeys(find: () => void, keys: { readonly current: HTMLDialogElement | null }) {
  const [, navigate] = useLocation()
  const actions = useMemo(() => {
    const ways = pages.map(({ key, path }) => [`g ${key}`, () => navigate(path)] as const)
    return { ...Object.fromEntries(ways), '/': find, '?': () => keys.current?.showModal() }
  }, [navigate, find, keys])
  useKeys(actions)
  useFindKey(find)
}

/** Ctrl+K or Cmd+K finds, from a field too. */
function useFindKey(find: () => void) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      if (document.querySelector('dialog[open]') === null) find()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [find])
}
