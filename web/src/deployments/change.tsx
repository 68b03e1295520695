import type { TaskRecord } from '../../../contract/task.ts'
import { versionChange } from '../ui/version-change.ts'

/** What a deployment changes: `v1 → v2`. */
export function Change({ task: { previous, images } }: { task: Pick<TaskRecord, 'previous' | 'images'> }) {
  const { from, to, note } = versionChange(previous?.images, images)
  return (
    <>
      {from === '' ? null : (
        <>
          <code className="wrap-any">{from}</code>
          <span aria-hidden="true"> → </span>
          <span className="sr"> to </span>
        </>
      )}
      {to === '' ? null : <code className="wrap-any">{to}</code>}
      {note === '' ? null : <span className="dim">{to === '' ? note : `, ${note}`}</span>}
    </>
  )
}
