import { describe, expect, test } from 'vitest'
import { ExitError } from '../cli/exit.ts'
import { readConnection, readDeployment } from './inputs.ts'

const usual = { server: 'https://watcher.example', apps: 'shop', images: 'registry.example/shop:1', token: 'dwt_1' }
const variablesOf = (inputs: Record<string, string>) =>
  Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]))
const flagsOf = (inputs: Record<string, string>) => readDeployment(variablesOf({ ...usual, ...inputs })).flags

test('only what is given becomes a flag', () => {
  expect(flagsOf({ timeout: '', environment: ' ' })).toEqual({
    server: 'https://watcher.example',
    token: true,
    deployments: [{ app: 'shop', images: ['registry.example/shop:1'] }],
    cancelOnInterrupt: false,
    output: 'text',
  })
})

test('each input has its flag', () => {
  const inputs = {
    ...{ environment: 'production', timeout: '15m', 'wait-for-app': '90s', 'on-failure': 'rollback' },
    ...{ audience: 'https://other.example', 'cancel-on-interrupt': 'True' },
  }
  expect(flagsOf(inputs)).toMatchObject({
    ...{ environment: 'production', timeout: 900, waitForApp: 90, onFailure: 'rollback' },
    ...{ audience: 'https://other.example', cancelOnInterrupt: true },
  })
})

test('every image is for every application', () => {
  const images = ['a:1', 'b:2']
  expect(flagsOf({ apps: ' shop \r\n\n api', images: 'a:1\nb:2\n' })).toMatchObject({
    deployments: [
      { app: 'shop', images },
      { app: 'api', images },
    ],
  })
})

test('a file of tasks stands in place of applications and images', () => {
  expect(flagsOf({ apps: '', images: '', 'tasks-file': 'tasks.json' })).toMatchObject({
    deployments: [],
    fromFile: 'tasks.json',
  })
})

describe('what is wrong is named', () => {
  test.for([
    [{ server: '' }, 'the input `server` is missing'],
    [{ apps: '\n' }, 'the input `apps` is empty'],
    [{ images: '' }, 'the input `images` is empty'],
    [{ 'tasks-file': 'tasks.json' }, '`tasks-file` stands in place of'],
    [{ timeout: 'soon' }, 'timeout soon: must be a duration'],
    [{ 'on-failure': 'pray' }, 'on-failure pray: must be rollback or none'],
    [{ 'cancel-on-interrupt': 'yes' }, 'cancel-on-interrupt yes: must be true or'],
  ] as const)('%j', ([inputs, message]) => expect(() => flagsOf(inputs)).toThrow(message))
})

describe('the credential', () => {
  const { token: _, ...keyless } = usual
  const runner = { ACTIONS_ID_TOKEN_REQUEST_URL: 'https://runner', ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'x' }

  test.for([
    ['the input', { ...variablesOf(usual), WATCHER_TOKEN: 'other' }, 'dwt_1'],
    ['the variable of the job', { ...variablesOf(keyless), WATCHER_TOKEN: 'other' }, 'other'],
    ['the ID token, which the client requests', { ...variablesOf(keyless), ...runner }, ''],
  ] as const)('%s', ([, variables, token]) => expect(readConnection(variables).variables.WATCHER_TOKEN).toBe(token))

  test.for([
    ['without the permission', variablesOf(keyless)],
    ['with half of it', { ...variablesOf(keyless), ACTIONS_ID_TOKEN_REQUEST_URL: 'https://runner' }],
  ] as const)('%s there is none', ([, variables]) => {
    expect(() => readConnection(variables)).toThrow(ExitError)
    expect(() => readConnection(variables)).toThrow('permission `id-token: write`')
  })

  test('variables of argo-watcher have no say', () => {
    const variables = { ...variablesOf(usual), ARGO_WATCHER_URL: 'https://other' }
    expect(readConnection(variables).variables.ARGO_WATCHER_URL).toBeUndefined()
  })
})
