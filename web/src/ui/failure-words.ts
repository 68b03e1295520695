import { AnswerError } from './read-json.ts'

/** Why something did not work, to stand behind a colon. Of the service's own words only the rule of a field is for people. */
export function failureWords(error: Error): string {
  if (!(error instanceof AnswerError)) return 'the service did not answer'
  if (isLockRejection(error)) return 'deployments are locked'
  if (error.status === 400 || error.status === 406) return error.message
  return words[error.status] ?? (error.status < 500 ? 'the service rejected it' : 'the service failed')
}

const words: Readonly<Record<number, string>> = {
  401: 'your session has ended, sign in again',
  403: 'your account may not do this',
  404: 'it is not there any more',
  409: 'it has ended or changed meanwhile',
  429: 'too many requests at once, try again in a moment',
  503: 'the service cannot reach its database',
}

/** The API returns 406 for a lock and for a broken rule of a field; only the lock has a code. */
export const isLockRejection = (error: Error | null): boolean => error instanceof AnswerError && error.code === 'locked'
