import { expect, test } from 'vitest'
import { failureWords } from './failure-words.ts'
import { AnswerError } from './read-json.ts'

test.for([
  [new TypeError('fetch failed'), 'the service did not answer'],
  [new AnswerError(400, 'search: must be at most 255 characters long'), 'search: must be at most 255 characters long'],
  [new AnswerError(401, 'no credential was given'), 'your session has ended, sign in again'],
  [new AnswerError(406, 'lockdown is active, deployments are not accepted', 60, 'locked'), 'deployments are locked'],
  [new AnswerError(406, 'description: must not be empty'), 'description: must not be empty'],
  [new AnswerError(418, 'teapot'), 'the service rejected it'],
  [new AnswerError(502, 'bad gateway'), 'the service failed'],
] as const)('%s is worded as "%s"', ([error, words]) => expect(failureWords(error)).toBe(words))
