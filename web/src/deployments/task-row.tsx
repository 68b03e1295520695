import { type MouseEvent, memo } from 'react'
import { Link, useLocation } from 'wouter'
import type { TaskRecord } from '../../../contract/task.ts'
import { duration } from '../ui/duration.ts'
import { useNow } from '../ui/now.tsx'
import { Cell, Row, RowHead } from '../ui/table.tsx'
import { useFlash } from '../ui/use-flash.ts'
import { Ago } from '../ui/when.tsx'
import { Change } from './change.tsx'
import { GateStrip } from './gate-strip.tsx'
import { StatusMark } from './status-mark.tsx'
import { rowCause, secondsTaken } from './verdict-words.ts'

/** A longer name may take two lines. */
const clampedLength = 48

/** A click anywhere in the row opens it, unless it is on a link, ends a selection of text, or asks for another tab. */
function useOpenRow(address: string) {
  const [, navigate] = useLocation()
  return ({ target, ctrlKey, metaKey }: MouseEvent) => {
    const isSelecting = (window.getSelection()?.toString() ?? '') !== ''
    if (isSelecting || (target instanceof Element && target.closest('a, button') !== null)) return
    if (ctrlKey || metaKey) window.open(address)
    else navigate(address)
  }
}

/** One task of the list; it is drawn again only when it changes. */
export const TaskRow = memo(function TaskRow({ task }: { task: TaskRecord }) {
  const cause = rowCause(task)
  const address = `/task/${encodeURIComponent(task.id)}`
  const open = useOpenRow(address)
  return (
    <Row className={useFlash(task.status) ? 'flash target' : 'target'} onClick={open}>
      <Cell className="c-st">
        <StatusMark status={task.status} />
      </Cell>
      <RowHead className="full c-app">
        <Link
          className="name quiet clamp"
          href={address}
          title={task.app.length > clampedLength ? task.app : undefined}
        >
          {task.app}
        </Link>
        {task.environment === undefined ? null : <span className="dim clamp">{task.environment}</span>}
        {cause === undefined ? null : <div className="dim clamp">{cause}</div>}
      </RowHead>
      <Cell className="full c-tag">
        <div className="clamp">
          <Change task={task} />
        </div>
      </Cell>
      <Cell className="hide-phone c-proj">
        <span className="clamp">{task.project}</span>
      </Cell>
      <Cell className="c-by">
        <span className="clamp">{task.author}</span>
      </Cell>
      <Cell className="hide-phone">
        <GateStrip task={task} />
      </Cell>
      <Cell className="num nowrap push c-took" data-label={task.status === 'in progress' ? 'for' : 'took'}>
        {duration(secondsTaken(task, useNow()))}
      </Cell>
      <Cell className="num push c-at">
        <Ago at={task.created} />
      </Cell>
    </Row>
  )
})
