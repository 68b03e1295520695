import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readSettings, SettingsError } from '../../server/settings.ts'
import { badInputs, threats } from './rows.ts'

const enough = {
  ARGO_URL: 'https://argocd.example',
  ARGO_TOKEN: 'hidden-argo-token',
  DATABASE_URL: 'postgres://watcher:hidden-password@127.0.0.1:1/none',
  OVERRIDE_FILE_PREFIX: 'argocd',
}
type Given = Record<string, string>

function read(given: Given) {
  try {
    const { settings, warnings: all } = readSettings({ ...enough, ...given })
    const warnings = all.filter((line) => !line.startsWith('insecure settings: ')) // defaults that each start has
    return { settings, warnings, issues: [] }
  } catch (error) {
    if (error instanceof SettingsError) return { settings: undefined, warnings: [], issues: error.issues }
    throw error
  }
}

const schedule = (text: string): Given => ({ LOCKDOWN_SCHEDULE: text })
const days = 'Mon, Tue, Wed, Thu, Fri, Sat, Sun'
const example = 'Fri 17:00 - Mon 08:00'

/** One issue, in these words, and nothing of what was given for a secret. */
const refused: readonly (readonly [string, readonly (readonly [Given, string | RegExp])[]])[] = [
  [badInputs.B41, [[schedule('Fri 20 - Mon 08'), /window 1 .*HH:MM/]]],
  [
    badInputs.B42,
    ['Fri 25:00 - Mon 08:00', 'Fri 20:60 - Mon 08:00', 'Fri 2000 - Mon 08:00', 'Fri 20:00 - Mon 99:99'].map((text) => [
      schedule(text),
      new RegExp(`window 1 .*"${/25:00|20:60|2000|99:99/.exec(text)?.[0]}"(?:: (?:hour|minute) must be|.*HH:MM)`),
    ]),
  ],
  [
    badInputs.B43,
    ['Fryday', 'fri', 'FRI', 'Friday', 'Fr', 'ven', 'пт'].map((day) => [
      schedule(`${day} 20:00 - Mon 08:00`),
      new RegExp(`"${day}".*${days}`),
    ]),
  ],
  [
    badInputs.B44,
    ['Fri 20:00 to Mon 08:00', 'Fri 20:00 – Mon 08:00', 'Fri 20:00 -', '- Mon 08:00', '-', 'Fri 20:00'].map((text) => [
      schedule(text),
      example,
    ]),
  ],
  [
    badInputs.B45,
    [`${example},`, `${example},,${example}`, ',', `, ${example}`].map((text) => [schedule(text), /window \d/]),
  ],
  [badInputs.B46, [[schedule('Fri 20:00 - Fri 20:00'), /window 1 .*same minute|starts and ends/]]],
  [badInputs.B47, [[schedule('Fri 20:00 - Fri 08:00'), /window 1 .*ends before it starts; write two windows/]]],
  [
    badInputs.B49,
    ['Mars/Olympus', 'Berlin', '+02:00', 'CET2'].map((zone) => [
      { LOCKDOWN_TIMEZONE: zone },
      'LOCKDOWN_TIMEZONE: must be',
    ]),
  ],
  [
    badInputs.B51,
    [
      [{ ARGO_URL: 'ftp://hidden-host' }, 'ARGO_URL: must be an http:// or https:// address'],
      [{ ARGO_URL: ' ' }, 'ARGO_URL: must'],
      [{ ARGO_URL: 'https://hidden-host/?a=b' }, 'ARGO_URL: must'],
      [{ ARGO_URL: 'hidden-host' }, 'ARGO_URL: must'],
    ],
  ],
  [badInputs.B53, ['', ' ', '\n', '\t '].map((secret) => [{ JWT_SECRET: secret }, 'JWT_SECRET: must not be blank'])],
  [
    badInputs.B54,
    [
      ...['0', '70000', 'abc', '-1', '80.5'].map(
        (port) => [{ PORT: port }, 'PORT: must be a whole number from 1 to 65535'] as const,
      ),
      ...['10x', '-5s', 'abc'].map((time) => [{ BAD_POD_GRACE: time }, 'such as 120, 120s'] as const),
      ...['yes', 'on', '2'].map((truth) => [{ SKIP_TLS_VERIFY: truth }, 'must be true or false'] as const),
    ],
  ],
]

