import { useState } from 'react'
import type { Permission } from '../auth/permission.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'

export type TaskAction = {
  readonly name: string
  readonly label: string
  /** While the service is asked. */
  readonly busyLabel: string
  readonly icon?: IconName
  readonly look?: 'btn-danger' | 'btn-primary'
  readonly isBusy: boolean
  readonly run: () => void
  /** Asked before it runs. */
  readonly question?: { readonly title: string; readonly text: string; readonly keep: string }
  readonly command: string
  readonly error: Error | null
}

type Props = { action: TaskAction; permission: Permission; whyId: string }

/** Does one thing to a task, after one question where it asks. Who may not sees it dashed, with the reason beside it. */
export function ActionButton({ action, permission, whyId }: Props) {
  const [isAsking, setAsking] = useState(false)
  const { label, busyLabel, icon, look = '', isBusy, run, question } = action
  const isForbidden = permission.kind !== 'allowed'
  const press = () => {
    if (isForbidden || isBusy) return
    if (question === undefined) run()
    else setAsking(true)
  }
  return (
    <>
      <button
        className={`btn ${isForbidden ? '' : look}`.trim()}
        type="button"
        aria-disabled={isForbidden || isBusy}
        aria-describedby={isForbidden ? whyId : undefined}
        onClick={press}
      >
        {icon === undefined ? null : <Icon name={icon} />}
        <span className="steady">
          <span className={isBusy ? 'unseen' : ''}>{label}</span>
          <span className={isBusy ? '' : 'unseen'}>{busyLabel}</span>
        </span>
      </button>
      {isAsking && question !== undefined ? (
        <ConfirmDialog
          title={question.title}
          keep={question.keep}
          confirm={label}
          look={look === 'btn-danger' ? look : 'btn-primary'}
          onAnswer={(isConfirmed) => {
            setAsking(false)
            if (isConfirmed) run()
          }}
        >
          <p>{question.text}</p>
        </ConfirmDialog>
      ) : null}
    </>
  )
}
