import { memo } from 'react'
import { Link } from 'wouter'
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

/** One task of the list; it is drawn again only when it changes. */
export const TaskRow = memo(function TaskRow({ task }: { task: TaskRecord }) {
  const cause = rowCause(task)
  return (
    <Row className={useFlash(task.status) ? 'flash' : undefined}>
      <Cell className="c-st">
        <StatusMark status={task.status} />
      </Cell>
      <RowHead className="full c-app">
        <Link className="name quiet" href={`/task/${encodeURIComponent(task.id)}`}>
          {task.app}
        </Link>
        {cause === undefined ? null : <div className="dim">{cause}</div>}
      </RowHead>
      <Cell className="full c-tag">
        <Change task={task} />
      </Cell>
      <Cell className="hide-phone c-proj">{task.project}</Cell>
      <Cell className="c-by">{task.author}</Cell>
      <Cell className="hide-phone">
        <GateStrip task={task} />
      </Cell>
      <Cell className="num nowrap push c-took" data-label="took">
        {duration(secondsTaken(task, useNow()))}
      </Cell>
      <Cell className="num push c-at">
        <Ago at={task.created} />
      </Cell>
    </Row>
  )
})
