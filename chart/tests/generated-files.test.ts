import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { definitions } from '../../server/settings/definitions.ts'
import { isSecretSetting } from '../../server/settings/describe-settings.ts'
import { generatedFiles } from '../generate/generated-files.ts'
import { settingPlaces, settingsIn } from '../setting-places.ts'

describe('what is made from values.yaml and the schemas of the service is fresh (npm run chart:generate)', () => {
  test.for([...generatedFiles()])('%s', ([file, text]) => {
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')).toBe(text)
  })
})

test('each setting of the service has one line in chart/files/settings.yaml', () => {
  expect(Object.keys(settingPlaces).sort()).toEqual(Object.keys(definitions.shape).sort())
})

test('no secret has its place among the settings', () => {
  expect(settingsIn('settings').filter(isSecretSetting)).toEqual([])
})
