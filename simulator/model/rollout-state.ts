import type { Health } from './application.ts'
import type { Manifest } from './manifest.ts'

/** One run of an analysis, as the tree shows it below its Rollout. */
type AnalysisRun = {
  readonly name: string
  readonly uid: string
  readonly createdAt: number
  readonly health: Health
}

/** How far an Argo Rollout has come with its newest template. */
export type RolloutState = {
  /** The template that serves until the new one is promoted; undefined until one has been. */
  stableHash: string | undefined
  /** The step it is at; behind the last one everything is replaced. */
  step: number
  pausedAtMs: number | undefined
  /** Why it was aborted, in the words of its status. */
  abort: string | undefined
  /** Whether this update's analysis has been started. */
  isAnalysing: boolean
  /** All that there have been; those that failed stay. */
  analysisRuns: AnalysisRun[]
}

export function freshRollout(before?: RolloutState): RolloutState {
  return {
    stableHash: before?.stableHash,
    step: 0,
    pausedAtMs: undefined,
    abort: undefined,
    isAnalysing: false,
    analysisRuns: before?.analysisRuns ?? [],
  }
}

const failedMetric = 'etric "success-rate" assessed Failed due to failed (2) > failureLimit (1)'
export const failedAnalysis: Health = { status: 'Degraded', message: `M${failedMetric}` }
const aborted = (revision: number, why = '') => `RolloutAborted: Rollout aborted update to revision ${revision}${why}`

/** What the status of an aborted Rollout says: a person did it, or an analysis, in the forms of several releases. */
export const abortForms = {
  person: (revision: number) => aborted(revision),
  metric: (revision: number) => aborted(revision, `: M${failedMetric}`),
  'step-analysis': (revision: number) =>
    aborted(revision, `: Step-based analysis phase error/failed: M${failedMetric}`),
  'background-analysis': (revision: number) =>
    aborted(revision, `: Background analysis phase error/failed: M${failedMetric}`),
  'without-revision': () => `RolloutAborted: m${failedMetric}`,
} satisfies Record<string, (revision: number) => string>

export type AbortForm = keyof typeof abortForms
export const abortFormNames = Object.keys(abortForms) as [AbortForm, ...AbortForm[]]

/** What Argo Rollouts says about steps that it does not accept. */
export function invalidSpec({ name, steps }: Manifest): string | undefined {
  const index = steps.findIndex((step) => 'setWeight' in step && step.setWeight > 100)
  const step = steps[index]
  if (!step || !('setWeight' in step)) return undefined
  const field = `spec.strategy.canary.steps[${index}].setWeight`
  return `InvalidSpec: The Rollout "${name}" is invalid: ${field}: Invalid value: ${step.setWeight}: SetWeight needs to be between 0 and 100`
}
