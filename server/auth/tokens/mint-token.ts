import { parseArgs } from 'node:util'
import { SignJWT } from 'jose'
import { parseDuration } from '../../../contract/text/parse-duration.ts'
import { credentialReader, type Environment, gatherSettingTexts } from '../../settings/setting-texts.ts'

type Outcome = { readonly token: string; readonly summary: string } | { readonly issue: string }

const usage = 'usage: npm run token -- --app <name> [--app <name> …] --expires <duration> [--sub <name>]'
/** Ten years. */
const maxMs = 3_650 * 86_400_000

/**
 * Makes a JWT for a pipeline (spec 2.5). JWT_SECRET comes from the environment or from JWT_SECRET_FILE, never from the
 * command line, which other users of the machine can read; JWT_ISSUER and JWT_AUDIENCE are taken over.
 */
export async function mintToken(
  args: readonly string[],
  environment: Environment,
  nowSeconds: number,
): Promise<Outcome> {
  const wanted = readArguments(args)
  if ('issue' in wanted) return wanted
  const { texts, issues } = gatherSettingTexts(environment, ['JWT_SECRET', 'JWT_ISSUER', 'JWT_AUDIENCE'], new Set())
  const [issue] = issues
  if (issue !== undefined) return { issue }
  const secret = credentialReader(environment, 'JWT_SECRET', texts.JWT_SECRET ?? '')()
  if (secret.trim() === '') return { issue: 'JWT_SECRET: is required, in the environment or as JWT_SECRET_FILE' }
  const { apps, sub, expiresInSeconds } = wanted
  const iat = Math.floor(nowSeconds)
  const exp = iat + expiresInSeconds
  const claims = { sub, iat, exp, allowed_apps: apps, iss: texts.JWT_ISSUER?.trim(), aud: texts.JWT_AUDIENCE?.trim() }
  const given = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))
  const token = await new SignJWT(given).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(Buffer.from(secret))
  return { token, summary: `for ${apps.join(', ')} until ${new Date(exp * 1000).toISOString()}` }
}

type Wanted = { readonly apps: readonly string[]; readonly sub: string | undefined; readonly expiresInSeconds: number }

function readArguments(args: readonly string[]): Wanted | { readonly issue: string } {
  try {
    const options = {
      app: { type: 'string', multiple: true },
      expires: { type: 'string' },
      sub: { type: 'string' },
    } as const
    const { values } = parseArgs({ args: [...args], options })
    const { app: apps = [], expires = '', sub } = values
    if (apps.length === 0 || apps.includes('')) return { issue: `--app: name an application, or * for all\n${usage}` }
    const expiresInSeconds = Math.floor((parseDuration(expires, maxMs) ?? 0) / 1_000)
    if (expiresInSeconds === 0)
      return { issue: `--expires: must be a duration of at most 3650d such as 30d, 12h or 1h30m\n${usage}` }
    return { apps, sub, expiresInSeconds }
  } catch (error) {
    return { issue: `${error instanceof Error ? error.message : String(error)}\n${usage}` }
  }
}
