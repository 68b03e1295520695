import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Route, Switch } from 'wouter'
import { signInErrorPath } from '../../../contract/text/sign-in-error.ts'
import { isReadingClosed, sessionQuery } from '../auth/session.ts'
import { useChosenColours } from '../ui/colours.ts'
import { LoadingRows } from '../ui/loading-rows.tsx'
import { AnswerError, gateReads } from '../ui/read-json.ts'
import { retryTooMany } from '../ui/retry-too-many.ts'
import { ToastProvider } from '../ui/toast.tsx'
import { Frame } from './frame.tsx'
import { NotFoundPage } from './not-found-page.tsx'

// Each page comes when it is asked for: a link to a deployment needs nothing of the others.
const OverviewPage = lazy(() => import('../overview/overview-page.tsx').then((m) => ({ default: m.OverviewPage })))
const TaskListPage = lazy(() => import('../deployments/task-list-page.tsx').then((m) => ({ default: m.TaskListPage })))
const TaskPage = lazy(() => import('../deployments/task-page.tsx').then((m) => ({ default: m.TaskPage })))
const VersionsPage = lazy(() => import('../versions/versions-page.tsx').then((m) => ({ default: m.VersionsPage })))
const HistoryPage = lazy(() => import('../history/history-page.tsx').then((m) => ({ default: m.HistoryPage })))
const LockPage = lazy(() => import('../locks/lock-page.tsx').then((m) => ({ default: m.LockPage })))
const SettingsPage = lazy(() => import('../settings/settings-page.tsx').then((m) => ({ default: m.SettingsPage })))
const SignInErrorPage = lazy(() =>
  import('../auth/sign-in-error-page.tsx').then((m) => ({ default: m.SignInErrorPage })),
)

/**
 * A failed read is not repeated at once: the connection asks for the next one, and the page says how old it is meanwhile.
 * It asks too when a tab is looked at again.
 */
const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: readSessionAgain }),
  mutationCache: new MutationCache({ onError: readSessionAgain }),
  defaultOptions: {
    queries: { ...retryTooMany, networkMode: 'always', staleTime: 1_000, refetchOnWindowFocus: false },
    // An action fails at once while the browser is offline: fired later, it would surprise.
    mutations: { networkMode: 'always' },
  },
})

/** What is rejected for its credential says that the session is not what the page takes it for. */
function readSessionAgain(error: Error) {
  const isOfCredential = error instanceof AnswerError && (error.status === 401 || error.status === 403)
  const isKnown = isReadingClosed(queries.getQueryData(sessionQuery.queryKey))
  if (isOfCredential && !isKnown) void queries.invalidateQueries(sessionQuery)
}

// A read whose 401 is certain is not sent. Where the session cannot be read, the read itself says what is wrong.
gateReads(async () => {
  const session = await queries
    .fetchQuery({ ...sessionQuery, staleTime: Number.POSITIVE_INFINITY })
    .catch(() => undefined)
  if (isReadingClosed(session)) throw new AnswerError(401, 'reading needs a sign-in')
})

export function App() {
  useChosenColours()
  return (
    <QueryClientProvider client={queries}>
      <ToastProvider>
        <Frame>
          <Suspense fallback={<LoadingRows label="Loading the page" rows={8} />}>
            <Switch>
              <Route path="/" component={OverviewPage} />
              <Route path="/tasks" component={TaskListPage} />
              <Route path="/task/:id">{({ id }) => <TaskPage id={id} key={id} />}</Route>
              <Route path="/versions" component={VersionsPage} />
              <Route path="/history" component={HistoryPage} />
              <Route path="/lock" component={LockPage} />
              <Route path="/settings" component={SettingsPage} />
              <Route path={signInErrorPath} component={SignInErrorPage} />
              <Route component={NotFoundPage} />
            </Switch>
          </Suspense>
        </Frame>
      </ToastProvider>
    </QueryClientProvider>
  )
}
