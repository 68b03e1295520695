import type { DeployTokenRequest } from '../../../contract/auth.ts'
import { fromPicker } from '../ui/zoned-time.ts'

/** `time` as an input of a date and a time has it, empty where it is not complete. */
export type TokenDraft = {
  readonly description: string
  /** Names and patterns between commas; empty: all applications. */
  readonly apps: string
  readonly end: '30' | '90' | '365' | 'time'
  readonly time: string
}

export const emptyToken: TokenDraft = { description: '', apps: '', end: '90', time: '' }

const daySeconds = 86_400
const maxTextLength = 255

export function requestOf({ description, apps, end, time }: TokenDraft, now: number, zone: string): DeployTokenRequest {
  const names = namesIn(apps)
  return {
    description,
    expires: end === 'time' ? (fromPicker(time, zone) ?? 0) : Math.floor(now) + Number(end) * daySeconds,
    ...(names.length > 0 && { apps: names }),
  }
}

const namesIn = (apps: string): string[] =>
  apps
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/**
 * The field that the service rejects, by what is known of its rules: it names the field in prose only. A description and
 * applications within theirs leave the end.
 */
export function rejectedField({ description, apps }: TokenDraft): 'description' | 'apps' | 'expires' {
  const isLine = (text: string) => text.trim() !== '' && text.length <= maxTextLength && !/\p{Cc}/u.test(text)
  if (!isLine(description)) return 'description'
  const names = namesIn(apps)
  return names.length > 100 || !names.every(isLine) ? 'apps' : 'expires'
}
