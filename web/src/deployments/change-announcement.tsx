import { useState } from 'react'
import type { TaskRecord } from '../../../contract/task.ts'
import { useThrottledText } from '../ui/use-throttled-text.ts'
import { summarizeChanges } from './summarize-changes.ts'

type Heard = { announced: readonly TaskRecord[]; words: string }

/** Says what ended in the list, for the ear, as one sentence at most every 10 s. */
export function ChangeAnnouncement({ tasks }: { tasks: readonly TaskRecord[] }) {
  const [heard, setHeard] = useState<Heard>({ announced: tasks, words: '' })
  if (heard.announced !== tasks) {
    const words = summarizeChanges(heard.announced, tasks)
    setHeard({ announced: tasks, words: words === '' ? heard.words : words })
  }
  return (
    <p className="sr" role="status">
      {useThrottledText(heard.words)}
    </p>
  )
}
