import type { ReactNode } from 'react'
import type { TaskRecord } from '../../../contract/task.ts'
import { type Permission, permissionOf } from '../auth/permission.ts'
import { useSession } from '../auth/session.ts'
import { lockHeadline } from '../locks/lock-words.ts'
import { useDeployLock } from '../locks/read-deploy-lock.ts'
import { isLockRejection } from '../ui/failure-words.ts'
import { useNow } from '../ui/now.tsx'
import { useTimeWords } from '../ui/time-zone.ts'
import { ActionButton, type TaskAction } from './action-button.tsx'
import { ActionNotes } from './action-notes.tsx'
import { againQuestion, backQuestion, cancelQuestion, versionName } from './action-words.ts'
import { useCancelTask, useSubmitTask } from './change-task.ts'
import { cancelCommand, submitCommand } from './equivalent-command.ts'
import { offeredActions } from './offered-actions.ts'
import { resubmissionOf } from './resubmission.ts'

const whyId = 'why-not'
const lockedId = 'why-locked'

export type OfferedActions = {
  readonly offered: readonly TaskAction[]
  readonly all: readonly TaskAction[]
  readonly permission: Permission
}

/** The offered buttons, other buttons behind them, and the words about them below. */
export function TaskActions({ offered, all, permission, children }: OfferedActions & { children?: ReactNode }) {
  if (permission.kind === 'unknown') return <div className="actions">{children}</div>
  const mayAct = permission.kind === 'allowed'
  return (
    <>
      <div className="actions">
        {offered.map((action) => (
          <ActionButton key={action.name} action={action} whyNotId={mayAct ? action.locked && lockedId : whyId} />
        ))}
        {children}
      </div>
      <ActionNotes actions={offered} permission={permission} whyId={whyId} lockedId={lockedId} errors={all} />
    </>
  )
}

/** A failure is shown so long at least, then until the task was read since: the page has moved on. */
const shownFailureMs = 10_000

/** What can be done to a task, and whether the reader may. `readAtMs`: when the task was last read. */
export function useTaskActions(id: string, task: TaskRecord | undefined, readAtMs: number): OfferedActions {
  const session = useSession()
  const permission = permissionOf(session)
  const author = session.data?.user?.name ?? ''
  const { data: lock } = useDeployLock()
  const now = useNow()
  const time = useTimeWords(now)
  const locked = lock?.active ? `${lockHeadline(lock, time)}. Release the lock first.` : undefined
  const { origin } = window.location
  const cancel = useCancelTask(id)
  const goBack = useSubmitTask()
  const again = useSubmitTask()
  if (task === undefined) return { offered: [], all: [], permission }
  const errorOf = ({ error, submittedAt }: Pick<typeof cancel, 'error' | 'submittedAt'>) => {
    const wasRead = readAtMs > submittedAt && now * 1000 > submittedAt + shownFailureMs
    const isOver = isLockRejection(error) ? lock?.active === false : wasRead
    return isOver ? null : error
  }
  const { status, images, previous } = task
  const isDeployed = status === 'deployed'
  const target = isDeployed ? task : previous
  const version = versionName(target?.images ?? [])
  const back = {
    ...resubmissionOf(task, target?.images ?? [], author),
    ...(target === undefined ? {} : { rollback_target_id: target.id }),
  }
  const same = {
    ...resubmissionOf(task, images, author),
    ...(task.source === undefined ? {} : { source: task.source }),
  }
  const forTerminal = 'your-name'

  const all = {
    cancel: {
      name: 'cancel',
      label: 'Cancel deployment',
      busyLabel: 'Cancelling',
      look: 'btn-danger',
      isBusy: cancel.isPending,
      run: () => cancel.mutate(),
      ...(previous === undefined || locked !== undefined ? {} : { runOther: () => goBack.mutate(back) }),
      question: cancelQuestion(task),
      command: cancelCommand(origin, id),
      error: errorOf(cancel),
    },
    back: {
      name: 'back',
      label: isDeployed ? 'Roll back to this version' : `Roll back to ${version}`,
      busyLabel: 'Rolling back',
      icon: 'i-back',
      ...(isDeployed ? {} : { look: 'btn-primary' as const }),
      isBusy: goBack.isPending,
      run: () => goBack.mutate(back),
      locked,
      question: backQuestion(task, version),
      command: submitCommand(origin, { ...back, author: forTerminal }),
      error: errorOf(goBack),
    },
    again: {
      name: 'again',
      label: 'Deploy again',
      busyLabel: 'Deploying',
      icon: 'i-again',
      isBusy: again.isPending,
      run: () => again.mutate(same),
      locked,
      question: againQuestion(task),
      command: submitCommand(origin, { ...same, author: forTerminal }),
      error: errorOf(again),
    },
  } as const satisfies Record<string, TaskAction>

  return {
    offered: offeredActions(task).map((name) => all[name]),
    all: Object.values(all),
    permission,
  }
}
