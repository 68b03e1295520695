import { AnswerError } from './read-json.ts'

/** Why an action did not work: the service's own words where it answered. */
export const failureWords = (error: Error): string =>
  error instanceof AnswerError ? error.message : 'the service did not answer'
