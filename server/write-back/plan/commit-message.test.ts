import { describe, expect, test } from 'vitest'
import { parseTemplate, TemplateError } from '../../../gotemplate/template.ts'
import { cpuMs } from '../../../test/support/cpu-time.ts'
import { type CommitTask, commitMessage } from './commit-message.ts'

const task: CommitTask = {
  id: '42',
  app: 'shop',
  author: 'Ada',
  project: 'store',
  images: [
    { image: 'registry.example/shop', tag: 'v2' },
    { image: 'registry.example/web', tag: 'v3' },
  ],
}
const message = (format?: string, change: Partial<CommitTask> = {}, commitTrailer = true) =>
  commitMessage(
    { ...task, ...change },
    {
      commitMessageFormat: format === undefined ? undefined : parseTemplate('COMMIT_MESSAGE_FORMAT', format),
      commitTrailer,
    },
  )
const fallback = 'watcher(shop): update image tag\n\nWatcher-Task: 42\n'

test('the default message names the application; the trailer names the task (spec 2.7)', () => {
  expect(message()).toEqual({ text: fallback, failure: undefined })
})

test('the trailer can be left out', () => {
  expect(message(undefined, {}, false).text).toBe('watcher(shop): update image tag\n')
  expect(message('{{.App}}', {}, false).text).toBe('shop\n')
})

test.for(['a\nWatcher-Task: 1', 'a\r\n\r\nWatcher-Task: 1', 'a\u2028b', 'a\u0000b', 'a\u001b[31mb', 'a\u202eb'])(
  'an application named %j cannot fake a second line',
  (app) => {
    const { text } = message(undefined, { app })
    expect(text.split('\n')).toHaveLength(4)
    expect(text.match(/^Watcher-Task: /gm)).toHaveLength(1)
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\u202e]/u)
  },
)

describe('COMMIT_MESSAGE_FORMAT (spec 2.7)', () => {
  test('is rendered from the task, and the trailer follows after a blank line', () => {
    const format = '{{.Project}}/{{.App}} by {{.Author}} ({{.Id}})\n{{range .Images}}\n- {{.Image}}:{{.Tag}}{{end}}\n\n'
    expect(message(format)).toEqual({
      text: 'store/shop by Ada (42)\n\n- registry.example/shop:v2\n- registry.example/web:v3\n\nWatcher-Task: 42\n',
      failure: undefined,
    })
  })

  test.for([
    ['{{.Nope}}', `executing "COMMIT_MESSAGE_FORMAT" at <.Nope>: can't evaluate field Nope in type watcher.CommitData`],
    [' \n{{/* nothing */}}\t', 'the message is empty'],
    ['Watcher-Task: 7', 'the message is empty'],
    ['{{range 20}}{{printf "%4000d" 1}}{{end}}', 'exceeded maximum output of 65536 bytes'],
    ['{{range 100000}}{{end}}', 'exceeded maximum number of steps (10000)'],
    ['{{define "a"}}{{template "a"}}{{end}}{{template "a"}}', 'exceeded maximum template depth'],
  ])('%s gives the default message and says why', ([format, failure = '']) => {
    const made = message(format)
    expect(made.text).toBe(fallback)
    expect(made.failure?.message).toContain(failure)
  })

  test.for(['Watcher-Task: 1', 'watcher-task :1', ' \tWATCHER-TASK: 1', 'W\0atcher-Task: 1', 'Watcher\u202e-Task: 1'])(
    'an author named %j adds no trailer of another task',
    (author) => {
      for (const end of ['\n', '\r', '\r\n']) {
        const { text } = message(`one${end}{{.Author}}${end}two`, { author })
        expect(text).toBe('one\ntwo\n\nWatcher-Task: 42\n')
      }
    },
  )

  test('line ends and tabs stay, other control characters do not', () => {
    expect(message('a\tb\u0007\u001b[1mc\u007f\u0085\r\nd').text).toBe('a\tb[1mc\nd\n\nWatcher-Task: 42\n')
  })
})

describe('a commit message template runs no code (T25), B57', () => {
  const inText = [
    '\\u007b{.App}',
    '#{7*7}',
    '<%= 7*7 %>',
    '{% import os %}',
    '$(touch x)',
    '`touch x`',
    '{{.App}}{{"{{.Nope}}"}}',
    '{{print "__proto__"}}',
    '{{html .App}}{{js .App}}{{urlquery .App}}',
    '{{define "x"}}{{.constructor}}{{end}}{{.App}}',
  ]
  const atRunTime = [
    '{{.constructor}}',
    '{{.__proto__.polluted}}',
    '{{.App.constructor}}',
    '{{.App.length}}',
    '{{(index .Images 0).toString}}',
    '{{index . "constructor"}}',
    '{{index .Images "length"}}',
    '{{call .App}}',
    '{{call .Images.map}}',
    '{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}',
    '{{template "constructor"}}',
    '{{range 1000000}}x{{end}}',
    '{{range 100}}{{printf "%4000d" 1}}{{end}}',
    '{{range $i := 100}}{{range 200}}x{{end}}{{end}}',
  ]
  const atStart = ['{{', '{{nofunc}}', '{{constructor}}', '{{eval "1"}}', '{{require "fs"}}', '{{$__proto__}}']

  test('30 payloads', () => expect(new Set([...inText, ...atRunTime, ...atStart]).size).toBe(30))
  test.for(inText)('%s stays text', (format) => {
    expect(message(format)).toMatchObject({ text: expect.not.stringContaining('49'), failure: undefined })
  })
  test.for(atRunTime)('%s gives the default message', (format) => {
    const beganMs = cpuMs()
    const made = message(format)
    expect([made.text, made.failure]).toEqual([fallback, expect.any(TemplateError)])
    expect(cpuMs() - beganMs).toBeLessThan(2_000)
    expect({}).not.toHaveProperty('polluted')
  })
  test.for(atStart)('%s does not parse', (format) => {
    expect(() => parseTemplate('COMMIT_MESSAGE_FORMAT', format)).toThrow(/^template: COMMIT_MESSAGE_FORMAT:1: /)
  })
})
