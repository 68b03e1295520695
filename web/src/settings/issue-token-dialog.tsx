import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import type { IssuedDeployToken } from '../../../contract/auth.ts'
import { failureWords } from '../ui/failure-words.ts'
import { FieldError } from '../ui/field-error.tsx'
import { AnswerError } from '../ui/read-json.ts'
import { useTimeZone } from '../ui/time-zone.ts'
import { useIssueToken } from './deploy-tokens.ts'
import { emptyToken, rejectedField, requestOf, type TokenDraft } from './token-draft.ts'

type Props = { onIssued: (token: IssuedDeployToken) => void; onClose: () => void }

const ends = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['time', 'At a time'],
] as const

/** What the token is for and until when. What was typed stays, whatever the service says to it. */
export function IssueTokenDialog({ onIssued, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [draft, setDraft] = useState(emptyToken)
  const [sent, setSent] = useState(emptyToken)
  const zone = useTimeZone()
  const issue = useIssueToken()
  const ids = { title: useId(), description: useId(), apps: useId(), time: useId(), error: useId() }
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal()
  }, [])
  const change = (part: Partial<TokenDraft>) => setDraft({ ...draft, ...part })
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (issue.isPending) return
    setSent(draft)
    issue.mutate(requestOf(draft, Date.now() / 1000, zone), {
      onSuccess: (token) => {
        onIssued(token)
        dialog.current?.close()
      },
    })
  }
  const words = issue.error === null ? undefined : failureWords(issue.error)
  const isOfField = issue.error instanceof AnswerError && issue.error.status === 406
  const field = words === undefined ? undefined : isOfField ? rejectedField(sent) : 'all'
  const errorAt = (name: typeof field): ReactNode =>
    field === name && words !== undefined ? <FieldError id={ids.error}>{words}</FieldError> : null
  const invalid = (name: typeof field) => ({
    'aria-invalid': field === name,
    'aria-describedby': field === name ? ids.error : undefined,
  })
  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={ids.title} onClose={onClose}>
      <form className="form" onSubmit={send}>
        <h2 id={ids.title}>Issue a deploy token</h2>
        <div className="field">
          <label htmlFor={ids.description}>Description</label>
          <input
            id={ids.description}
            type="text"
            value={draft.description}
            autoComplete="off"
            aria-required="true"
            {...invalid('description')}
            onChange={({ currentTarget }) => change({ description: currentTarget.value })}
          />
          {errorAt('description')}
        </div>
        <div className="field">
          <label htmlFor={ids.apps}>Applications</label>
          <input
            id={ids.apps}
            type="text"
            value={draft.apps}
            placeholder="All"
            autoComplete="off"
            spellCheck={false}
            {...invalid('apps')}
            onChange={({ currentTarget }) => change({ apps: currentTarget.value })}
          />
          <p className="hint">Names or patterns with * and ?, separated by commas.</p>
          {errorAt('apps')}
        </div>
        <fieldset className="stack tight">
          <legend className="label">Expires after</legend>
          <span className="choice">
            {ends.map(([end, name]) => (
              <label key={end}>
                <input type="radio" name="expires" checked={draft.end === end} onChange={() => change({ end })} />
                {name}
              </label>
            ))}
          </span>
        </fieldset>
        {draft.end === 'time' ? (
          <div className="field">
            <label htmlFor={ids.time}>Date and time in {zone}</label>
            <input
              id={ids.time}
              type="datetime-local"
              value={draft.time}
              {...invalid('expires')}
              onChange={({ currentTarget }) => change({ time: currentTarget.value })}
            />
          </div>
        ) : null}
        {errorAt('expires')}
        {errorAt('all')}
        <div className="actions">
          <button className="btn" type="button" onClick={() => dialog.current?.close()}>
            Not now
          </button>
          <button className="btn btn-primary" type="submit" aria-disabled={issue.isPending}>
            {issue.isPending ? 'Issuing' : 'Issue token'}
          </button>
        </div>
      </form>
    </dialog>
  )
}
