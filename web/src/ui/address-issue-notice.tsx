import { Link } from 'wouter'
import type { AddressIssue } from './address-issues.ts'
import { Icon } from './icon.tsx'

type Props = {
  issues: readonly AddressIssue[]
  /** The address without them. */
  cleared: string
}

/** Names what the address asks for in vain, and leads to the address without it. */
export function AddressIssueNotice({ issues, cleared }: Props) {
  if (issues.length === 0) return null
  return (
    <div className="alarm s-aborted" role="status">
      <Icon name="i-aborted" />
      <div>
        <h2 className="name">The address holds what this page cannot use</h2>
        <ul className="plain">
          {issues.map(({ name, value, rule }) => (
            <li key={`${name} ${rule}`}>
              <code className="wrap-any">{`${name}=${value.slice(0, 100)}`}</code> {rule}.
            </li>
          ))}
        </ul>
        <p>What you see is without it.</p>
      </div>
      <div className="when">
        <Link className="btn btn-s" href={cleared}>
          Clear it
        </Link>
      </div>
    </div>
  )
}
