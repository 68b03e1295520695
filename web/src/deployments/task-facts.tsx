import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { duration } from '../ui/duration.ts'
import { httpUrl } from '../ui/http-url.ts'
import { OutsideLink } from '../ui/outside-link.tsx'
import { Section } from '../ui/section.tsx'
import { Ago, At, Exactly } from '../ui/when.tsx'
import { Change } from './change.tsx'
import { followCommand, pipelineName, repositoryName } from './task-links.ts'
import { deadlineOf, supersededBy } from './verdict-words.ts'

/** Beside the verdict: where it went, the task's own facts, and how to follow it from a terminal. */
export function TaskFacts({ task, events }: { task: TaskRecord; events: readonly TaskEvent[] }) {
  return (
    <div className="aside">
      <Where task={task} />
      <Section title="Deployment" id="facts">
        <dl className="facts">
          <Fact name="Id">
            <code>{task.id}</code>
          </Fact>
          <Fact name="Created">
            <Exactly at={task.created} />
          </Fact>
          <EndOrDeadline task={task} />
          <Pipeline events={events} />
          <Replaces previous={task.previous} />
          <OtherTask name="Rolls back to" id={task.rollback_target_id} />
          <OtherTask name="Rollback of" id={task.rollback_of} />
          <OtherTask name="Rolled back by" id={task.rolled_back_by} />
          <OtherTask name="Superseded by" id={supersededBy(task)} />
        </dl>
      </Section>
      {task.status === 'in progress' ? <Follow id={task.id} /> : null}
    </div>
  )
}

/** The job that submitted it with the ID token of its CI. */
function Pipeline({ events }: { events: readonly TaskEvent[] }) {
  const { rule, subject, run_url: url } = events.find(({ kind }) => kind === 'accepted')?.data ?? {}
  if (rule === undefined || subject === undefined) return null
  return (
    <Fact name="Pipeline">
      <OutsideLink href={url}>{url === undefined ? subject : pipelineName(url)}</OutsideLink>, by the rule {rule}
    </Fact>
  )
}

function OtherTask({ name, id }: { name: string; id: string | undefined }) {
  if (id === undefined) return null
  return (
    <Fact name={name}>
      <Link href={`/task/${encodeURIComponent(id)}`}>
        <code>{id}</code>
      </Link>
    </Fact>
  )
}

function Replaces({ previous }: Pick<TaskRecord, 'previous'>) {
  if (previous === undefined) return null
  return (
    <Fact name="Replaces">
      <Link href={`/task/${encodeURIComponent(previous.id)}`}>
        <Change task={{ images: previous.images, previous: undefined }} />
      </Link>
      , deployed <Ago at={previous.ended} />
    </Fact>
  )
}

function EndOrDeadline({ task }: { task: TaskRecord }) {
  const deadline = deadlineOf(task)
  return (
    <>
      {task.status === 'in progress' ? null : (
        <Fact name="Ended">
          <Exactly at={task.updated} />
        </Fact>
      )}
      {task.timeout === undefined || deadline === undefined || task.status === 'deployed' ? null : (
        <Fact name="Timeout">
          {duration(task.timeout)}, at <At at={deadline} />
        </Fact>
      )}
    </>
  )
}

/** Nothing here is known of a task without a credential that Argo CD was never asked about: then it is left out. */
function Where({ task }: { task: TaskRecord }) {
  const { commit, repository, branch, app_url, source } = task
  const argoCd = httpUrl(app_url)
  if (!commit && !repository && !branch && !argoCd && !source && !task.file) return null
  return (
    <Section title="Destination" id="where">
      <dl className="facts">
        {commit === undefined ? null : (
          <Fact name="Commit">
            <OutsideLink href={task.commit_url}>
              <code>{commit.slice(0, 7)}</code>
            </OutsideLink>
            {branch === undefined ? null : (
              <>
                {' '}
                on <code>{branch}</code>
              </>
            )}
          </Fact>
        )}
        {repository === undefined ? null : (
          <Fact name="Repository">
            <OutsideLink href={repository}>{repositoryName(repository)}</OutsideLink>
          </Fact>
        )}
        {branch === undefined || commit !== undefined ? null : (
          <Fact name="Branch">
            <code>{branch}</code>
          </Fact>
        )}
        {task.file === undefined ? null : (
          <Fact name="File">
            <code>{task.file}</code>
          </Fact>
        )}
        {argoCd === undefined ? null : (
          <Fact name="Argo CD">
            <OutsideLink href={argoCd}>{task.app}</OutsideLink>
          </Fact>
        )}
        <Source source={source} compareUrl={task.compare_url} />
      </dl>
    </Section>
  )
}

function Source({ source, compareUrl }: { source: TaskRecord['source']; compareUrl: string | undefined }) {
  if (source === undefined) return null
  return (
    <Fact name="Source">
      <OutsideLink href={source.url}>
        {repositoryName(source.repository)}@<code>{source.sha.slice(0, 7)}</code>
      </OutsideLink>
      {source.committed_at === undefined ? null : (
        <>
          , committed <Ago at={source.committed_at} />
        </>
      )}{' '}
      <OutsideLink href={compareUrl} orElse="nothing">
        Compare
      </OutsideLink>
    </Fact>
  )
}

function Follow({ id }: { id: string }) {
  const command = followCommand(window.location.origin, id)
  return (
    <Section title="Follow from a terminal" id="follow">
      <div className="copy">
        <code className="code-block">{command}</code>
        <CopyButton text={command} label="Copy the command" size="icon" />
      </div>
      <p className="why">Answers when the deployment has ended, or after 50&nbsp;s.</p>
    </Section>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
