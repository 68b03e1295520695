import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Variables } from '../input/ci-defaults.ts'
import { createScreen } from './screen.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function show(variables: Variables, { isTTY = false, names = ['shop'], columns = 40 } = {}) {
  const chunks: string[] = []
  const output = { isTTY, columns, write: (chunk: string) => chunks.push(chunk) }
  return { screen: createScreen({ output, variables, names }), text: () => chunks.join('') }
}
const rowOf = (app: string, title = `${app} 1.2.0`) => ({
  app,
  title,
  url: 'https://w/task/1',
  startedMs: performance.now(),
})

test('a line for each step', () => {
  const { screen, text } = show({ CI: 'true' }, { isTTY: true })
  const row = rowOf('shop')
  screen.begin(row)
  screen.step(row, 0.21, 'committed 3f2c1ab to main')
  screen.finish(row, 31, 'deployed')
  screen.end()
  expect(text()).toBe('shop 1.2.0   https://w/task/1\n+0.2s  committed 3f2c1ab to main\n+31s   deployed\n')
})

test('several applications are named', () => {
  const { screen, text } = show({}, { names: ['shop', 'payments'] })
  screen.step(rowOf('shop'), 1, 'synced')
  expect(text()).toBe('shop      +1.0s  synced\n')
})

test('a heartbeat once a minute, while nothing else is said', () => {
  const { screen, text } = show({})
  const row = rowOf('shop')
  screen.begin(row)
  screen.step(row, 0.2, 'health: Progressing')
  vi.advanceTimersByTime(50_000)
  expect(text().split('\n')).toHaveLength(3)
  vi.advanceTimersByTime(90_000)
  expect(text()).toMatch(/\n\+60s {3}still health: Progressing\n\+2m00s still health: Progressing\n$/)
  screen.end()
  vi.advanceTimersByTime(600_000)
  expect(text().split('\n')).toHaveLength(5)
})

describe('GitHub', () => {
  test('marks up a group, a secret and one error', () => {
    const { screen, text } = show({ GITHUB_ACTIONS: 'true' })
    screen.mask('100%\n')
    screen.begin(rowOf('shop'))
    screen.end()
    screen.report(['shop failed'])
    screen.annotate('crash, loop: 1', 'a%b\nc::d')
    expect(text()).toBe(
      '::add-mask::100%25%0A\n::group::Deployments\nshop 1.2.0   https://w/task/1\n::endgroup::\nshop failed\n' +
        '::error title=crash%2C loop%3A 1::a%25b%0Ac::d\n',
    )
  })

  test.for(['::add-mask::x', '  ::error::x', '##[error]x', 'a ##[group]x', '::group::a ##[b]', '###[error]x'])(
    '%s is no command',
    (words) => {
      const { screen, text } = show({ GITHUB_ACTIONS: 'true' })
      screen.report([words])
      screen.say(words)
      screen.step(rowOf('shop'), 1, words)
      const named = show({ GITHUB_ACTIONS: 'true' }, { names: [words, words] })
      named.screen.step(rowOf(words), 1, 'synced')
      for (const line of `${text()}${named.text()}`.split('\n')) {
        expect(line).not.toMatch(/^\s*::/)
        expect(line).not.toContain('##[')
      }
    },
  )
})

test.for([
  ['Azure Pipelines', { TF_BUILD: 'True' }, 'Pod says ##vso[task.setvariable variable=PATH]x'],
  ['TeamCity', { TEAMCITY_VERSION: '1' }, '##teamcity[buildStatus status=]'],
] as const)('%s finds no command', ([, variables, words]) => {
  const { screen, text } = show(variables)
  screen.report([words])
  screen.step(rowOf('shop'), 1, words)
  expect(text()).not.toMatch(/##\w+\[/)
  expect(text()).toContain('## ')
})

test('words of a server that answers oddly have no control characters', () => {
  const { screen, text } = show({ CI: '1' })
  screen.say('it returned 502: \u001b[2Jgone\r\n::error::x')
  expect(text()).toBe('it returned 502:  [2Jgone ::error::x\n')
})

test('GitLab gets a section', () => {
  const { screen, text } = show({ GITLAB_CI: 'true' })
  screen.begin(rowOf('shop'))
  screen.end()
  expect(text()).toMatch(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is GitLab's form
    /^\x1b\[0Ksection_start:\d+:deployment_watcher\r\x1b\[0KDeployments\n.*\n\x1b\[0Ksection_end:\d+:deployment_watcher\r\x1b\[0K\n$/,
  )
})

describe('a terminal', () => {
  test('has one live line for each application', () => {
    const { screen, text } = show({}, { isTTY: true, names: ['shop', 'api'] })
    const [shop, api] = [rowOf('shop'), rowOf('api')]
    screen.begin(shop)
    screen.begin(api)
    screen.step(shop, 1, 'synced')
    vi.advanceTimersByTime(1_000)
    screen.finish(shop, 2, 'deployed')
    screen.finish(api, 2, 'deployed')
    screen.end()
    expect(screenOf(text())).toEqual([
      'shop 1.2.0   https://w/task/1',
      'api 1.2.0   https://w/task/1',
      'shop  +2.0s  deployed',
      'api   +2.0s  deployed',
    ])
  })

  test('of an unknown width has whole lines', () => {
    const { screen, text } = show({}, { isTTY: true, columns: 0 })
    const row = rowOf('shop')
    screen.begin(row)
    screen.step(row, 1, 'health: Progressing')
    expect(text()).toContain('health: Progressing\n')
  })

  test.for([
    ['a CI', { CI: 'true' }],
    ['Jenkins, which fakes a terminal', { JENKINS_URL: 'https://ci' }],
    ['a dumb terminal', { TERM: 'dumb', NO_COLOR: '1' }],
  ] as const)('%s gets no cursor codes', ([, variables]) => {
    const { screen, text } = show(variables, { isTTY: true })
    screen.begin(rowOf('shop'))
    screen.say('x')
    vi.advanceTimersByTime(5_000)
    expect(text()).not.toContain('\u001b')
  })

  test.for([
    [{}, true, true],
    [{ NO_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ CI: 'true', GITHUB_ACTIONS: 'true' }, true, false],
  ] as const)('colours by %j, on a terminal: %s', ([variables, isTTY, isColoured]) => {
    const { screen, text } = show(variables, { isTTY })
    screen.report(['failed'])
    expect(text().includes('\u001b[31m')).toBe(isColoured)
  })
})

/** What is seen of a text with cursor codes. */
function screenOf(text: string): string[] {
  const lines: string[] = ['']
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes are what is read
  for (const part of text.replace(/\x1b\[\d*m/g, '').split(/(\x1b\[\d+A\x1b\[J|\n)/)) {
    const up = /\[(\d+)A/.exec(part)
    if (up) lines.splice(lines.length - 1 - Number(up[1]), Number(up[1]))
    else if (part === '\n') lines.push('')
    else lines[lines.length - 1] += part
  }
  return lines.filter((line) => line !== '')
}
