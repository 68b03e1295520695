import { useState } from 'react'
import type { DeployToken } from '../../../contract/auth.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { failureWords } from '../ui/failure-words.ts'
import { Icon } from '../ui/icon.tsx'
import { dateOf, exactTime, relativeTime } from '../ui/moment.ts'
import { Cell, Row, RowHead, Table } from '../ui/table.tsx'
import { useTimeZone } from '../ui/time-zone.ts'
import { useToast } from '../ui/toast.tsx'
import { Ago } from '../ui/when.tsx'
import { useReadTokensAgain, useRevokeToken } from './deploy-tokens.ts'
import { tokenState } from './token-state.ts'

const columns = [
  { name: 'Description' },
  { name: 'Applications' },
  { name: 'Last use' },
  { name: 'Expires' },
  { name: 'Action', isHidden: true },
]

type Props = { label: string; tokens: readonly DeployToken[]; now: number }

export function TokenTable({ label, tokens, now }: Props) {
  return (
    <Table label={label} className="top tokens" columns={columns}>
      {tokens.map((token) => (
        <TokenRow token={token} now={now} key={token.id} />
      ))}
    </Table>
  )
}

const looks = { good: undefined, soon: 'i-aborted', expired: 'i-cancelled', revoked: 'i-cancelled' } as const
const tones = { good: '', soon: 'st st-aborted', expired: 'st st-cancelled', revoked: 'st st-cancelled' } as const

function TokenRow({ token, now }: { token: DeployToken; now: number }) {
  const zone = useTimeZone()
  const { description, apps, created, created_by: by, last_used: used, expires, revoked } = token
  const { kind, words } = tokenState(token, now)
  const icon = looks[kind]
  return (
    <Row>
      <RowHead className="full">
        <span className="name">{description}</span>
        <div className="dim">
          issued by {by}, {dateOf(created, zone)}
        </div>
      </RowHead>
      <Cell className="full wrap-any">{apps === null ? 'all applications' : <Patterns names={apps} />}</Cell>
      <Cell className="nowrap" data-label="Last use">
        {used === null ? 'never' : <Ago at={used} />}
      </Cell>
      <Cell className="nowrap" data-label="Expires">
        <span className={tones[kind]}>
          {icon === undefined ? null : <Icon name={icon} />}
          {words}
        </span>
        <div className="dim" title={exactTime(revoked ?? expires, zone)}>
          {dateOf(revoked ?? expires, zone)}
        </div>
      </Cell>
      <Cell className="num push">{kind === 'good' || kind === 'soon' ? <Revoke token={token} now={now} /> : null}</Cell>
    </Row>
  )
}

const Patterns = ({ names }: { names: readonly string[] }) =>
  names.map((name, index) => (
    <span key={name}>
      {index === 0 ? '' : ', '}
      <code>{name}</code>
    </span>
  ))

/** Asks once, and names the last use: what still sends the token would be rejected. */
function Revoke({ token: { id, description, last_used: used }, now }: { token: DeployToken; now: number }) {
  const [isAsking, setAsking] = useState(false)
  const revoke = useRevokeToken()
  const readAgain = useReadTokensAgain()
  const showToast = useToast()
  const zone = useTimeZone()
  const ask = () => {
    if (revoke.isPending) return
    setAsking(true)
    readAgain()
  }
  const answer = (isConfirmed: boolean) => {
    setAsking(false)
    if (isConfirmed) revoke.mutate(id, { onSuccess: () => showToast({ text: `${description} is revoked.` }) })
  }
  return (
    <>
      <button
        className="btn btn-s"
        type="button"
        aria-label={`Revoke ${description}`}
        aria-disabled={revoke.isPending}
        onClick={ask}
      >
        {revoke.isPending ? 'Revoking' : 'Revoke'}
      </button>
      {revoke.error === null ? null : (
        <p className="field-error" role="alert">
          <Icon name="i-failed" />
          Not revoked: {failureWords(revoke.error)}
        </p>
      )}
      {isAsking ? (
        <ConfirmDialog
          title={`Revoke ${description}?`}
          keep="Keep the token"
          confirm="Revoke token"
          look="btn-danger"
          onAnswer={(given) => answer(given === 'confirmed')}
        >
          <p>
            {used === null ? 'It was never used.' : `It was last used ${relativeTime(used, now, zone)}.`} From the next
            request on it is rejected. Deployments it has already submitted continue. A revoked token cannot be
            restored.
          </p>
        </ConfirmDialog>
      ) : null}
    </>
  )
}
