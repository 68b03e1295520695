import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { countTests, failedFiles } from './test-reports.mjs'

/** A test file of a report, with the status of each of its tests. */
function aFile(name: string, tests: Record<string, 'passed' | 'failed' | 'skipped'>, isLoaded = true) {
  const results = Object.entries(tests).map(([fullName, status]) => ({ fullName, status }))
  const hasFailed = !isLoaded || results.some(({ status }) => status === 'failed')
  return { name: path.resolve(name), status: hasFailed ? 'failed' : 'passed', assertionResults: results }
}

const steady = aFile('a.test.ts', { one: 'passed', two: 'skipped' })
const failing = aFile('b.test.ts', { three: 'passed', 'four five': 'failed' })
const passing = aFile('b.test.ts', { three: 'passed', 'four five': 'passed' })
const unloadable = aFile('c.test.ts', {}, false)
const first = { testResults: [steady, failing] }

test('failed files are named as they are asked for again', () => {
  expect(failedFiles({ testResults: [steady, failing, unloadable] })).toEqual(['b.test.ts', 'c.test.ts'])
})

describe('a run counts', () => {
  test.for([
    {
      name: 'what passed and what failed',
      again: undefined,
      counted: { passed: 2, failed: ['b.test.ts > four five'], flaky: [] },
    },
    {
      name: 'a file that passes in its second run as passed and flaky',
      again: { testResults: [passing] },
      counted: { passed: 3, failed: [], flaky: ['b.test.ts > four five'] },
    },
    {
      name: 'a file that fails twice as failed',
      again: { testResults: [failing] },
      counted: { passed: 2, failed: ['b.test.ts > four five'], flaky: [] },
    },
    {
      name: 'a file that does not load in its second run as failed',
      again: { testResults: [aFile('b.test.ts', {}, false)] },
      counted: { passed: 2, failed: ['b.test.ts > four five'], flaky: [] },
    },
  ])('$name', ({ again, counted }) => expect(countTests(first, again)).toEqual(counted))

  test('a file that could not be loaded as one failure, and by its name as flaky if it loads later', () => {
    const report = { testResults: [unloadable] }
    expect(countTests(report)).toEqual({ passed: 0, failed: ['c.test.ts'], flaky: [] })
    const again = { testResults: [aFile('c.test.ts', { six: 'passed' })] }
    expect(countTests(report, again)).toEqual({ passed: 1, failed: [], flaky: ['c.test.ts'] })
  })
})

describe('on the command line', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-reports-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const run = (...args: readonly string[]) =>
    execFileSync(process.execPath, [path.join(import.meta.dirname, 'test-reports.mjs'), ...args], { encoding: 'utf8' })
  const report = (name: string, content: object) => {
    const file = path.join(folder, name)
    writeFileSync(file, JSON.stringify(content))
    return file
  }

  test('the counts come last, after what was flaky and what failed', () => {
    const once = report('once.json', first)
    expect(run('failed', once)).toBe('b.test.ts\n')
    expect(run('count', once, path.join(folder, 'none.json'))).toBe('failed: b.test.ts > four five\n2 1\n')
    expect(run('count', once, report('again.json', { testResults: [passing] }))).toBe(
      'flaky: b.test.ts > four five\n3 0\n',
    )
  })
})
