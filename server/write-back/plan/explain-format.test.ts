import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { explainFormat } from './explain-format.ts'

const trailer = '\n\nWatcher-Task: 0b3f6a52-7c1d-4e0e-9a57-2f1d8c4b6e90\n'

describe('npm run template', () => {
  test('shows what a format makes of an example', () => {
    const answer = explainFormat(['{{.Author}}: {{.App}}{{range .Images}} {{.Tag}}{{end}}'])
    expect(answer).toEqual({ exitCode: 0, output: `Ada: shop v2${trailer}`, complaint: '' })
  })

  test('takes the data of a file', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'template-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'data.json')
    writeFileSync(file, JSON.stringify({ App: 'pay', Id: '7', Images: [{ Image: 'r/pay', Tag: 'v9' }] }))
    expect(explainFormat(['{{.App}} {{(index .Images 0).Tag}}', '--data', file]).output).toBe(
      'pay v9\n\nWatcher-Task: 7\n',
    )
  })

  test("says in Go's words why a format does not parse", () => {
    const answer = explainFormat(['{{.App'])
    expect(answer).toEqual({
      exitCode: 78,
      output: '',
      complaint: 'template: COMMIT_MESSAGE_FORMAT:1: unclosed action',
    })
  })

  test('warns where a format fails on the data', () => {
    const { exitCode, output, complaint } = explainFormat(['{{.Nope}}'])
    expect([exitCode, output]).toEqual([0, `watcher(shop): update image tag${trailer}`])
    expect(complaint).toContain("can't evaluate field Nope in type watcher.CommitData")
  })

  test.for([[[]], [['a', 'b']], [['a', '--data', '/nowhere.json']]])('%j shows the usage', ([args = []]) => {
    expect(explainFormat(args)).toMatchObject({
      exitCode: 2,
      complaint: expect.stringContaining('usage: npm run template'),
    })
  })
})
