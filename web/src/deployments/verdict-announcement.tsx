import { useState } from 'react'
import type { TaskRecord } from '../../../contract/task.ts'
import { useThrottledText } from '../ui/use-throttled-text.ts'
import { wordsOf } from './status-words.ts'
import { verdictWords } from './verdict-words.ts'

/** For the ear: what the open task waits for, calmly; that it ended badly while one watched, at once. */
export function VerdictAnnouncement({ task }: { task: TaskRecord }) {
  const [opened] = useState(task.status)
  const endedBadly = opened === 'in progress' && (task.status === 'failed' || task.status === 'aborted')
  const words = `${wordsOf(task.status).word}. ${verdictWords(task).headline}`
  return (
    <>
      <p className="sr" role="status">
        {useThrottledText(endedBadly ? '' : words)}
      </p>
      <p className="sr" role="alert">
        {endedBadly ? words : ''}
      </p>
    </>
  )
}
