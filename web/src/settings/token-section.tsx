import { useState } from 'react'
import type { DeployToken, IssuedDeployToken } from '../../../contract/auth.ts'
import { usePermission } from '../auth/session.ts'
import { WhyNot } from '../auth/why-not.tsx'
import { Answered } from '../ui/answered.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { figure } from '../ui/figure.ts'
import { Icon } from '../ui/icon.tsx'
import { exactTime } from '../ui/moment.ts'
import { useNow } from '../ui/now.tsx'
import { Section } from '../ui/section.tsx'
import { useTimeZone } from '../ui/time-zone.ts'
import { useDeployTokens } from './deploy-tokens.ts'
import { IssueTokenDialog } from './issue-token-dialog.tsx'
import { tokenState } from './token-state.ts'
import { TokenTable } from './token-table.tsx'

/** Who may deploy with a token of their own; for those who may issue and revoke. */
export function TokenSection() {
  const permission = usePermission()
  if (permission.kind === 'allowed') return <Tokens />
  return (
    <Section title="Deploy tokens" id="tokens">
      <WhyNot id="why-tokens" permission={permission} verb="read and issue deploy tokens" />
    </Section>
  )
}

function Tokens() {
  const tokens = useDeployTokens()
  const [isIssuing, setIssuing] = useState(false)
  const [issued, setIssued] = useState<IssuedDeployToken | undefined>()
  const now = useNow()
  const [open, ended] = split(tokens.data?.tokens ?? [], now)
  return (
    <Section
      title="Deploy tokens"
      id="tokens"
      {...(tokens.data !== undefined && { note: figure(open.length) })}
      end={
        <button className="btn btn-primary btn-s" type="button" onClick={() => setIssuing(true)}>
          Issue a token
        </button>
      }
    >
      {issued === undefined ? null : <ShownOnce token={issued} close={() => setIssued(undefined)} />}
      <Answered query={tokens} what="the deploy tokens">
        {() =>
          open.length === 0 ? (
            <p className="why">No deploy token is valid now.</p>
          ) : (
            <TokenTable label="Deploy tokens" tokens={open} now={now} />
          )
        }
      </Answered>
      {ended.length === 0 ? null : (
        <details>
          <summary>
            {figure(ended.length)} expired or revoked {ended.length === 1 ? 'token' : 'tokens'}
          </summary>
          <TokenTable label="Expired and revoked deploy tokens" tokens={ended} now={now} />
        </details>
      )}
      <p className="why">
        A revoked token is rejected from the next request on. Deployments it has already submitted continue.
      </p>
      {isIssuing ? <IssueTokenDialog onIssued={setIssued} onClose={() => setIssuing(false)} /> : null}
    </Section>
  )
}

function split(tokens: readonly DeployToken[], now: number): readonly [readonly DeployToken[], readonly DeployToken[]] {
  const isOver = (token: DeployToken) => ['expired', 'revoked'].includes(tokenState(token, now).kind)
  return [tokens.filter((token) => !isOver(token)), tokens.filter(isOver)]
}

function ShownOnce({
  token: { token, description, apps, expires },
  close,
}: {
  token: IssuedDeployToken
  close: () => void
}) {
  const zone = useTimeZone()
  return (
    <div className="once" role="status">
      <div className="between mid">
        <p>
          <b>Copy the token now.</b> It is shown once. Only its fingerprint is stored.
        </p>
        <button className="btn btn-s icon-btn" type="button" aria-label="Close, the token is copied" onClick={close}>
          <Icon name="i-close" />
        </button>
      </div>
      <div className="copy">
        <code className="code-block">{token}</code>
        <CopyButton text={token} label="Copy the token" size="icon" />
      </div>
      <p className="small wrap-any">
        “{description}”, for {apps === null ? 'all applications' : apps.join(', ')}, until {exactTime(expires, zone)}.
        Send it as <code>Authorization: Bearer dwt_…</code>
      </p>
    </div>
  )
}
