import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'template', '--', ...args], {
    encoding: 'utf8',
  })
  return { status, stdout, stderr: stderr.replace(/^npm warn.*\n/gm, '') }
}
const trailer = '\n\nWatcher-Task: 0b3f6a52-7c1d-4e0e-9a57-2f1d8c4b6e90\n'

describe('npm run template', () => {
  test('shows what a format makes of an example', () => {
    const answer = run('{{.Author}}: {{.App}}{{range .Images}} {{.Tag}}{{end}}')
    expect(answer).toEqual({ status: 0, stdout: `Ada: shop v2${trailer}`, stderr: '' })
  })

  test('takes the data of a file', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'template-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'data.json')
    writeFileSync(file, JSON.stringify({ App: 'pay', Id: '7', Images: [{ Image: 'r/pay', Tag: 'v9' }] }))
    expect(run('{{.App}} {{(index .Images 0).Tag}}', '--data', file).stdout).toBe('pay v9\n\nWatcher-Task: 7\n')
  })

  test("says in Go's words why a format does not parse", () => {
    const answer = run('{{.App')
    expect(answer).toEqual({
      status: 78,
      stdout: '',
      stderr: 'template: COMMIT_MESSAGE_FORMAT:1: unclosed action\n',
    })
  })

  test('warns where a format fails on the data', () => {
    const { status, stdout, stderr } = run('{{.Nope}}')
    expect([status, stdout]).toEqual([0, `watcher(shop): update image tag${trailer}`])
    expect(stderr).toContain("can't evaluate field Nope in type watcher.CommitData")
  })

  test.for([[[]], [['a', 'b']], [['a', '--data', '/nowhere.json']]])('%j shows the usage', ([args = []]) => {
    expect(run(...args)).toMatchObject({ status: 2, stderr: expect.stringContaining('usage: npm run template') })
  })
})
