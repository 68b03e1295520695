import { type ReactNode, useMemo } from 'react'
import { useLocation } from 'wouter'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { clockTime } from '../ui/moment.ts'
import { NowProvider } from '../ui/now.tsx'
import { useKeys } from '../ui/use-keys.ts'
import { Bar } from './bar.tsx'
import { SignedOut } from './signed-out.tsx'
import { useRouteFocus } from './use-arrival.ts'
import { useLiveness } from './use-liveness.ts'

/** What is around every page: the way past it, the bar, a lost connection, the foot. */
export function Frame({ children }: { children: ReactNode }) {
  const { state, isSignedOut, now, tryNow } = useLiveness()
  const find = useFind()
  useRouteFocus()
  const since = state.kind === 'stale' ? Math.floor(state.since / 1000) : undefined
  const age = since === undefined ? 0 : now - since
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Bar find={find} liveness={state} isSignedOut={isSignedOut} age={age} />
      {isSignedOut ? <SignedOut /> : null}
      {since === undefined ? null : <NotLive since={since} age={age} tryNow={tryNow} />}
      <main className="page" id="main" tabIndex={-1}>
        <NowProvider heldAt={since}>{children}</NowProvider>
      </main>
      <footer className="foot">
        <span>Deployment Watcher</span>
        <a href="/swagger/index.html">API explorer</a>
      </footer>
    </>
  )
}

function NotLive({ since, age, tryNow }: { since: number; age: number; tryNow: () => void }) {
  return (
    <div className="notice warn">
      <div>
        <Icon name="i-cut" />
        <p>
          <b role="status">Not live since {clockTime(since)}.</b> What you see is {duration(age)} old. Trying again
          every {duration(5)}.
        </p>
        <button className="btn btn-s" type="button" onClick={tryNow}>
          Try now
        </button>
      </div>
    </div>
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
