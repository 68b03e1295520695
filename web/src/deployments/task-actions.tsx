import type { ReactNode } from 'react'
import type { TaskRecord } from '../../../contract/task.ts'
import { type Permission, permissionOf } from '../auth/permission.ts'
import { useSession } from '../auth/session.ts'
import { ActionButton, type TaskAction } from './action-button.tsx'
import { ActionNotes } from './action-notes.tsx'
import { useCancelTask, useSubmitTask } from './change-task.ts'
import { cancelCommand, submitCommand } from './equivalent-command.ts'
import { resubmissionOf, versionName } from './resubmission.ts'

const whyId = 'why-not'

export type OfferedActions = {
  readonly offered: readonly TaskAction[]
  readonly all: readonly TaskAction[]
  readonly permission: Permission
}

/** The offered buttons, other buttons behind them, and the words about them below. */
export function TaskActions({ offered, all, permission, children }: OfferedActions & { children?: ReactNode }) {
  if (permission.kind === 'unknown') return <div className="actions">{children}</div>
  return (
    <>
      <div className="actions">
        {offered.map((action) => (
          <ActionButton key={action.name} action={action} permission={permission} whyId={whyId} />
        ))}
        {children}
      </div>
      <ActionNotes actions={offered} permission={permission} whyId={whyId} errors={all} />
    </>
  )
}

/** What can be done to a task, and whether the reader may. */
export function useTaskActions(id: string, task: TaskRecord | undefined): OfferedActions {
  const session = useSession()
  const permission = permissionOf(session)
  const author = session.data?.user?.name ?? ''
  const { origin } = window.location
  const cancel = useCancelTask(id)
  const goBack = useSubmitTask()
  const again = useSubmitTask()
  if (task === undefined) return { offered: [], all: [], permission }
  const { status, images, previous } = task
  const isDeployed = status === 'deployed'
  const target = isDeployed ? images : (previous?.images ?? [])
  const version = versionName(target)
  const back = resubmissionOf(task, target, author)
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
      question: { title: 'Cancel this deployment?', text: cancelText(task), keep: 'Keep watching' },
      command: cancelCommand(origin, id),
      error: cancel.error,
    },
    back: {
      name: 'back',
      label: isDeployed ? 'Roll back to this version' : `Roll back to ${version}`,
      busyLabel: 'Rolling back',
      icon: 'i-back',
      ...(isDeployed ? {} : { look: 'btn-primary' as const }),
      isBusy: goBack.isPending,
      run: () => goBack.mutate(back),
      question: {
        title: `Roll back to ${version}?`,
        text: 'A new task commits that version and is watched like any other. What was committed since stays in the history.',
        keep: 'Keep this version',
      },
      command: submitCommand(origin, { ...back, author: forTerminal }),
      error: goBack.error,
    },
    again: {
      name: 'again',
      label: 'Deploy again',
      busyLabel: 'Deploying',
      icon: 'i-again',
      isBusy: again.isPending,
      run: () => again.mutate(same),
      command: submitCommand(origin, { ...same, author: forTerminal }),
      error: again.error,
    },
  } as const satisfies Record<string, TaskAction>

  return {
    offered: offeredTo(task).map((name) => all[name]),
    all: Object.values(all),
    permission,
  }
}

function offeredTo({ status, previous }: TaskRecord): readonly ('cancel' | 'back' | 'again')[] {
  if (status === 'in progress') return ['cancel']
  if (status === 'deployed') return ['back']
  const isBroken = status === 'failed' || status === 'aborted'
  return isBroken && previous !== undefined ? ['back', 'again'] : ['again']
}

function cancelText({ commit, branch }: TaskRecord): string {
  const end = 'Watching stops and the task ends as cancelled.'
  if (commit === undefined) return `${end} A commit that has been pushed stays, so Argo CD still rolls it out.`
  const where = branch === undefined ? '' : ` on ${branch}`
  return `${end} Commit ${commit.slice(0, 7)} stays${where}, so Argo CD still rolls it out. To return to the version before, roll back instead.`
}
