import { describe, expect, test } from 'vitest'
import type { Culprit } from '../../../contract/diagnosis.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { exampleDiagnosis } from '../../../contract/text/example-diagnoses.ts'
import { withHeadline } from '../../../contract/text/headline.ts'
import { endedTask, exampleTask, pageUrl } from './example-tasks.ts'
import { hostileTexts } from './hostile-texts.ts'
import { renderMattermost } from './mattermost.ts'
import { noticeOf } from './notice.ts'
import { plain } from './plain-text.ts'
import { renderSlack } from './slack.ts'
import { renderTeams } from './teams.ts'

test('40 strings and more', () => expect(new Set(hostileTexts).size).toBeGreaterThanOrEqual(40))

const blamed = (fields: Partial<Culprit>): Partial<TaskRecord> => {
  const diagnosis = exampleDiagnosis('crash_loop')
  const culprit = { kind: 'Pod', namespace: 'shop', name: 'web-1', message: 'x', ...fields }
  return { diagnosis: withHeadline({ ...diagnosis, culprit }) }
}
const image = (one: { image: string; tag: string }) => ({ images: [one, { image: 'registry.example/b', tag: '2' }] })

/** What strangers choose: who deploys, the charts and programs of an application, and who may write its manifests. */
const fields: Readonly<Record<string, (text: string) => Partial<TaskRecord>>> = {
  author: (author) => ({ author }),
  app: (app) => ({ app }),
  project: (project) => ({ project }),
  environment: (environment) => ({ environment }),
  branch: (branch) => ({ branch }),
  'image name': (text) => image({ image: text, tag: '1' }),
  tag: (tag) => image({ image: 'registry.example/a', tag }),
  'tag before': (tag) => ({ previous: { id: '1', ended: 0, images: [{ image: 'registry.example/shop', tag }] } }),
  'message of a Pod': (message) => blamed({ message }),
  'name of a Pod': (name) => blamed({ name }),
  container: (container) => blamed({ container }),
  reason: (reason) => blamed({ reason }),
  'log line': (line) => ({ pod_log: { pod: 'web-1', lines: ['first', ...line.split('\n'), 'last'] } }),
  'Pod of the log': (pod) => ({ pod_log: { pod, lines: ['first'] } }),
  'reason without a diagnosis': (text) => ({ status_reason: text, diagnosis: undefined }),
  headline: (headline) => ({ diagnosis: { ...exampleDiagnosis('crash_loop'), headline } }),
  'message of a Git host': (text) => ({
    cause: 'git_refused',
    diagnosis: withHeadline({
      ...exampleDiagnosis('git_refused'),
      evidence: [{ kind: 'not_committed', text: `remote: ${text}` }],
    }),
  }),
  'next step': (text) => ({
    diagnosis: { ...exampleDiagnosis('crash_loop'), next_steps: [{ actor: 'developer', text }] },
  }),
  'who cancelled it': (name) => ({
    status: 'cancelled',
    cause: 'cancelled',
    diagnosis: { ...exampleDiagnosis('cancelled'), cancelled_by: { kind: 'oidc', name } },
  }),
  link: (url) => ({ app_url: url, commit_url: `https://git.example/${url}`, compare_url: `https://${url}` }),
}
const kinds = ['Slack', 'Mattermost', 'Teams'] as const
const activeIn = { Slack: activeInSlack, Mattermost: activeInMattermost, Teams: activeInTeams }
const shown = { pageUrl, logs: true }
const invisible = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const ownTitles = new Set(['Deployment', 'Argo CD', 'Application', 'Changes', 'Commit'])

test.for(Object.entries(fields).flatMap(([name, fieldsOf]) => kinds.map((kind) => [kind, name, fieldsOf] as const)))(
  '%s: nothing of %s is active',
  ([kind, , fieldsOf]) => {
    const found = hostileTexts.flatMap((text) =>
      activeIn[kind](endedTask('crash_loop', fieldsOf(text))).map((active) => ({ text, active })),
    )
    expect(found).toEqual([])
  },
)

type Found = readonly unknown[]

/** Every object below a value, with the texts that it holds. */
function objectsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? inside : [{ ...value }, ...inside]
}

