import type { TaskRecord } from '../../../contract/task.ts'
import { type NotificationEvent, notificationHeadline } from '../../../contract/text/notification-text.ts'
import { type Template, TemplateError } from '../../../gotemplate/template.ts'
import { float, int, slice, stringType, structType, text, type Value } from '../../../gotemplate/values.ts'
import { plain } from './plain-text.ts'

/** `failure`: why the template gave no body; `text` is the default one then. */
type WebhookBody = { readonly text: string; readonly failure: Error | undefined }

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

/**
 * The body that WEBHOOK_FORMAT makes of a task, with argo-watcher's names. A quotation mark or backslash in a value cannot
 * change other parts of a JSON body: `"{{.Author}}"` and `{{printf "%q" .Author}}` both keep the value.
 */
export function renderWebhookTemplate(template: Template, event: NotificationEvent, task: TaskRecord): WebhookBody {
  try {
    const body = renderSafely(template, statedAt(event, task))
    return body === '' ? instead(event, task, new Error('the body is empty')) : { text: body, failure: undefined }
  } catch (error) {
    if (error instanceof TemplateError) return instead(event, task, error)
    throw error
  }
}

/** As JSON, which is the default of WEBHOOK_CONTENT_TYPE. */
function instead(event: NotificationEvent, task: TaskRecord, failure: Error): WebhookBody {
  const { id, app, author, project, images, status } = statedAt(event, task)
  const message = plain(notificationHeadline(event, task))
  return { text: JSON.stringify({ id, app, author, project, images, status, message }), failure }
}

/** The task as it was at the event: the next notification reports the end of one that ended since. */
const statedAt = (event: NotificationEvent, task: TaskRecord): TaskRecord => {
  const { status_reason: reason = '', ...rest } = task
  return event === 'started' ? { ...rest, status: 'in progress' } : { ...rest, status_reason: reason }
}

/**
 * Renders the values as they are, unless that changes the structure of a JSON body; then they are escaped for JSON strings.
 * The body rendered without quotation marks, backslashes and line ends shows the structure. Other formats are not changed.
 */
function renderSafely(template: Template, task: TaskRecord): string {
  const render = (change: (value: string) => string) => template.render(dataOf(task, change), limits).trim()
  const raw = render((value) => value)
  const stripped = render(withoutMarks)
  if (raw === stripped || !isJson(stripped)) return raw
  if (isJson(raw) && sameBesidesMarks(raw, stripped)) return raw
  const escaped = render((value) => JSON.stringify(value).slice(1, -1))
  if (isJson(escaped) && shapeOf(escaped) === shapeOf(stripped)) return escaped
  throw new TemplateError('the body is not JSON with the quotation marks or backslashes of this task')
}

const withoutMarks = (value: string) => value.replace(/["\\\n\t]/g, '')

function isJson(body: string): boolean {
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}

const jsonString = /"(?:[^"\\]|\\.)*"/g
const shapeOf = (json: string) => json.replace(jsonString, '""')
const stringsOf = (json: string) => (json.match(jsonString) ?? []).map((one) => withoutMarks(String(JSON.parse(one))))

const sameBesidesMarks = (json: string, other: string) =>
  shapeOf(json) === shapeOf(other) && stringsOf(json).join('\n') === stringsOf(other).join('\n')

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
