import type { Diagnosis } from '../../../contract/diagnosis.ts'
import type { TaskRecord } from '../../../contract/task.ts'

/** A task for tests; name only what matters. */
export function aTask(fields: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
    created: 1_000,
    updated: 1_000,
    app: 'shop',
    author: 'ada',
    project: 'shop',
    images: [{ image: 'registry.example/shop', tag: 'v1.2.3' }],
    status: 'in progress',
    ...fields,
  }
}

/** A diagnosis for tests; name only what matters. */
export const aDiagnosis = (fields: Partial<Diagnosis> = {}): Diagnosis => ({
  conditions: [],
  evidence: [],
  next_steps: [],
  links: [],
  ...fields,
})
