import type { TaskRecord } from '../../../contract/task.ts'
import { Icon } from '../ui/icon.tsx'
import { Section } from '../ui/section.tsx'
import { Cell, Row, RowHead, Table } from '../ui/table.tsx'
import { changedImages } from '../ui/version-change.ts'
import { countMarks, type PodMark, podsOf, runningImages } from './running-images.ts'

/** Which images a task requests, what runs, and in which Pods. */
export function Images({ task }: { task: TaskRecord }) {
  const changed = new Map(changedImages(task.previous?.images, task.images).map(({ image, from }) => [image, from]))
  const rows = runningImages(task).toSorted((a, b) => Number(changed.has(b.image)) - Number(changed.has(a.image)))
  const hasRunning = rows.some(({ running }) => running.length > 0)
  const hasPods = rows.some(({ pods }) => pods.length > 0)
  const columns = ['Image', 'Requested', ...(hasRunning ? ['Running'] : []), ...(hasPods ? ['Pods'] : [])]
  return (
    <Section
      title="Images"
      id="images"
      note={changed.size > 0 && rows.length > 1 ? `${changed.size} of ${rows.length} changed` : String(rows.length)}
    >
      <Table label="Images" className={hasPods ? 'top images' : 'top'} columns={columns.map((name) => ({ name }))}>
        {rows.map(({ image, requested, running, pods }) => (
          <Row key={`${image}:${requested}`}>
            <RowHead className="full">
              <code className="wrap-any">{image}</code>
            </RowHead>
            <Cell className="full" data-label="Requested">
              <Requested from={changed.get(image)} tag={requested} />
            </Cell>
            {hasRunning ? (
              <Cell className="full" data-label="Running">
                <Versions running={running} />
              </Cell>
            ) : null}
            {hasPods ? (
              <Cell className="full">
                <PodShapes pods={pods} />
              </Cell>
            ) : null}
          </Row>
        ))}
      </Table>
    </Section>
  )
}

function Requested({ from, tag }: { from: string | undefined; tag: string }) {
  return (
    <>
      {from === undefined ? null : (
        <>
          <code className="wrap-any dim">{from}</code>
          <span aria-hidden="true"> → </span>
          <span className="sr"> to </span>
        </>
      )}
      <code className="wrap-any">{tag}</code>
    </>
  )
}

function Versions({ running: [first, ...others] }: { running: readonly string[] }) {
  if (first === undefined) return <span className="dim">not seen</span>
  return (
    <>
      <code className="wrap-any">{first}</code>
      {others.length === 0 ? null : (
        <span className="dim">
          {' '}
          and <code className="wrap-any">{others.join(', ')}</code>
        </span>
      )}
    </>
  )
}

type Marked = ReturnType<typeof runningImages>[number]['pods']

function PodShapes({ pods }: { pods: Marked }) {
  if (pods.length === 0) return <span className="dim">none</span>
  const words = countMarks(pods)
  return (
    <>
      <span className="pods" role="img" aria-label={`Pods: ${words}`}>
        {pods.map(({ pod, mark }) => (
          <PodShape key={`${pod.namespace}/${pod.name}`} mark={mark} />
        ))}
      </span>
      <div className="dim" aria-hidden="true">
        {words}
      </div>
    </>
  )
}

function PodShape({ mark }: { mark: PodMark }) {
  if (mark === 'failing') return <Icon name="i-failed" />
  return <i className={mark === 'starting' || mark === 'old' ? mark : undefined} />
}

/** The Pods one by one, those of the requested version first. Nothing where none were read. */
export function Pods({ task }: { task: TaskRecord }) {
  const pods = podsOf(task)
  if (pods.length === 0) return null
  const columns = [{ name: 'Pod' }, { name: 'State' }, { name: 'Version' }, { name: 'Restarts', isNumber: true }]
  return (
    <Section title="Pods" id="pods" note={countMarks(pods)}>
      <Table label="Pods" className="top" columns={columns}>
        {pods.map(({ pod, mark, version }) => (
          <Row key={`${pod.namespace}/${pod.name}`}>
            <RowHead className="full">
              <code className="wrap-any">{pod.name}</code>
            </RowHead>
            <Cell className="full">{stateWords(pod.ready, pod.state)}</Cell>
            <Cell data-label="Version">
              <code className="wrap-any">{version}</code>
              {mark === 'old' ? <span className="dim"> (old)</span> : null}
            </Cell>
            <Cell className="num push" data-label="Restarts">
              {pod.restarts}
            </Cell>
          </Row>
        ))}
      </Table>
    </Section>
  )
}

function stateWords(isReady: boolean, state: string): string {
  if (isReady) return 'Ready'
  return state === 'Running' ? 'Running, not ready' : state || 'Not ready'
}
