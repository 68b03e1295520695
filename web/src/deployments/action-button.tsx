import { useState } from 'react'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import type { Question } from './action-words.ts'

export type TaskAction = {
  readonly name: string
  readonly label: string
  /** While the service is asked. */
  readonly busyLabel: string
  readonly icon?: IconName
  readonly look?: 'btn-danger' | 'btn-primary'
  readonly isBusy: boolean
  readonly run: () => void
  /** Why it has to wait: deployments are locked. */
  readonly locked?: string | undefined
  /** Asked before it runs. */
  readonly question: Question
  readonly command: string
  readonly error: Error | null
}

type Props = { action: TaskAction /** Of the text that says why it cannot be pressed. */; whyNotId: string | undefined }

/** Does one thing to a task, after one question. Where it cannot be done it is dashed, with the reason beside it. */
export function ActionButton({ action, whyNotId }: Props) {
  const [isAsking, setAsking] = useState(false)
  const { label, busyLabel, icon, look = '', isBusy, run, question } = action
  const isOff = whyNotId !== undefined
  const press = () => {
    if (!isOff && !isBusy) setAsking(true)
  }
  return (
    <>
      <button
        className={`btn ${isOff ? '' : look}`.trim()}
        type="button"
        aria-disabled={isOff || isBusy}
        aria-describedby={whyNotId}
        onClick={press}
      >
        {icon === undefined ? null : <Icon name={icon} />}
        <span className="steady">
          <span className={isBusy ? 'unseen' : ''}>{label}</span>
          <span className={isBusy ? '' : 'unseen'}>{busyLabel}</span>
        </span>
      </button>
      {isAsking ? (
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
