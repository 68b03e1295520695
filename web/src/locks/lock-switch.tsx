import { useId, useRef } from 'react'
import type { DeployLockDetails } from '../../../contract/deploy-lock.ts'
import type { Permission } from '../auth/permission.ts'
import { usePermission } from '../auth/session.ts'
import { WhyNot } from '../auth/why-not.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { failureWords } from '../ui/failure-words.ts'
import { Icon } from '../ui/icon.tsx'
import { useTick } from '../ui/now.tsx'
import { AnswerError } from '../ui/read-json.ts'
import { useTimeWords } from '../ui/time-zone.ts'
import { useChangeLock } from './change-lock.ts'
import { lockCommand, scheduleSetting } from './lock-command.ts'
import { emptyDraft, endOfDraft, type LockDraft, rejectedField } from './lock-ends.ts'
import { LockForm } from './lock-form.tsx'
import { lockHeadline, lockOrigin } from './lock-words.ts'
import { useIsInsideWindow } from './read-lock-calendar.ts'

type Props = {
  lock: DeployLockDetails
  zone: string
  draft: LockDraft
  setDraft: (draft: LockDraft) => void
}

/** The state of the lock and the button that turns it over. */
export function LockSwitch({ lock, zone, draft, setDraft }: Props) {
  const now = useTick()
  const isInsideWindow = useIsInsideWindow(lock, now)
  const change = useChangeLock()
  const reasonField = useRef<HTMLInputElement>(null)
  const hint = useId()
  const permission = usePermission()
  const time = useTimeWords(now)
  const until = endOfDraft(draft, lock, now, zone)
  const missing = lock.active ? undefined : missingOf(draft, until)
  const isOff = permission.kind !== 'allowed' || missing !== undefined || change.isPending

  const rejection = rejectionOf(change.error)

  const turn = () => {
    if (missing !== undefined && permission.kind === 'allowed') reasonField.current?.focus()
    if (isOff) return
    if (lock.active) return change.release(lock, isInsideWindow === true, now)
    const body = { reason: draft.reason, ...(typeof until === 'number' && { until }) }
    change.lock(body, () => setDraft(emptyDraft))
  }

  return (
    <section className={lock.active ? 'sheet s-locked form' : 'sheet form'} aria-labelledby="h-switch">
      <div className="lock-state">
        <Icon name={lock.active ? 'i-locked' : 'i-open'} />
        <div>
          <h2 id="h-switch" className="big">
            {lockHeadline(lock, time)}
          </h2>
          <p className="small">{lockOrigin(lock, time)}</p>
        </div>
      </div>
      {lock.active && lock.source === 'manual' ? <p className="reason">{lock.reason ?? 'No reason given.'}</p> : null}
      {!lock.active && permission.kind === 'allowed' ? (
        <LockForm
          lock={lock}
          zone={zone}
          now={now}
          draft={draft}
          setDraft={setDraft}
          reasonField={reasonField}
          rejection={rejection === undefined ? undefined : { field: rejectedField(change.sent), words: rejection }}
        />
      ) : null}
      <div className="between mid">
        <button
          className={lock.active ? 'btn' : 'btn btn-primary'}
          type="button"
          aria-disabled={isOff}
          aria-describedby={hint}
          onClick={turn}
        >
          <Icon name={lock.active ? 'i-open' : 'i-locked'} />
          {buttonWords(lock, isInsideWindow, change.isPending)}
        </button>
        {permission.kind === 'allowed' ? (
          <p className="hint" id={hint}>
            {missing ?? (lock.active ? releaseHint(isInsideWindow) : 'The banner on every page shows the reason.')}
          </p>
        ) : null}
      </div>
      {change.error === null || rejection !== undefined ? null : (
        <p className="field-error" role="alert">
          <Icon name="i-failed" />
          Not changed: {failureWords(change.error)}
        </p>
      )}
      <WhyNot
        id={hint}
        permission={permission}
        verb={lock.active ? 'release the lock' : 'lock'}
        act="Locking by hand"
      />
      <Command permission={permission} lock={lock} reason={draft.reason} />
    </section>
  )
}

function missingOf({ reason }: LockDraft, until: number | null | undefined): string | undefined {
  if (reason.trim() === '') return 'Enter a reason first.'
  return until === undefined ? 'Enter the date and the time of the end first.' : undefined
}

/** What the service says about the fields of the form. */
const rejectionOf = (error: Error | null): string | undefined =>
  error instanceof AnswerError && error.status === 406 ? error.message : undefined

function buttonWords({ active }: DeployLockDetails, isInsideWindow: boolean | undefined, isPending: boolean): string {
  if (!active) return isPending ? 'Locking' : 'Lock deployments'
  if (isPending) return isInsideWindow ? 'Opening' : 'Releasing'
  return isInsideWindow ? 'Open for 15 minutes' : 'Release the lock'
}

const releaseHint = (isInsideWindow: boolean | undefined) =>
  isInsideWindow
    ? 'Inside a lockdown window: it locks again after 15 minutes, or stays open if the window ends first.'
    : 'Deployments are accepted again from then on.'

/** How to do the same without the button, for those who may not use it. */
function Command({ permission, lock, reason }: { permission: Permission; lock: DeployLockDetails; reason: string }) {
  if (permission.kind === 'allowed' || permission.kind === 'unknown') return null
  const hasProvider = permission.kind !== 'no_provider'
  const command = hasProvider
    ? lockCommand(window.location.origin, lock.active, reason)
    : scheduleSetting(lock.schedule.windows)
  return (
    <>
      <p className="why">
        {hasProvider
          ? 'From a terminal, with the access token of a user who may:'
          : 'Without an identity provider only the schedule locks. Change it and restart the service:'}
      </p>
      <div className="copy">
        <code className="code-block">{command}</code>
        <CopyButton text={command} label="Copy the command" size="icon" />
      </div>
    </>
  )
}
