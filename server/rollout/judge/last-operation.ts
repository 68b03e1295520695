import type { ObservedApplication } from './observed-application.ts'

/** Images in the manifests that the last operation applied. Reported by Argo CD 3.1 and newer. */
export function appliedImages({ operation }: ObservedApplication): readonly string[] {
  return operation === undefined || operation.isDryRun ? [] : operation.resources.flatMap(({ images }) => images)
}

/** Whether the last operation synced every resource; one that corrects a drift only syncs what drifted. */
export function isFullSync({ operation, resources }: ObservedApplication): boolean {
  if (operation?.phase !== 'Succeeded') return false
  const expected = resources.filter((resource) => !resource.isHook && !resource.requiresPruning).length
  return operation.resources.filter(({ hookType }) => hookType === undefined).length >= expected
}

/** Whether the last operation applied the revision of the last comparison; a later comparison may have had nothing to do. */
export const appliedComparedRevision = ({ operation, revisions }: ObservedApplication) =>
  operation?.revisions.join() === revisions.join()
