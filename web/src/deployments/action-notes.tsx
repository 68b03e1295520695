import type { Permission } from '../auth/permission.ts'
import { WhyNot } from '../auth/why-not.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { failureWords, isLockRejection } from '../ui/failure-words.ts'
import { Icon } from '../ui/icon.tsx'
import { AnswerError } from '../ui/read-json.ts'
import { Exactly } from '../ui/when.tsx'
import type { TaskAction } from './action-button.tsx'

type Props = {
  actions: readonly TaskAction[]
  permission: Permission
  whyId: string
  lockedId: string
  /** Of an action that is not offered any more too. */
  errors: readonly TaskAction[]
}

/** Beside the buttons: why they cannot be pressed and what does the same from a terminal, or why the service rejected it. */
export function ActionNotes({ actions, permission, whyId, lockedId, errors }: Props) {
  const locked = permission.kind === 'allowed' ? actions.find((action) => action.locked)?.locked : undefined
  return (
    <div className="action-notes">
      {actions.length === 0 ? null : <WhyNot id={whyId} permission={permission} verb="change deployments" />}
      {locked === undefined ? null : (
        <p className="why" id={lockedId}>
          {locked}
        </p>
      )}
      {permission.kind === 'allowed'
        ? null
        : actions.map(({ label, command }) => <Command key={label} label={label} command={command} />)}
      <div role="alert">
        {errors.map(({ label, error }) =>
          error === null ? null : <Rejection key={label} label={label} error={error} />,
        )}
      </div>
    </div>
  )
}

function Command({ label, command }: { label: string; command: string }) {
  return (
    <details>
      <summary>{label} from a terminal, with a token</summary>
      <div className="copy">
        <code className="code-block">{command}</code>
        <CopyButton text={command} label={`Copy the command: ${label}`} size="icon" />
      </div>
    </details>
  )
}

/** Why the service did not do it. */
function Rejection({ label, error }: { label: string; error: Error }) {
  const retryAt = error instanceof AnswerError ? error.retryAt : undefined
  return (
    <p className="rejection">
      <Icon name="i-failed" />
      <span>
        {label}: {failureWords(error)}.{' '}
        {retryAt === undefined ? null : (
          <>
            {isLockRejection(error) ? 'The lock ends ' : 'Try again from '}
            <Exactly at={retryAt} />.
          </>
        )}
      </span>
    </p>
  )
}
