import type { TaskRecord } from '../../../contract/task.ts'
import { type NotificationEvent, notificationHeadline } from '../../../contract/text/notification-text.ts'
import { type Template, TemplateError } from '../../../gotemplate/template.ts'
import { plain } from './plain-text.ts'
import { type Formatted, formattedOr, renderTask, statedAt } from './task-template.ts'

/**
 * The body that WEBHOOK_FORMAT makes of a task. A quotation mark or backslash in a value cannot change other parts of a JSON
 * body: `"{{.Author}}"` and `{{printf "%q" .Author}}` both keep the value. Without a format it is the default body.
 */
export function renderWebhookBody(
  template: Template | undefined,
  event: NotificationEvent,
  task: TaskRecord,
): Formatted {
  const byDefault = () => defaultBody(event, task)
  if (template === undefined) return { text: byDefault(), failure: undefined }
  return formattedOr(byDefault, () => renderSafely(template, statedAt(event, task)))
}

/** As JSON, which is the default of WEBHOOK_CONTENT_TYPE. */
function defaultBody(event: NotificationEvent, task: TaskRecord): string {
  const { id, app, author, project, images, status } = statedAt(event, task)
  const message = plain(notificationHeadline(event, task))
  return JSON.stringify({ id, app, author, project, images, status, message })
}

/**
 * Renders the values as they are, unless that changes the structure of a JSON body; then they are escaped for JSON strings.
 * The body rendered without quotation marks, backslashes and line ends shows the structure. Other formats are not changed.
 */
function renderSafely(template: Template, task: TaskRecord): string {
  const render = (change: (value: string) => string) => renderTask(template, task, change)
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
