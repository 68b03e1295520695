import { describe, expect, test } from 'vitest'
import type { TaskRecord } from '../../../contract/task.ts'
import { exampleDiagnosis } from '../../../contract/text/example-diagnoses.ts'
import { withHeadline } from '../../../contract/text/headline.ts'
import { endedTask, pageUrl } from './example-tasks.ts'
import { renderMattermost } from './mattermost.ts'
import { noticeOf } from './notice.ts'
import { cut, escapeWithin, lastLines, webAddress } from './plain-text.ts'
import { renderSlack } from './slack.ts'
import { renderTeams } from './teams.ts'

const shown = { pageUrl, logs: true }

/** 50 images, every name as long as it may be, a message of a Pod of 64 KiB, and a log as long as any. */
function largest(filling: string): TaskRecord {
  const of = (length: number) => filling.repeat(length).slice(0, length).toWellFormed()
  const diagnosis = exampleDiagnosis('crash_loop')
  const culprit = { kind: 'Pod', namespace: of(255), name: of(255), container: of(255), message: of(64 * 1024) }
  const images = (end: string) =>
    Array.from({ length: 50 }, (_, index) => ({ image: of(250) + index, tag: of(254) + end }))
  const url = `https://git.example/${of(2_000)}`
  return endedTask('crash_loop', {
    app: of(255),
    author: of(255),
    project: of(255),
    environment: of(255),
    images: images('2'),
    previous: { id: '1', ended: 0, images: images('1') },
    app_url: url,
    commit_url: `https://git.example/${'&'.repeat(400)}`,
    compare_url: `https://git.example/${'<'.repeat(150)}`,
    diagnosis: withHeadline({
      ...diagnosis,
      culprit,
      next_steps: Array.from({ length: 50 }, () => ({ actor: 'developer' as const, text: of(5_000) })),
      links: Array.from({ length: 50 }, (_, index) => ({
        kind: 'application' as const,
        url: `${url.slice(0, 400)}${index}`,
      })),
    }),
    pod_log: { pod: of(255), lines: Array.from({ length: 1_000 }, () => of(16 * 1024)) },
  })
}

const fillings = [
  'x',
  '&',
  '<',
  '"',
  '\\',
  '`',
  '*',
  '@',
  ':',
  '€',
  '💥',
  'a💥',
  'x💥&',
  '\ud83d',
  '\u0007',
  '\u2028x',
  'x ',
] as const

const stringsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

