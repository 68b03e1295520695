import type { RepositoryAddress } from '../../plan/repository-address.ts'
import type { GitEnvironment } from './run-git.ts'

/** Configuration for one git process, and for those that it starts. */
export function configEnvironment(config: readonly (readonly [key: string, value: string])[]): GitEnvironment {
  return {
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(
      config.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  }
}

/** A cache does not hold it, because spellings of one repository share the cache. */
export const originUrl = ({ text }: RepositoryAddress) => ['remote.origin.url', text] as const
