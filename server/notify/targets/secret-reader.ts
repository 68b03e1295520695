import { readFileSync } from 'node:fs'
import { type Notifications, type SecretReference, secretsOf } from './target.ts'

/**
 * Reads a secret where it stands, at each use: a mounted one may change.
 * @returns the secret without blanks at its ends, or what is wrong, which names variable or file and never holds the secret
 */
export function readSecret(
  reference: SecretReference,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly secret: string } | { readonly issue: string } {
  if ('env' in reference) {
    const secret = environment[reference.env]?.trim()
    return secret ? { secret } : { issue: `the variable ${reference.env} is not set` }
  }
  try {
    const secret = readFileSync(reference.file, 'utf8').trim()
    return secret === '' ? { issue: `the file ${reference.file} is empty` } : { secret }
  } catch (error) {
    return { issue: `the file ${reference.file} cannot be read (${codeOf(error)})` }
  }
}

/** All secrets of targets, as far as they are where the configuration file says. */
export const targetSecrets = (
  { targets }: Notifications,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] =>
  [...targets.values()]
    .flatMap(secretsOf)
    .map(([, reference]) => readSecret(reference, environment))
    .flatMap((read) => ('secret' in read ? [read.secret, ...read.secret.split(/\s+/)] : []))

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : 'unknown reason')
