import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'

const schedule = (...args: string[]) =>
  spawnSync('npm', ['run', '--silent', 'schedule', '--', ...args], { encoding: 'utf8' })

describe('npm run schedule', () => {
  test('explains a schedule', () => {
    const { status, stdout } = schedule('Fri 17:00 - Mon 08:00', '--json', '--at', '2026-11-20T17:00:00Z')
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ at: [{ instant: '2026-11-20T17:00:00Z', locked: true }] })
  })
  test('refuses one that cannot be read, as the service does at its start', () => {
    const { status, stdout, stderr } = schedule('Fri 17:00 - Fri 08:00')
    expect(status).toBe(78)
    expect(stdout).toBe('')
    expect(stderr).toContain('ends before it starts; write two windows')
  })
})