describe.for(refused)('%s', ([, inputs]) => {
  test.for(inputs)('%j', ([given, words]) => {
    const { issues } = read(given)
    expect(issues).toEqual([typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words)])
    expect(issues[0]).not.toContain('hidden')
  })
})

test(`${badInputs.B45} (the first group)`, () => {
  const { settings } = read(schedule(' Mon 00:00-Mon 05:30 ,\tFri 17:00 -  Mon 00:00 '))
  expect(settings?.lock.text).toBe('Mon 00:00 - Mon 05:30, Fri 17:00 - Mon 00:00')
})

test.for([
  ['Tue 09:00 - Tue 10:00, Tue 09:30 - Tue 11:00', 'has overlapping windows'],
  ['Mon 00:00 - Thu 00:00, Thu 00:00 - Mon 00:00', 'locks the whole week'],
])(`${badInputs.B48}: %s`, ([text = '', warning]) => {
  expect(read(schedule(text)).warnings).toEqual([expect.stringContaining(`LOCKDOWN_SCHEDULE ${warning}`)])
})

describe(badInputs.B50, () => {
  const main = path.join(import.meta.dirname, '../../server/main.ts')
  test.for<[Given, string[]]>([
    [{ ARGO_TOKEN: '' }, ['ARGO_TOKEN']],
    [{ ARGO_URL: '' }, ['ARGO_URL']],
    [{ DB_HOST: 'hidden-host' }, ['DATABASE_URL']],
    [{ DATABASE_URL: '' }, ['DATABASE_URL']],
    [{ PORT: 'hidden-port', LOG_LEVEL: 'hidden', DRAIN_DELAY: 'hidden' }, ['PORT', 'LOG_LEVEL', 'DRAIN_DELAY']],
  ])('%j', async ([given, names]) => {
    const child = spawn(process.execPath, [main], { env: { ...enough, ...given }, stdio: ['ignore', 'pipe', 'pipe'] })
    let told = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (told += part))
    const [code] = await once(child, 'close')
    expect(code).toBe(78)
    expect([...told.matchAll(/^\s*- ([A-Z_]+): /gm)].map(([, name]) => name).sort()).toEqual(names.sort())
    expect(told).not.toMatch(/hidden|\bat \S+ \(/)
  })
})

test.for([
  ['https://argocd.example/', 'https://argocd.example'],
  ['https://argocd.example/root/', 'https://argocd.example/root'],
  ['https://me:hidden@argocd.example', 'https://argocd.example'],
])(`${badInputs.B51}: %s`, ([given = '', url]) =>
  expect(read({ ARGO_URL: given }).settings?.deliveryController.url).toBe(url),
)

test(`${threats.T25} (templates are not built yet: the setting warns, and the default message is used)`, () => {
  for (const format of ['{{.App}}', '{{.App.constructor}}', '{{'])
    expect(read({ COMMIT_MESSAGE_FORMAT: format }).warnings).toEqual([
      'COMMIT_MESSAGE_FORMAT is not available in this version: the default message is used',
    ])
})

describe('in a mounted file', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-settings-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test(badInputs.B52, () => {
    const file = path.join(folder, 'argo-token')
    for (const [text, token] of [
      ['token\n', 'token'],
      ['token\r\n', 'token'],
      ['token', 'token'],
      [' token\n\n', 'token'],
    ] as const) {
      writeFileSync(file, text)
      expect(read({ ARGO_TOKEN: '', ARGO_TOKEN_FILE: file }).settings?.deliveryController.token()).toBe(token)
    }
    writeFileSync(file, 'to\nken')
    expect(read({ ARGO_TOKEN: '', ARGO_TOKEN_FILE: file }).issues).toEqual([
      expect.stringContaining('must be one line'),
    ])
  })
})

test.for(['12345678', 'changeme', 's'.repeat(31), 'é'.repeat(15)])(
  `${badInputs.B53}: %s (the metric: T3)`,
  (secret) => {
    const { warnings } = read({ JWT_SECRET: secret })
    expect(warnings).toEqual([expect.stringContaining('JWT_SECRET is weak: use at least 32 bytes')])
    expect(warnings[0]).not.toContain(secret)
  },
)
