import { Link } from 'wouter'
import type { TaskRecord } from '../../../contract/task.ts'
import { EndBell } from '../notify/end-bell.tsx'
import { taskTab } from '../notify/task-tab.ts'
import { Answered } from '../ui/answered.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { OutsideLink } from '../ui/outside-link.tsx'
import { useTab } from '../ui/tab.ts'
import { useJump } from '../ui/use-jump.ts'
import { Ago, At } from '../ui/when.tsx'
import { versionName } from './action-words.ts'
import { Change } from './change.tsx'
import { isNotFound, useTask } from './read-task.ts'
import { useTimeline } from './read-timeline.ts'
import { StatusMark } from './status-mark.tsx'
import { wordsOf } from './status-words.ts'
import { type OfferedActions, TaskActions, useTaskActions } from './task-actions.tsx'
import { TaskBody } from './task-body.tsx'
import { TaskFacts } from './task-facts.tsx'
import { listAddress } from './task-filters.ts'
import { Verdict } from './verdict.tsx'
import { VerdictAnnouncement } from './verdict-announcement.tsx'

/** `/task/:id`: what does it wait for, or who is the culprit? */
export function TaskPage({ id }: { id: string }) {
  const read = useTask(id)
  const { data: task, error } = read
  const { title, mood } = task === undefined ? { title: `Deployment ${id.slice(0, 8)}` } : taskTab(task)
  useTab(title, { mood })
  const isMissing = task === undefined && isNotFound(error)
  // Here, above all that changes with the status: an answer of the service stays while the task ends and its buttons move.
  const actions = useTaskActions(id, task, read.dataUpdatedAt)
  return (
    <>
      <div className="title">
        <Crumbs task={task} id={id} />
        <div className="title-row">
          <h1 tabIndex={-1}>{task?.app ?? (isMissing ? 'Deployment not found' : `Deployment ${id.slice(0, 8)}`)}</h1>
          {task === undefined ? null : <TitleEnd task={task} actions={actions} />}
        </div>
        {task === undefined ? null : (
          <>
            <By task={task} />
            <Since task={task} />
          </>
        )}
      </div>
      {isMissing ? (
        <NoSuchTask id={id} />
      ) : (
        <Answered query={read} what="the deployment">
          {(known) => <Known task={known} isGone={isNotFound(error)} actions={actions} />}
        </Answered>
      )}
    </>
  )
}

function Known({ task, isGone, actions }: { task: TaskRecord; isGone: boolean; actions: OfferedActions }) {
  const timeline = useTimeline(task.id)
  useJump()
  return (
    <>
      {isGone ? (
        <p className="why">
          This deployment was deleted while the page was open. What you see is the last that was read.
        </p>
      ) : null}
      <Verdict task={task} events={timeline.data ?? []} actions={actions} />
      <VerdictAnnouncement task={task} />
      <div className="cols">
        <TaskBody task={task} timeline={timeline} isGone={isGone} />
        <TaskFacts task={task} events={timeline.data ?? []} />
      </div>
    </>
  )
}

function Crumbs({ task, id }: { task: TaskRecord | undefined; id: string }) {
  return (
    <nav className="crumbs" aria-label="Path">
      <Link href="/tasks">Deployments</Link>
      <span aria-hidden="true">/</span>
      {task === undefined ? null : (
        <>
          <Link href={listAddress({ app: task.app })} className="wrap-any hide-phone">
            {task.app}
          </Link>
          <span aria-hidden="true" className="hide-phone">
            /
          </span>
        </>
      )}
      <span aria-current="page">
        <code>{id.slice(0, 8)}</code>
      </span>
    </nav>
  )
}

function TitleEnd({ task, actions }: { task: TaskRecord; actions: OfferedActions }) {
  const argoCd = (
    <OutsideLink href={task.app_url} className="btn" orElse="nothing">
      <Icon name="i-out" />
      Argo CD
    </OutsideLink>
  )
  const link = `${window.location.origin}/task/${encodeURIComponent(task.id)}`
  return (
    <>
      <StatusMark status={task.status} as="pill" />
      <EndBell task={task} />
      {task.status === 'in progress' ? (
        <TaskActions {...actions}>
          {argoCd}
          <CopyButton text={link} label="Copy link" size="icon" />
        </TaskActions>
      ) : (
        <div className="actions">
          {argoCd}
          <CopyButton text={link} label="Copy link" size="icon" />
        </div>
      )}
    </>
  )
}

function By({ task }: { task: TaskRecord }) {
  return (
    <p className="by">
      <span>
        <Change task={task} />
      </span>
      <span>by {task.author}</span>
      <span>
        project <OutsideLink href={task.project}>{task.project}</OutsideLink>
      </span>
      {task.environment === undefined ? null : (
        <span>
          environment{' '}
          <Link href={listAddress({ environment: task.environment })} className="wrap-any">
            {task.environment}
          </Link>
        </span>
      )}
      {task.is_rollback ? <span>rollback</span> : null}
      {task.status === 'in progress' ? (
        <span>
          accepted <At at={task.created} />
        </span>
      ) : (
        <span>
          {wordsOf(task.status).word.toLowerCase()} <Ago at={task.updated} /> after{' '}
          {duration(task.updated - task.created)}
        </span>
      )}
    </p>
  )
}

/** That the task is history. */
function Since({ task: { deployed_since: since } }: { task: TaskRecord }) {
  if (since === undefined) return null
  return (
    <p className="by">
      <span>
        <Link href={`/task/${encodeURIComponent(since.id)}`}>{versionName(since.images, 'Another version')}</Link> was
        deployed since, <Ago at={since.ended} />
      </span>
    </p>
  )
}

function NoSuchTask({ id }: { id: string }) {
  return (
    <div className="empty">
      <Icon name="i-missing" />
      <h2>Deployment {id} not found</h2>
      <p>It does not exist or was deleted.</p>
      <Link className="btn btn-s" href="/tasks">
        All deployments
      </Link>
    </div>
  )
}
