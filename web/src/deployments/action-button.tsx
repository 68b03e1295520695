import { useRef, useState } from 'react'
import { useHistoryState } from 'wouter/use-browser-location'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { useFocusAfter } from '../ui/use-focus-after.ts'
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
  /** What the other answer to its question does. */
  readonly runOther?: () => void
  /** Why it has to wait: deployments are locked. */
  readonly locked?: string | undefined
  /** Asked before it runs. */
  readonly question: Question
  readonly command: string
  readonly error: Error | null
}

type Props = { action: TaskAction /** Of the text that says why it cannot be pressed. */; whyNotId: string | undefined }

/** Does one thing to a task, after one question, which a link to the page may have asked already. Where it cannot be done it is dashed, with the reason beside it. */
export function ActionButton({ action, whyNotId }: Props) {
  const isAsked = useHistoryState<{ readonly asks?: string } | null>()?.asks === action.name
  const [isAsking, setAsking] = useState(isAsked && whyNotId === undefined)
  const button = useRef<HTMLButtonElement>(null)
  useFocusAfter(button)
  const { label, busyLabel, icon, look = '', isBusy, run, runOther, question } = action
  const isOff = whyNotId !== undefined
  const press = () => {
    if (!isOff && !isBusy) setAsking(true)
  }
  return (
    <>
      <button
        ref={button}
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
          other={runOther === undefined ? undefined : question.other}
          confirm={label}
          look={look === 'btn-danger' ? look : 'btn-primary'}
          onAnswer={(answer) => {
            setAsking(false)
            if (answer === 'confirmed') run()
            if (answer === 'other') runOther?.()
          }}
        >
          <p>{question.text}</p>
        </ConfirmDialog>
      ) : null}
    </>
  )
}
