import type { Actor } from '../../audit/record-action.ts'
import type { Principal } from './principal.ts'

/** How the audit names a caller. */
export function actorOf(caller: Principal): Actor {
  switch (caller.kind) {
    case 'session':
    case 'oidc':
      return { kind: caller.kind, id: caller.user.subject, name: caller.user.name }
    case 'jwt':
      return { kind: caller.kind, id: caller.subject ?? null, name: null }
    case 'scoped_token':
      return { kind: caller.kind, id: caller.id, name: caller.description }
    default:
      return { kind: caller.kind, id: null, name: null }
  }
}
