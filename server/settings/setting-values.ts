import { createPrivateKey } from 'node:crypto'
import { isIP } from 'node:net'
import { z } from 'zod'
import { isTimeZone } from '../../contract/fields.ts'
import { durationForm, durationUpTo, parseDuration } from '../../contract/text/parse-duration.ts'
import { parseTemplate, TemplateError } from '../../gotemplate/template.ts'
import type { LockdownWindow } from '../locks/lockdown-window.ts'
import { parseLockdownSchedule } from '../locks/parse-lockdown-schedule.ts'
import { isHeaderText } from '../secrets/secret-rules.ts'
import { type GitCredential, parseGitCredentials } from './parse-git-credentials.ts'
import { type GitWebUrls, parseGitWebUrls } from './parse-git-web-urls.ts'

/** How one setting's text becomes a value. The messages follow "NAME: " and never hold the text: it may be a secret. */
const refused = (message: string) => ({ error: message })

export const text = z.string().trim().min(1, 'must not be blank')

/** The path of a file that is read. The chart mounts it. */
export const filePath = text.meta({ format: 'path' })

/** Kept as it is, blanks at its ends included; only an empty or blank one is refused. */
export const secret = z.string().refine((value) => value.trim() !== '', 'must not be blank')

/** The address of a receiver, which may hold a secret. */
export const secretAddress = secret.refine(
  (value) => /^https?:$/.test(URL.parse(value.trim())?.protocol ?? ''),
  'must be an http:// or https:// address',
)

/** Sent as an HTTP header. */
export const headerSecret = secret.refine(
  isHeaderText,
  'must be one line of ASCII or Latin-1 characters without control characters',
)

/** The key of a GitHub App, which GitHub hands out in PEM form. */
export const rsaPrivateKey = secret.refine(isRsaKey, 'must be an RSA private key in PEM form')

/** Blank where there is none now; one may come with the next rotation. */
export const secretOrNone = z.string().transform((value) => (value.trim() === '' ? '' : value))

/** `meta` here and below: how the values of the chart may write it, where that is more than the text. */
export const booleanFlag = z
  .string()
  .trim()
  .regex(/^(true|false|t|f|1|0)$/i, refused('must be true or false'))
  .transform((value) => /^[t1]/i.test(value))
  .meta({ type: ['boolean', 'string'] })

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

/** Names that argo-watcher's logger has and ours has not. */
const otherLogLevels: ReadonlyMap<string, string> = new Map([
  ['warning', 'warn'],
  ['panic', 'fatal'],
])

export const logLevel = z
  .string()
  .transform((value) => value.trim().toLowerCase())
  .transform((value) => otherLogLevels.get(value) ?? value)
  .pipe(z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }))

/** @param unit what is counted, for the message */
export const wholeNumber = (smallest: number, largest: number, unit = '') =>
  z
    .string()
    .trim()
    .refine(
      (value) => /^\d{1,15}$/.test(value) && Number(value) >= smallest && Number(value) <= largest,
      `must be a whole number${unit && ` of ${unit}`} from ${smallest} to ${largest}`,
    )
    .transform(Number)
    .meta({ type: ['integer', 'string'], minimum: smallest, maximum: largest, pattern: '^[0-9]+$' })

const unitBytes: ReadonlyMap<string, number> = new Map([
  ['m', 1024 ** 2],
  ['g', 1024 ** 3],
])

/** `500MiB` or `2GiB`, with or without the B. */
export const byteSize = z
  .string()
  .trim()
  .regex(/^[1-9]\d{0,5}[MG]iB?$/i, refused('must be a size such as 500MiB or 2GiB'))
  .transform((value) => Number.parseInt(value, 10) * (unitBytes.get(/[mg]/i.exec(value)?.[0].toLowerCase() ?? '') ?? 1))

export const port = wholeNumber(1, 65_535)

const milliseconds = (isPossible: (ms: number) => boolean, rule: string) =>
  z
    .string()
    .trim()
    .transform((value, context) => {
      const ms = parseDuration(value)
      if (ms !== undefined && isPossible(ms)) return ms
      context.addIssue({ code: 'custom', message: rule })
      return z.NEVER
    })
    .meta({ type: ['integer', 'string'], minimum: 0, pattern: '^([0-9]+|([0-9.]+(ms|s|m|h|d))+)$' })

/** @returns milliseconds */
export const duration = milliseconds(() => true, `must be ${durationForm}`)

/** @returns milliseconds; longer than that no rollout is kept from its verdict */
export const settleDuration = milliseconds((ms) => ms <= 300_000, `must be ${durationUpTo('5m')}`)

/** @returns milliseconds, above 0 */
export const positiveDuration = milliseconds((ms) => ms > 0, `must be ${durationForm}, above 0`)