function activeInSlack(task: TaskRecord): Found {
  const rendered = renderSlack(noticeOf('failed', task, shown))
  const read = (text: string) => /[<>]|&(?!(?:amp|lt|gt);)/.exec(text)?.[0]
  const found = objectsIn([rendered.message.blocks, rendered.message.attachments, rendered.details.blocks])
  const ofBlocks = found.map(({ type, text, emoji, verbatim }) => {
    if (typeof text !== 'string') return undefined
    if (type === 'plain_text') return emoji === false ? read(text) : 'emoji'
    if (type === 'text') return undefined // literal, in rich_text only
    const [, url = '', title = ''] = /^<(https?:\/\/[^\s<>|]+)\|([\w ]+)>$/.exec(text) ?? []
    return verbatim === true && url !== '' && ownTitles.has(title) ? read(url) : text
  })
  const literal = found.filter(({ type }) => type === 'text').length
  const preformatted = found.filter(({ type }) => type === 'rich_text_preformatted').length
  const { text } = rendered.message
  const marks = /[*~`]|@(?!\u200b)|(?<!\w)_|_(?!\w)|:\/|:[\w+'-]+:|\bwww\.|#(?!\u200b)/.exec(text)?.[0]
  const all = [...ofBlocks, read(text), marks, literal === preformatted ? undefined : 'text outside a log']
  return [...all, ...unseen(JSON.stringify(rendered))].filter((one) => one !== undefined)
}

function activeInMattermost(task: TaskRecord, mentionsAuthor = false): Found {
  const { message, details } = renderMattermost(noticeOf('failed', task, shown), mentionsAuthor)
  const [fence] = /^`{3,}(?=text$)/m.exec(details) ?? []
  const [head = details, log = '', tail = ''] =
    fence === undefined ? [details] : details.split(new RegExp(`^${fence}(?:text)?$`, 'm'))
  const lines = [message, head, tail].flatMap((part) => part.split('\n'))
  const found = lines.map((line) => {
    if (line === '' || line.split(' · ').every(isOwnLink)) return undefined
    if (!/^(?:[✕–] |- |Next step \(|Log of Pod )/.test(line)) return `begins a line: ${line}`
    return activeMarkdown(line)
  })
  const escapes = fence !== undefined && log.includes(fence) ? ['fence'] : []
  return [...found, ...escapes, ...unseen(`${message}\n${details}`)].filter((one) => one !== undefined)
}

const isOwnLink = (link: string) => {
  const [, title = ''] = /^\[([\w ]+)\]\(https?:\/\/[^\s()<>[\]"'\\`*@|{}]+\)$/.exec(link) ?? []
  return ownTitles.has(title)
}

/** Anything that Mattermost's parsers could take for mark-up, once what is escaped is out of the way. */
function activeMarkdown(line: string): string | undefined {
  const rest = line.replace(/^- /, '').replace(/\\[`*_{}[\]|~.]/g, '\u00a4')
  const active =
    /[`*_{}[\]|~\\$<>]|@(?!\u200b)|(?<!&)#(?!\u200b)|&(?!(?:amp|lt|gt|#92|#36|#58);)|:\S|\bwww\d{0,3}\.|\.\p{L}{2,4}\//iu
  return active.exec(rest)?.[0]
}

function activeInTeams(task: TaskRecord): Found {
  const rendered = renderTeams(noticeOf('failed', task, shown))
  const types = new Set(['message', 'AdaptiveCard', 'Container', 'RichTextBlock', 'TextRun', 'Action.OpenUrl'])
  const found = objectsIn(rendered).map(({ type, text, title, url }) => {
    if (type !== undefined && !types.has(String(type))) return `type ${type}`
    if (url !== undefined) return ownTitles.has(String(title)) && /^https?:\/\//.test(String(url)) ? undefined : url
    if (text === undefined) return undefined
    if (type !== 'TextRun') return `text of ${type}`
    return /<[a-z/!]|@(?!\u200b)|\{\{|\$\{|:\/|mailto:(?!\u200b)|tel:(?!\u200b)|\bwww\./i.exec(String(text))?.[0]
  })
  return [...found, ...unseen(JSON.stringify(rendered))].filter((one) => one !== undefined)
}

function unseen(text: string): Found {
  const half = text.isWellFormed() && !/\\ud[89a-f]/.test(text) ? undefined : 'half a character'
  return [invisible.exec(text)?.[0], half, /\\u00[01][0-9a-f]/.exec(text)?.[0]]
}

test.for(hostileTexts)('what Mattermost shows of %j is what was written', (text) => {
  const { message } = renderMattermost(noticeOf('started', exampleTask({ author: text }), shown), false)
  const [first = ''] = message.split('\n')
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', '#92': '\\', '#36': '$', '#58': ':' }
  const seen = first
    .replaceAll('\u200b', '')
    .replace(/\\([`*_{}[\]|~.])|&([a-z]+|#\d+);/g, (_, mark?: string, name = '') => mark ?? entities[name] ?? '?')
  const written = plain(text).replaceAll('\u200b', '')
  expect(seen).toBe(
    `▷ shop 1.2.0 is being deployed to production · by ${written.length > 180 ? seen.slice(-40) : written}`,
  )
})

describe('the author in Mattermost', () => {
  const first = (author: string, mentionsAuthor = true) =>
    renderMattermost(noticeOf('failed', endedTask('crash_loop', { author }), shown), mentionsAuthor)

  test.for(['ada', 'ada.l', 'ada-l_2', 'call', 'here2', 'allan'])('%s is mentioned in both posts', (author) => {
    const { message, details } = first(author)
    expect(message.startsWith(`@${author} ✕ shop`)).toBe(true)
    expect(details.startsWith(`@${author} ✕ shop`)).toBe(true)
  })

  test.for([
    ...['all', 'channel', 'here', 'here.x', 'all-1', 'channel_x', '.here', '_all', '-channel.'],
    ...['Ada', 'ada l', 'ada\n@all', '@ada', 'ada:', '<ada>', 'àda', '', 'x'.repeat(65), 'a @channel'],
  ])('%j is not', (author) => {
    const { message, details } = first(author)
    expect([message, details].join()).not.toMatch(/@(?!\u200b)/)
    expect(message.startsWith('✕ ')).toBe(true)
  })

  test('is never mentioned unless the target asks for it', () => expect(first('ada', false).message).not.toContain('@'))
})
