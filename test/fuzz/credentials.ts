import { mintJwt } from '../support/mint-jwt.ts'
import { deployToken } from '../support/world.ts'
import type { Credentials } from './request-case.ts'

const csrfHeader = ['X-Watcher-Csrf', '1'] as const

export const jwtSecret = 'a secret of the fuzzer, longer than 32 bytes'

type OfTheProvider = {
  readonly accessToken: string
  /** The cookie of a browser in which the same user has signed in. */
  readonly sessionCookie: string
}

/** What a service with that secret and token knows, and what it must refuse. */
export function fuzzCredentials(nowSeconds: number, { accessToken, sessionCookie }: OfTheProvider): Credentials {
  const claims = { sub: 'fuzzer', iat: nowSeconds - 60, exp: nowSeconds + 86_400 }
  const jwt = mintJwt(claims, jwtSecret)
  return {
    good: new Map([
      ['jwt', [['Authorization', `Bearer ${jwt}`]]],
      ['deployToken', [['WATCHER_DEPLOY_TOKEN', deployToken]]],
      ['oidc', [['Oidc-Authorization', `Bearer ${accessToken}`]]],
      ['session', [['Cookie', sessionCookie], csrfHeader]],
    ]),
    sessionCookie,
    bad: [
      ['Authorization', `Bearer ${mintJwt(claims, 'another secret')}`],
      ['Authorization', mintJwt({ ...claims, exp: nowSeconds - 1 }, jwtSecret)],
      ['Authorization', mintJwt({ sub: 'x' }, jwtSecret)],
      ['Authorization', mintJwt(claims, jwtSecret, { alg: 'none' })],
      ['Authorization', mintJwt('not claims', jwtSecret)],
      ['Authorization', `${jwt}x`],
      ['Authorization', `Bearer ${jwt} ${jwt}`],
      ['Authorization', 'Bearer'],
      ['Authorization', ''],
      ['Authorization', 'Basic YTpi'],
      ['Authorization', 'a.b'],
      ['Authorization', '\xff.\xfe.\xfd'],
      ['Authorization', `dwt_${'A'.repeat(43)}`],
      ['Oidc-Authorization', `Bearer ${accessToken}x`],
      ['Oidc-Authorization', jwt],
      ['Keycloak-Authorization', 'Bearer'],
      ['Cookie', 'watcher-session=invented'],
      ['Cookie', `${sessionCookie}x`],
      ['Cookie', sessionCookie.slice(0, -1)],
      ['WATCHER_DEPLOY_TOKEN', ''],
      ['Watcher-Deploy-Token', `${deployToken}x`],
      ['watcher_deploy_token', deployToken.slice(1)],
      ['ARGO_WATCHER_DEPLOY_TOKEN', deployToken.toUpperCase()],
      ['?', 'wrong'],
      ['?', ''],
    ],
  }
}