/** The entries of a comma list; blanks around them and empty entries do not count. */
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
)

/** A list that is given although it names nothing is an issue: without it everybody is meant. */
export const names = list.refine((entries) => entries.length > 0, 'must name at least one, or not be set')

/** Scopes as OAuth writes them, separated by blanks (or commas). @returns them separated by one blank */
export const scopes = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter((scope) => scope !== ''))
  .refine((names) => names.includes('openid'), 'must list openid among its scopes')
  .transform((names) => names.join(' '))

export const gitCredentials = z.string().transform((value, context): ReadonlyMap<string, GitCredential> => {
  const credentials = parseGitCredentials(value)
  if (!('issue' in credentials)) return credentials
  context.addIssue({ code: 'custom', message: credentials.issue })
  return z.NEVER
})

/** Those whose text is shown to no one. */
export const secretForms: ReadonlySet<unknown> = new Set([
  secret,
  secretAddress,
  headerSecret,
  secretOrNone,
  rsaPrivateKey,
  gitCredentials,
])

export const gitWebUrls = z.string().transform((value, context): GitWebUrls => {
  const urls = parseGitWebUrls(value)
  if (!('issue' in urls)) return urls
  context.addIssue({ code: 'custom', message: urls.issue })
  return z.NEVER
})

/** The one setting whose issues quote it (decision 0003). */
export const lockdownSchedule = z.string().transform((value, context): readonly LockdownWindow[] => {
  const windows = parseLockdownSchedule(value)
  if (!('issue' in windows)) return windows
  context.addIssue({ code: 'custom', message: windows.issue })
  return z.NEVER
})

export const timeZone = z.string().trim().refine(isTimeZone, 'must be an IANA time zone such as UTC or Europe/Berlin')

/** An http(s) address without user, query and fragment, and without a slash at its end. */
export const httpAddress = text.transform((value, context) => {
  const address = URL.parse(value)
  if (address && /^https?:$/.test(address.protocol) && address.search === '' && address.hash === '') {
    address.username = ''
    address.password = ''
    return address.href.replace(/(?<!\/)\/+$/, '')
  }
  context.addIssue({ code: 'custom', message: 'must be an http:// or https:// address without query and fragment' })
  return z.NEVER
})

/** An http(s) address of a whole host: what the service serves lies at its root. */
export const httpOrigin = httpAddress.refine(
  (address) => new URL(address).pathname === '/',
  'must be an address without a path',
)

/** The address of an identity provider, exactly as its tokens name it: a slash at its end counts. */
export const issuerAddress = text.refine((value) => {
  const address = URL.parse(value)
  if (address?.search !== '' || address.hash !== '' || address.username !== '') return false
  return /^https?:$/.test(address.protocol)
}, 'must be an https:// address without user, query and fragment')

const proxyNames = ['loopback', 'linklocal', 'uniquelocal']

function isProxy(entry: string): boolean {
  const [address = '', bits, ...more] = entry.split('/')
  const family = isIP(address)
  if (family === 0) return proxyNames.includes(entry)
  return (
    more.length === 0 &&
    (bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)))
  )
}

export const proxies = list.refine(
  (entries) => entries.every(isProxy),
  `must list IP addresses, networks such as 10.0.0.0/8 (not /0, which trusts everyone), or ${proxyNames.join(', ')}`,
)

export const annotationPrefixes = list.refine(
  (prefixes) =>
    prefixes.length > 0 && prefixes.every((prefix) => /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/$/.test(prefix)),
  'must list prefixes that end with a slash, such as watcher/',
)

/** For a part of a file name. */
export const fileNamePart = text.regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _')

export const schemaName = text.regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be 1 to 63 lower-case letters, digits or _')

export const namespaceName = text.regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be the name of a namespace')

/** A name or an address of a commit's author: what Git could not write in one line is refused. */
export const commitIdentity = text.regex(/^[^<>\p{Cc}]{1,255}$/u, 'must not contain <, > or control characters')

/** A template of Go, of which the message is Go's. */
export const template = (name: string) =>
  z.string().transform((format, context) => {
    try {
      return parseTemplate(name, format)
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      context.addIssue({ code: 'custom', message: `does not parse: ${error.message}` })
      return z.NEVER
    }
  })

export const statusCodes = list
  .refine(
    (codes) => codes.length > 0 && codes.every((code) => /^[1-5]\d\d$/.test(code)),
    'must list HTTP status codes such as 200,202',
  )
  .transform((codes) => codes.map(Number))

/** The number of a GitHub App, or its client id. */
export const gitHubAppId = text.regex(/^[\w.-]{1,100}$/, 'must be the id of a GitHub App')

export const headerName = text.regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'must be the name of an HTTP header')

function isRsaKey(text: string): boolean {
  try {
    return createPrivateKey(text).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}