describe.each(fillings)('the largest task of %j', (filling) => {
  const task = largest(filling)

  test('is within 50 blocks of 3,000 characters in Slack', () => {
    const { message, details } = renderSlack(noticeOf('failed', task, shown))
    const blocks = [...message.blocks, ...message.attachments.flatMap((one) => one.blocks)]
    expect(blocks.length).toBeLessThanOrEqual(50)
    expect(details.blocks.length).toBeLessThanOrEqual(50)
    for (const block of [...blocks, ...details.blocks]) {
      const strings = stringsIn(block)
      expect(strings.join('').length).toBeLessThanOrEqual(3_000 + 100)
      for (const text of strings) expect(text.length).toBeLessThanOrEqual(3_000)
      expect(strings.every((text) => text !== '' && text.isWellFormed())).toBe(true)
    }
    const readAsEscapes = [message.text, ...stringsIn(details.blocks.filter(({ type }) => type === 'section'))]
    for (const text of readAsEscapes) expect(text).not.toMatch(/&(?!(?:amp|lt|gt);)/)
  })

  test('is within 16,383 characters in Mattermost', () => {
    const { message, details } = renderMattermost(noticeOf('failed', task, shown), true)
    for (const text of [message, details]) {
      expect(text.length).toBeLessThanOrEqual(16_383)
      expect(text.isWellFormed()).toBe(true)
      const [outside = ''] = text.split('```text')
      const lines = outside.split('\n').filter((line) => !line.startsWith('[Deployment]'))
      for (const line of lines) expect(line).not.toMatch(/&(?!(?:amp|lt|gt|#92|#36|#58);)|\\(?![`*_{}[\]|~.])/)
    }
  })

  test('is within 28 KB in Teams, with cause, next step and the page', () => {
    const body = renderTeams(noticeOf('failed', task, shown))
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(28 * 1_000)
    expect(stringsIn(body).every((text) => text.isWellFormed())).toBe(true)
    expect(JSON.stringify(body)).toContain('Next step (developer)')
    expect(stringsIn(body)).toContain(pageUrl)
  })
})

describe('log lines of Pods', () => {
  const task = endedTask('crash_loop', { pod_log: { pod: 'web-1', lines: ['a secret of the program'] } })

  test.for([true, false])('are sent only to a target with logs: %s', (logs) => {
    const kinds = [
      renderSlack(noticeOf('failed', task, { pageUrl, logs })),
      renderMattermost(noticeOf('failed', task, { pageUrl, logs }), false),
      renderTeams(noticeOf('failed', task, { pageUrl, logs })),
    ]
    for (const rendered of kinds) expect(JSON.stringify(rendered).includes('a secret of the program')).toBe(logs)
  })

  test('are never a part of the message itself', () => {
    expect(JSON.stringify(renderSlack(noticeOf('failed', task, shown)).message)).not.toContain('a secret')
    expect(renderMattermost(noticeOf('failed', task, shown), false).message).not.toContain('a secret')
  })

  test('end a fence of Mattermost never', () => {
    const lines = ['```', '````text', ' ``````', 'x ```` ', '~~~']
    const { details } = renderMattermost(
      noticeOf('failed', endedTask('crash_loop', { pod_log: { pod: 'web-1', lines } }), shown),
      false,
    )
    expect(details.match(/`{7,}/g)).toEqual(['```````', '```````'])
  })

  test('that are empty leave no empty block', () => {
    const empty = endedTask('crash_loop', { pod_log: { pod: 'web-1', lines: ['', '\u0007'] } })
    expect(JSON.stringify(renderSlack(noticeOf('failed', empty, shown)))).not.toContain('rich_text')
    expect(renderMattermost(noticeOf('failed', empty, shown), false).details).not.toContain('```')
    expect(JSON.stringify(renderTeams(noticeOf('failed', empty, shown)))).not.toContain('Monospace')
  })

  test('the newest stay where not all fit', () => {
    expect(lastLines(['1', '22', '333'], 8)).toEqual(['22', '333'])
    expect(lastLines(['x'.repeat(400)], 1_000)).toEqual([`${'x'.repeat(299)}…`])
  })
})

describe('cutting', () => {
  test.for([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['a💥b', 3, 'a…'],
    ['a💥', 3, 'a💥'],
    ['💥💥', 1, '…'],
  ] as const)('%s to %i', ([text, length, kept]) => expect(cut(text, length)).toBe(kept))

  test('never ends inside an escape', () => {
    const escaper = (text: string) => text.replaceAll('&', '&amp;')
    for (let length = 1; length < 60; length += 1) {
      const escaped = escapeWithin('x&💥'.repeat(20), length, escaper)
      expect(escaped.length).toBeLessThanOrEqual(length)
      expect(escaped.replaceAll('&amp;', '')).not.toContain('&')
      expect(escaped.isWellFormed()).toBe(true)
    }
  })
})

test.for([
  ['https://watcher.example/task/1?a=b&c=d#e', 'https://watcher.example/task/1?a=b&c=d#e'],
  ['https://watcher.example/a|b>(c)[d]*@e', 'https://watcher.example/a%7Cb%3E%28c%29%5Bd%5D%2A%40e'],
  ['HTTP://Watcher.example', 'http://watcher.example/'],
  ['javascript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['https://watcher.example@evil.example/', undefined],
  ['//evil.example', undefined],
  ['no address', undefined],
  ['https://watcher.example/a&copy;b', 'https://watcher.example/a&copy%3Bb'],
  [`https://watcher.example/${'x'.repeat(500)}`, undefined],
] as const)('an address %s is linked as %s', ([address, linked]) => expect(webAddress(address)).toBe(linked))
