import type { TaskRecord } from '../../../contract/task.ts'
import type { NotificationEvent } from '../../../contract/text/notification-text.ts'
import { type Template, TemplateError } from '../../../gotemplate/template.ts'
import { float, int, slice, stringType, structType, text, type Value } from '../../../gotemplate/values.ts'
import { plain } from './plain-text.ts'

/** What a format made of a task. `failure`: why it made nothing; `text` is the default one then. */
export type Formatted = { readonly text: string; readonly failure: Error | undefined }

const limits = { maxSteps: 10_000, maxOutputBytes: 64 * 1024 }

const imageType = structType('watcher.Image', { Image: stringType, Tag: stringType })
const taskType = structType('watcher.Task', {
  Id: stringType,
  Created: float(0).type,
  Updated: float(0).type,
  App: stringType,
  Author: stringType,
  Project: stringType,
  Images: slice(imageType, null).type,
  Status: stringType,
  StatusReason: stringType,
  Timeout: int(0).type,
})

/** What WEBHOOK_FORMAT or MATTERMOST_FORMAT makes of a task, with argo-watcher's names; `change` is applied to each value. */
export const renderTask = (template: Template, task: TaskRecord, change: (value: string) => string): string =>
  template.render(dataOf(task, change), limits).trim()

/** The text, or the default one where the format fails or makes nothing. */
export function formattedOr(byDefault: () => string, render: () => string): Formatted {
  try {
    const made = render()
    return made === ''
      ? { text: byDefault(), failure: new Error('the text is empty') }
      : { text: made, failure: undefined }
  } catch (error) {
    if (error instanceof TemplateError) return { text: byDefault(), failure: error }
    throw error
  }
}

/** The task as it was at the event: the next notification reports the end of one that ended since. */
export const statedAt = (event: NotificationEvent, task: TaskRecord): TaskRecord => {
  const { status_reason: reason = '', ...rest } = task
  return event === 'started' ? { ...rest, status: 'in progress' } : { ...rest, status_reason: reason }
}

/** The data that a format sees: structs of Go, so that an unknown name is an error. */
function dataOf(task: TaskRecord, change: (value: string) => string): Value {
  const { id, created, updated, app, author, project, images, status, status_reason: reason = '', timeout = 0 } = task
  const value = (one: string) => text(change(plain(one)))
  const items = images.map(
    ({ image, tag }): Value => ({ kind: 'struct', type: imageType, fields: [value(image), value(tag)] }),
  )
  const lines = text(change(reason.split('\n').map(plain).join('\n')))
  const fields = [
    text(id),
    float(created),
    float(updated),
    value(app),
    value(author),
    value(project),
    slice(imageType, items),
    text(status),
    lines,
    int(timeout),
  ]
  return { kind: 'struct', type: taskType, fields }
}
