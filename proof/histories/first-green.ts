import type { Image } from '../../contract/task.ts'
import type { Application } from '../../simulator/model/application.ts'

/**
 * How `argocd app wait --sync --health --operation` judges, with a look at the images: the first green state counts. It does
 * not ask of which commit it is green.
 */
export function looksGreen(application: Application | undefined, wanted: readonly Image[]): boolean {
  if (application === undefined || application.operation !== undefined) return false
  const { sync, health, summary, operationState, reconciledAt } = application.status
  const isCompared = operationState?.finishedAt === undefined || (reconciledAt ?? '') >= operationState.finishedAt
  const runs = wanted.every(({ image, tag }) => summary.images?.includes(`${image}:${tag}`))
  return sync.status === 'Synced' && health.status === 'Healthy' && isCompared && runs
}
