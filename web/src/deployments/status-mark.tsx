import type { TaskStatus } from '../../../contract/task-status.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { wordsOf } from './status-words.ts'

type Props = { status: TaskStatus; as?: 'pill' | 'row' }

/** Shape and word of a status; in a row a good one is ink. */
export function StatusMark({ status, as = 'row' }: Props) {
  const { word, icon, tone } = wordsOf(status)
  const look = as === 'pill' ? 'pill' : 'quiet-good'
  return (
    <span className={`st st-${tone} ${look}`}>
      <StatusIcon icon={icon} />
      {word}
    </span>
  )
}

/** The arc of a task in progress moves; every other shape stands still. */
export function StatusIcon({ icon }: { icon: IconName }) {
  return <Icon name={icon} className={icon === 'i-progress' ? 'spin' : ''} />
}
