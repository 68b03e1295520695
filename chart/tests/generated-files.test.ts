import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { definitions } from '../../server/settings/definitions.ts'
import { fileNames, ownValues, settingNames } from '../generator/chart-values.ts'
import { generatedFiles } from '../generator/generated-files.ts'

describe('what is made from the definitions of settings and values is fresh (npm run chart:generate)', () => {
  test.for([...generatedFiles()])('%s', ([file, text]) => {
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')).toBe(text)
  })
})

test('each setting has one place in the values', () => {
  const places = [...Object.keys(ownValues), ...settingNames, ...fileNames]
  expect(places.sort()).toEqual(Object.keys(definitions.shape).sort())
})

test('no secret has its place among the settings', () => {
  expect(settingNames.filter((name) => /TOKEN$|SECRET|PASS(WORD)?$|CREDENTIALS$|DSN$|URL$/.test(name))).toEqual([
    'PUBLIC_URL',
    'IDP_ISSUER_URL',
    'MATTERMOST_URL',
  ])
})
