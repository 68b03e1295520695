import { type Link, labelled, type Notice } from './notice.ts'
import { escapeWithin, lastLines } from './plain-text.ts'

/** https://docs.slack.dev/reference/block-kit/composition-objects/text-object */
const maxBlockLength = 3_000
/** A message has at most 50, those of its attachments included. */
const maxBlocks = 50
const maxLogLength = 2_800

type PlainText = { readonly type: 'plain_text'; readonly text: string; readonly emoji: false }
type Mrkdwn = { readonly type: 'mrkdwn'; readonly text: string; readonly verbatim: true }
type Block =
  | { readonly type: 'section'; readonly text: PlainText }
  | { readonly type: 'context'; readonly elements: readonly Mrkdwn[] }
  | {
      readonly type: 'rich_text'
      readonly elements: readonly [
        { readonly type: 'rich_text_preformatted'; readonly elements: readonly [{ type: 'text'; text: string }] },
      ]
    }

/** `text` is shown by desktop notifications in place of the blocks. */
type SlackMessage = {
  readonly message: {
    readonly text: string
    readonly blocks: readonly Block[]
    readonly attachments: readonly { readonly color: string; readonly blocks: readonly Block[] }[]
  }
  readonly details: { readonly text: string; readonly blocks: readonly Block[] }
}

const colors: Readonly<Record<Notice['tone'], string>> = {
  running: '#2f6fde',
  good: '#2e8540',
  bad: '#c9252d',
  warning: '#b26a00',
  neutral: '#7a7f87',
}

/** Parts of the bodies of chat.postMessage and chat.update, and of the reply in the thread. */
export function renderSlack({ headline, tone, facts, nextStep, links, log }: Notice): SlackMessage {
  const main = [...(nextStep === undefined ? [] : [section(nextStep)]), ...linkBlocks(links)]
  const details = [
    section(headline),
    ...facts.map((fact) => section(labelled(fact))),
    ...logBlocks(log),
    ...linkBlocks(links),
  ]
  const text = fallback(headline)
  return {
    message: {
      text,
      blocks: [section(headline)],
      attachments: main.length === 0 ? [] : [{ color: colors[tone], blocks: main }],
    },
    details: { text, blocks: details.slice(0, maxBlocks) },
  }
}

/** Slack reads no mark-up in `plain_text`, and no emoji. */
const section = (text: string): Block => ({
  type: 'section',
  text: { type: 'plain_text', text: escapeWithin(text, maxBlockLength, escapeControl), emoji: false },
})

function linkBlocks(links: readonly Link[]): readonly Block[] {
  let room = maxBlockLength
  const texts = links
    .map(({ title, url }) => `<${escapeControl(url)}|${title}>`)
    .filter((text) => {
      room -= text.length
      return room >= 0
    })
  if (texts.length === 0) return []
  return [{ type: 'context', elements: texts.map((text): Mrkdwn => ({ type: 'mrkdwn', text, verbatim: true })) }]
}

/** Texts of `rich_text` are literal: Slack unescapes nothing in them. */
function logBlocks(log: Notice['log']): readonly Block[] {
  if (log === undefined) return []
  const lines = lastLines(log.lines, maxLogLength)
  if (lines.length === 0) return []
  const text = lines.join('\n')
  return [
    section(`Log of Pod ${log.pod}:`),
    { type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }] },
  ]
}

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
const escapeControl = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const maxFallbackLength = 1_000
const lookalikes: Readonly<Record<string, string>> = { '*': '∗', '~': '∼', '`': 'ˋ', _: 'ˍ' }

/**
 * The one text that Slack may read as mrkdwn, which has no escape for its marks. Similar characters replace them; an
 * underscore inside a word stays, as it marks nothing there.
 */
const fallback = (text: string): string =>
  escapeWithin(text, maxFallbackLength, (part) =>
    escapeControl(part)
      .replace(/[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (mark) => lookalikes[mark] ?? mark)
      .replace(/[@#]|:(?=[\w+'-]+:|\/)|\bwww(?=\.)/gi, '$&\u200b'),
  )
