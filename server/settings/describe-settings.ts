import type { EffectiveSetting, SettingGroup } from '../../contract/effective-settings.ts'
import { withoutUserinfo } from './address-text.ts'
import { definitions, type Name, requiredNonEmpty, settingDefaults, settingGroups } from './definitions.ts'
import { type Environment, gatherSettingTexts } from './setting-texts.ts'
import { secretForms } from './setting-values.ts'

/** Texts in which an @ does not end a user of an address. */
const proseNames: ReadonlySet<string> = new Set<Name>([
  'COMMIT_MESSAGE_FORMAT',
  'WEBHOOK_FORMAT',
  'MATTERMOST_FORMAT',
  'SSH_COMMIT_MAIL',
  'SSH_COMMIT_USER',
])

/** Every setting by group, as an environment gives it, valid or not, with where it comes from. Never a secret. */
export function describeSettings(environment: Environment): SettingGroup[] {
  const { texts, sourceOf } = gatherSettingTexts(environment, Object.keys(definitions.shape), requiredNonEmpty)
  const describe = (name: string): EffectiveSetting => {
    const given = sourceOf[name]
    const text = (given === undefined ? settingDefaults.get(name) : texts[name]) ?? ''
    const isSecret = isSecretSetting(name)
    return {
      name,
      value: text.trim() === '' ? null : isSecret ? 'set' : shownTextOf(name, text),
      is_secret: isSecret,
      origin: given === undefined ? 'default' : given === name ? 'environment' : given,
    }
  }
  return Object.entries(settingGroups).map(([name, group]) => ({ name, settings: Object.keys(group).map(describe) }))
}

/** Addresses may stand in lists, and after the host that they are for. A whole file is not shown. */
const shownTextOf = (name: string, text: string): string =>
  name === 'CONFIG'
    ? 'set'
    : proseNames.has(name)
      ? text
      : text
          .split(',')
          .map((entry) => withoutUserinfo(entry.trim()))
          .join(', ')

export function isSecretSetting(name: string): boolean {
  let form: unknown = definitions.shape[name as Name]
  while (form !== undefined) {
    if (secretForms.has(form)) return true
    form = innerFormOf(form)
  }
  return false
}

/** What is optional, or has a default. */
const innerFormOf = (form: unknown): unknown =>
  typeof form === 'object' && form !== null && 'def' in form ? Object(form.def).innerType : undefined
