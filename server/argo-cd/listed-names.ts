import { canonicalName } from '../../contract/application-name.ts'
import type { ObservedApplication } from '../rollout/observed/observed-application.ts'

/** So many names are kept for who misspells one. */
const maxNames = 5_000

/** The names of the applications that Argo CD has, as tasks have them: by the last List, and the stream since. */
export function createListedNames(controlPlaneNamespace: string) {
  const names = new Set<string>()
  const note = (type: 'seen' | 'deleted', { namespace, name }: ObservedApplication) => {
    const app = canonicalName(`${namespace}/${name}`, controlPlaneNamespace)
    if (type === 'deleted') names.delete(app)
    else if (names.size < maxNames) names.add(app)
  }
  return {
    note,
    replace(applications: readonly ObservedApplication[]) {
      names.clear()
      for (const application of applications) note('seen', application)
    },
    count: () => names.size,
    all: (): readonly string[] => [...names],
  }
}
