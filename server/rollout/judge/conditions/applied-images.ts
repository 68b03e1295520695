import type { Image } from '../../../../contract/task.ts'
import { isFullSync, type ObservedApplication, type OperationResource } from '../../observed/observed-application.ts'
import type { RolloutSettings } from '../input/rollout-settings.ts'
import { imagesOf, isImageRunning } from './image-reference.ts'

type ImageSettings = Pick<RolloutSettings, 'registryProxy'>

const syncedBy = ({ operation }: ObservedApplication): readonly OperationResource[] =>
  operation === undefined || operation.isDryRun ? [] : operation.resources

const hooksOf = (application: ObservedApplication): readonly OperationResource[] =>
  syncedBy(application).filter(({ hookType }) => hookType !== undefined)

const plainResourcesOf = (application: ObservedApplication): readonly OperationResource[] =>
  syncedBy(application).filter(({ hookType }) => hookType === undefined)

/** Whether it has hooks, or the Pods of one may still be listed. */
export const hasHooks = (application: ObservedApplication): boolean =>
  application.resources.some(({ isHook }) => isHook) || hooksOf(application).length > 0

const imagesIn = (resources: readonly OperationResource[]) => resources.flatMap(({ images }) => images)

/**
 * The images of a requested repository that the last operation applied. A hook may run another tag than the application, so
 * hooks decide only where the operation synced every resource and no plain one has the image.
 */
export function appliedImagesOf(
  requested: Image,
  application: ObservedApplication,
  settings: ImageSettings,
): readonly string[] {
  const ofPlain = imagesOf(requested, imagesIn(plainResourcesOf(application)), settings)
  if (ofPlain.length > 0 || !isFullSync(application)) return ofPlain
  return imagesOf(requested, imagesIn(hooksOf(application)), settings)
}

/** The hook that ran the requested image, where the last operation applied it to nothing else that decides. */
export function onlyHookOf(
  requested: Image,
  application: ObservedApplication,
  settings: ImageSettings,
): OperationResource | undefined {
  if (isImageRunning(requested, appliedImagesOf(requested, application, settings), settings)) return undefined
  return hooksOf(application).find(({ images }) => isImageRunning(requested, images, settings))
}

const keyOf = ({ kind, namespace, name }: OperationResource) => `${kind} ${namespace} ${name}`

/** Plain resources with the images they were last applied with; an operation that corrects a drift lists only what drifted. */
export function updateWorkloads(
  known: readonly OperationResource[],
  application: ObservedApplication,
): readonly OperationResource[] {
  const applied = plainResourcesOf(application).filter(({ images }) => images.length > 0)
  if (applied.length === 0) return known
  if (isFullSync(application)) return applied
  const keys = new Set(applied.map(keyOf))
  return [...applied, ...known.filter((one) => !keys.has(keyOf(one)))]
}
