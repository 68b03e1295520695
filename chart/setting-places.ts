import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** The value that sets each setting of the service, by the name of the setting: `settings`, `files` or the path of a value. */
export const settingPlaces: Readonly<Record<string, string>> = parse(
  readFileSync(new URL('files/settings.yaml', import.meta.url), 'utf8'),
)

/** The settings with this place. */
export const settingsIn = (place: 'settings' | 'files') =>
  Object.keys(settingPlaces).filter((name) => settingPlaces[name] === place)
