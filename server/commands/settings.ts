import type { EffectiveSetting } from '../../contract/effective-settings.ts'
import { readSettings, SettingsError } from '../compose/settings.ts'
import { describeSettings } from '../settings/describe-settings.ts'

const lineOf = ({ name, value, origin }: EffectiveSetting) =>
  value === null ? `  ${name} is not set` : `  ${name}=${value} (${origin})`

const listed = (heading: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : [heading, ...lines.map((line) => `  - ${line}`)]

/** Warnings of valid settings, or what is wrong with them. */
function check(): { readonly warnings: readonly string[]; readonly issues: readonly string[] } {
  try {
    return { warnings: readSettings(process.env).warnings, issues: [] }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return { warnings: [], issues: error.issues }
  }
}

/** `npm run settings`: each setting with where it comes from, never a secret; warnings; 78 where a start would be rejected. */
const { warnings, issues } = check()
const groups = describeSettings(process.env).flatMap(({ name, settings }) => [name, ...settings.map(lineOf)])
console.log([...groups, ...listed('Warnings', warnings), ...listed('Invalid settings', issues)].join('\n'))
process.exitCode = issues.length === 0 ? 0 : 78
