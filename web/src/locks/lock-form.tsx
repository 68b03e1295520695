import { type RefObject, useId } from 'react'
import type { DeployLockDetails } from '../../../contract/deploy-lock.ts'
import { FieldError } from '../ui/field-error.tsx'
import { useTimeWords } from '../ui/time-zone.ts'
import { offsetWords } from '../ui/zoned-time.ts'
import { endOfDraft, type LockDraft, type LockEnd } from './lock-ends.ts'

type Props = {
  lock: DeployLockDetails
  zone: string
  now: number
  draft: LockDraft
  setDraft: (draft: LockDraft) => void
  reasonField: RefObject<HTMLInputElement | null>
  /** The service's words about what was sent. */
  rejection: { readonly field: 'reason' | 'end'; readonly words: string } | undefined
}

/** Why and until when. What was typed stays, whatever the service says to it. */
export function LockForm({ lock, zone, now, draft, setDraft, reasonField, rejection }: Props) {
  const ids = { reason: useId(), time: useId(), reasonError: useId(), timeError: useId(), ends: useId() }
  const change = (part: Partial<LockDraft>) => setDraft({ ...draft, ...part })
  const until = endOfDraft(draft, lock, now, zone)
  const time = useTimeWords(now)
  const isReasonRejected = rejection?.field === 'reason'
  const isEndRejected = rejection?.field === 'end'
  return (
    <>
      <div className="field">
        <label htmlFor={ids.reason}>Reason</label>
        <input
          id={ids.reason}
          ref={reasonField}
          type="text"
          value={draft.reason}
          autoComplete="off"
          aria-required="true"
          aria-invalid={isReasonRejected}
          aria-describedby={isReasonRejected ? ids.reasonError : undefined}
          onChange={(event) => change({ reason: event.currentTarget.value })}
        />
        {isReasonRejected ? <FieldError id={ids.reasonError}>{rejection.words}</FieldError> : null}
      </div>
      <fieldset className="choice" aria-describedby={ids.ends}>
        <legend className="label">Ends</legend>
        {choices(lock).map(({ end, words }) => (
          <label key={end}>
            <input type="radio" name="end" checked={draft.end === end} onChange={() => change({ end })} />
            {words}
          </label>
        ))}
      </fieldset>
      {draft.end === 'time' ? (
        <div className="field time-field">
          <label htmlFor={ids.time}>
            Date and time in {zone} ({offsetWords(until ?? now, zone)})
          </label>
          <input
            id={ids.time}
            type="datetime-local"
            value={draft.time}
            aria-invalid={isEndRejected}
            aria-describedby={isEndRejected ? ids.timeError : undefined}
            onChange={(event) => change({ time: event.currentTarget.value })}
          />
        </div>
      ) : null}
      {isEndRejected ? <FieldError id={ids.timeError}>{rejection.words}</FieldError> : null}
      <p className="hint" id={ids.ends}>
        {endWords(until, time)}
      </p>
    </>
  )
}

function choices({ next_window: next }: DeployLockDetails): readonly { end: LockEnd; words: string }[] {
  return [
    { end: '30', words: 'After 30 min' },
    { end: '60', words: 'After 1 h' },
    { end: '240', words: 'After 4 h' },
    ...(next === null ? [] : [{ end: 'window' as const, words: 'With the next window' }]),
    { end: 'time', words: 'At a time' },
    { end: 'released', words: 'When released' },
  ]
}

function endWords(until: number | null | undefined, time: (at: number) => string): string {
  if (until === undefined) return 'Ends at the date and time you enter.'
  return until === null ? 'Stays locked until a user releases it.' : `Ends at ${time(until)}.`
}
