import type { ReactNode } from 'react'
import type { Permission } from './permission.ts'
import { SignInLink } from './sign-in-link.tsx'

type Props = {
  id: string
  permission: Permission
  /** As in "Only … may lock": `lock`. */
  verb: string
  /** As in "… needs sign-in": `Locking by hand`. */
  act?: string
}

/** Why the reader may not do it, for a control's `aria-describedby`; nothing where they may. */
export function WhyNot({ id, permission, verb, act = 'This' }: Props): ReactNode {
  if (permission.kind === 'allowed') return null
  return (
    <div className="row">
      <p className="why" id={id}>
        <Reason permission={permission} verb={verb} act={act} />
      </p>
      {permission.kind === 'signed_out' || permission.kind === 'unconfirmed' ? <SignInLink /> : null}
    </div>
  )
}

function Reason({ permission, verb, act }: Required<Omit<Props, 'id'>>): ReactNode {
  switch (permission.kind) {
    case 'no_provider':
      return (
        <>
          {act} needs sign-in. Set up an identity provider: <code>IDP_ENABLED</code>.
        </>
      )
    case 'signed_out':
      return `Sign in to ${verb}.`
    case 'unconfirmed':
      return 'The identity provider did not confirm your groups.'
    case 'unread':
      return 'Who is signed in could not be read. The page tries again.'
    case 'not_in_groups':
      return (
        <>
          Only members of <Names of={permission.privilegedGroups} /> may {verb}.{' '}
          {permission.groups.length === 0 ? (
            'You are in no group.'
          ) : (
            <>
              Your groups: <Names of={permission.groups} />.
            </>
          )}
        </>
      )
    default:
      return 'Checking whether you are signed in.'
  }
}

const Names = ({ of: names }: { of: readonly string[] }) =>
  names.map((name, index) => (
    <span key={name}>
      {index === 0 ? '' : ', '}
      <code>{name}</code>
    </span>
  ))
