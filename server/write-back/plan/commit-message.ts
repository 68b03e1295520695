import { oneLine } from '../../../contract/fields.ts'
import type { Image } from '../../../contract/task.ts'
import { type Template, TemplateError } from '../../../gotemplate/template.ts'
import { slice, stringType, structType, text, type Value } from '../../../gotemplate/values.ts'
import type { WriteBackSettings } from './write-back-settings.ts'

export const taskTrailer = 'Watcher-Task'

/** What COMMIT_MESSAGE_FORMAT is rendered from. */
export type CommitTask = {
  readonly id: string
  readonly app: string
  readonly author: string
  readonly project: string
  readonly images: readonly Image[]
}

/** `failure`: why the format gave no message, so that this is the default one. */
type CommitMessage = { readonly text: string; readonly failure: Error | undefined }

const limits = { maxSteps: 10_000, maxOutputBytes: 64 * 1024 }

const imageType = structType('watcher.Image', { Image: stringType, Tag: stringType })
const dataType = structType('watcher.CommitData', {
  App: stringType,
  Id: stringType,
  Author: stringType,
  Project: stringType,
  Images: slice(imageType, null).type,
})

/** The message of a write-back's commit (spec 2.7). The trailer lets an owner recognise a commit whose push got no answer. */
export function commitMessage(
  task: CommitTask,
  { commitMessageFormat, commitTrailer }: Pick<WriteBackSettings, 'commitMessageFormat' | 'commitTrailer'>,
): CommitMessage {
  const { body, failure } = renderBody(task, commitMessageFormat)
  const trailer = commitTrailer ? `\n${taskTrailer}: ${oneLine(task.id)}\n` : ''
  return { text: `${body}\n${trailer}`, failure }
}

function renderBody(task: CommitTask, format: Template | undefined): { body: string; failure: Error | undefined } {
  const fallback = `watcher(${oneLine(task.app)}): update image tag`
  if (format === undefined) return { body: fallback, failure: undefined }
  try {
    const body = clean(format.render(commitData(task), limits))
    if (body !== '') return { body, failure: undefined }
    return { body: fallback, failure: new Error('the message is empty') }
  } catch (error) {
    if (error instanceof TemplateError) return { body: fallback, failure: error }
    throw error
  }
}

/** The data that a format sees: structs of Go, so that an unknown name is an error. */
function commitData({ app, id, author, project, images }: CommitTask): Value {
  const items = images.map(
    ({ image, tag }): Value => ({ kind: 'struct', type: imageType, fields: [text(image), text(tag)] }),
  )
  const fields = [text(app), text(id), text(author), text(project), slice(imageType, items)]
  return { kind: 'struct', type: dataType, fields }
}

/** Without control characters, and without lines that would read as the trailer of a task. */
function clean(message: string): string {
  return message
    .split(/\r\n|[\n\r]/)
    .map((line) => line.replace(/[^\P{Cc}\t]|[\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ''))
    .filter((line) => !readsAsTrailer.test(line))
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd()
}

const readsAsTrailer = /^\s*watcher-task\s*:/i
