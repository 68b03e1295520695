import type { NewTask } from '../../server/deployments/task.ts'
import { makeTaskId } from '../../server/deployments/task-id.ts'

let applications = 0

/** A validated submission in which only the given fields matter, of an application that has no other. */
export const aNewTask = (change: Partial<NewTask> = {}): NewTask => ({
  id: makeTaskId(new Date()),
  app: `app-${++applications}`,
  author: 'ada',
  project: 'demo',
  images: [{ image: 'registry.example/shop', tag: 'v1' }],
  source: undefined,
  timeoutSeconds: 900,
  environment: undefined,
  waitForAppSeconds: 0,
  refresh: true,
  mayWrite: true,
  rollbackTargetId: undefined,
  onFailure: undefined,
  pipeline: undefined,
  submitter: { kind: 'other' },
  submittedBy: { kind: 'deploy_token', id: null, name: null },
  readerDigest: undefined,
  traceparent: undefined,
  ...change,
})
