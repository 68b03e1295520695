import { describe, expect, test } from 'vitest'
import { runProgram } from './program.ts'

async function run(args: readonly string[], variables: Record<string, string> = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runProgram(args, {
    variables,
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    interrupted: new AbortController().signal,
  })
  return { code, out: out.join(''), err: err.join('') }
}

describe.each([
  [],
  ['deploy'],
  ['wait'],
  ['status'],
  ['list'],
  ['cancel'],
  ['lock'],
  ['lock', 'status'],
  ['lock', 'set'],
  ['lock', 'release'],
  ['version'],
])('--help of %s %s', (...command) => {
  test('fits a screen and has an example', async () => {
    const { code, out } = await run([...command.filter((one) => one !== undefined), '--help'])
    const lines = out.trimEnd().split('\n')
    expect(code).toBe(0)
    expect(lines.length).toBeLessThanOrEqual(40)
    expect(lines.filter((line) => line.length > 110)).toEqual([])
    expect(out).toMatch(/Example:\n {2}deployment-watcher /)
  })
})

describe('what it does not understand ends with 2 and says what it meant', () => {
  test.for([
    [['deploi'], 'Did you mean deploy?'],
    [['deploy', '--imag', 'a:1'], 'Did you mean --image?'],
    [['deploy', '--output', 'yaml'], 'Allowed choices are text, json'],
    [['deploy', '--on-failure', 'pray'], 'Allowed choices are rollback, none'],
    [['deploy', '--timeout', 'soon', '--app', 'shop', '--image', 'a:1'], '--timeout soon: must be a duration'],
    [['deploy', '--image', 'a:1', '--app', 'shop'], '--image a:1: belongs behind an --app'],
    [['deploy', '--app', 'shop', '--image', 'a:1'], 'no server: give --server or set WATCHER_URL'],
    [['deploy', '--server', 'http://127.0.0.1:1'], 'nothing to deploy'],
    [['wait'], "missing required argument 'id'"],
    [['lock', 'set', '--server', 'http://127.0.0.1:1'], 'WATCHER_ACCESS_TOKEN is not set'],
    [[], 'Usage: deployment-watcher'],
  ] as const)('%j', async ([args, message]) => {
    const { code, err } = await run(args)
    expect(err).toContain(message)
    expect(code).toBe(2)
  })
})

test.for([
  [['deploy', '--output', 'json', '--ap', 'shop'], "error: unknown option '--ap'\n(Did you mean --app?)", 2],
  [['status', 'x', '--output=json', '--server', 'http://127.0.0.1:1'], 'http://127.0.0.1:1: connection refused', 3],
] as const)('%j ends with an object too', async ([args, error, exitCode]) => {
  const { code, out } = await run(args)
  expect(out).toMatch(/^.+\n$/)
  expect(JSON.parse(out)).toEqual({ tasks: [], error, exit_code: exitCode })
  expect(code).toBe(exitCode)
})

test('each command reads the images behind each application', async () => {
  const { err } = await run([
    'deploy',
    '--server',
    'http://127.0.0.1:1',
    '--app',
    'shop',
    '--image',
    'a:1',
    '--app',
    'api',
  ])
  expect(err).toContain('--app api: needs an --image behind it')
})

test('the version', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  expect(await run(['version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^deployment-watcher \d/) })
})
