import { use, useEffect, useState } from 'react'
import type { TaskRecord } from '../../../contract/task.ts'
import { Live } from '../live/use-live.ts'
import { Icon } from '../ui/icon.tsx'
import { taskTab } from './task-tab.ts'

/** On request a notification of the browser when the open task ends, also while its tab is hidden. */
export function EndBell({ task }: { task: TaskRecord }) {
  const connection = use(Live)
  const [state, setState] = useState<'off' | 'on' | 'blocked'>('off')
  const [isOver, isOn] = [task.status !== 'in progress', state === 'on']
  useEffect(() => (isOn && !isOver ? connection.keepOpen() : undefined), [connection, isOn, isOver])
  useEffect(() => {
    if (!isOn || !isOver) return
    setState('off')
    show(task)
  }, [isOn, isOver, task])
  if (isOver || !('Notification' in window)) return null
  const turn = async () => {
    if (isOn) return setState('off')
    setState((await Notification.requestPermission()) === 'granted' ? 'on' : 'blocked')
  }
  if (state === 'blocked') return <p className="why">This browser blocks notifications of this site.</p>
  const label = 'Notify me when it ends'
  return (
    <button className="btn icon-btn" type="button" aria-label={label} title={label} aria-pressed={isOn} onClick={turn}>
      <Icon name={isOn ? 'i-bell-on' : 'i-bell'} />
    </button>
  )
}

function show(task: TaskRecord): void {
  try {
    const notification = new Notification(taskTab(task).title, { body: task.headline ?? '', tag: task.id })
    notification.onclick = () => window.focus()
  } catch {
    // Chrome on Android has no notifications of pages, and says so only here; the tab still tells.
  }
}
