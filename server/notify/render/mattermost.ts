import type { TaskRecord } from '../../../contract/task.ts'
import type { NotificationEvent } from '../../../contract/text/notification-text.ts'
import type { Template } from '../../../gotemplate/template.ts'
import { type Link, labelled, type Notice } from './notice.ts'
import { cut, escapeWithin, lastLines } from './plain-text.ts'
import { type Formatted, formattedOr, renderTask, statedAt } from './task-template.ts'

/** https://github.com/mattermost/mattermost/blob/master/server/public/model/post.go */
const maxPostLength = 16_383
const maxLineLength = 1_200
const maxLogLength = 3_000

/** Markdown of a post and of the reply in its thread. `mentionsAuthor`: both begin with `@<author>`. */
export function renderMattermost(
  { headline, author = '', facts, nextStep, links, log }: Notice,
  mentionsAuthor: boolean,
): { message: string; details: string } {
  const first = `${mentionsAuthor ? mentionOf(author) : ''}${line(headline)}`
  const linked = links.map(linkText).join(' · ')
  const message = [first, nextStep === undefined ? '' : line(nextStep), linked]
  const details = [first, ...facts.map((fact) => `- ${line(labelled(fact))}`), ...logLines(log), linked]
  return { message: joined(message), details: joined(details) }
}

/** The post that MATTERMOST_FORMAT makes of a task; `byDefault` where it fails. Values are escaped, the format is not. */
export function renderMattermostFormat(
  template: Template,
  event: NotificationEvent,
  task: TaskRecord,
  { mentionsAuthor, byDefault }: { readonly mentionsAuthor: boolean; readonly byDefault: string },
): Formatted {
  const mention = mentionsAuthor ? mentionOf(task.author) : ''
  return formattedOr(
    () => byDefault,
    () => {
      const text = renderTask(template, statedAt(event, task), escapeMarkdown)
      return text === '' ? '' : cut(`${mention}${text}`, maxPostLength)
    },
  )
}

const joined = (lines: readonly string[]) => lines.filter((one) => one !== '').join('\n')

/** The only name of a stranger that may notify. The server reads `@here.x` as `@here`, as a full stop may end a sentence. */
function mentionOf(author: string): string {
  const isUserName = /^[a-z0-9._-]{1,64}$/.test(author) && !/^[._-]*(?:all|channel|here)(?:[._-]|$)/.test(author)
  return isUserName ? `@${author} ` : ''
}

const line = (text: string) => escapeWithin(text, maxLineLength, escapeMarkdown)
const linkText = ({ title, url }: Link) => `[${title}](${url})`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\\': '&#92;',
  $: '&#36;',
  ':': '&#58;',
}

/**
 * Text that Mattermost shows as it is. A backslash escapes marks, as
 * https://github.com/mattermost/marked/blob/master/lib/marked.js reads them. An entity keeps addresses (`https:`, `mailto:`),
 * emoji, formulas and entities from being found. The server looks for mentions after it has read both, so a space without
 * width follows `@`; `#` and `~` would link hashtags and channels.
 */
const escapeMarkdown = (text: string): string =>
  text
    .replace(/[&<>\\$]|:(?=\S)/g, (one) => entities[one] ?? one)
    .replace(/[`*_{}[\]|~]/g, '\\$&')
    .replace(/(?<=\bwww\d{0,3})\.|\.(?=\p{L}{2,4}\/)/giu, '\\.')
    .replace(/[@~]|(?<!&)#/g, '$&\u200b')

/** A fence is longer than any within it. */
function logLines(log: Notice['log']): readonly string[] {
  if (log === undefined) return []
  const lines = lastLines(log.lines, maxLogLength)
  if (lines.length === 0) return []
  const longest = lines.flatMap((one) => one.match(/`+/g) ?? []).reduce((max, { length }) => Math.max(max, length), 2)
  const fence = '`'.repeat(longest + 1)
  return [line(`Log of Pod ${log.pod}:`), `${fence}text`, ...lines, fence]
}
