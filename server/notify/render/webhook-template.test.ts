import { describe, expect, test } from 'vitest'
import { parseTemplate } from '../../../gotemplate/template.ts'
import { exampleNotifications, exampleTask } from './example-tasks.ts'
import { hostileTexts } from './hostile-texts.ts'
import { plain } from './plain-text.ts'
import { renderWebhookBody } from './webhook-template.ts'

test('every event and every cause', async () => {
  const template = parseTemplate(
    'WEBHOOK_FORMAT',
    '{"id":"{{.Id}}","at":{{printf "%.0f" .Created}},"app":"{{.App}}","author":"{{.Author}}","project":"{{.Project}}",' +
      '"images":[{{range $i, $one := .Images}}{{if $i}},{{end}}"{{.Image}}:{{.Tag}}"{{end}}],' +
      '"status":"{{.Status}}","reason":"{{.StatusReason}}"}',
  )
  const texts = exampleNotifications.map(
    ({ name, event, task }) => `=== ${name}\n${renderWebhookBody(template, event, task).text}\n`,
  )
  await expect(texts.join('\n')).toMatchFileSnapshot('golden/webhook-template.txt')
})

describe('values of strangers', () => {
  const quoted =
    '{"app":"{{.App}}","author":"{{.Author}}","project":"{{.Project}}","status":"{{.Status}}","reason":"{{.StatusReason}}"}'
  const quotes = quoted.replace(/"\{\{(\.\w+)\}\}"/g, '{{printf "%q" $1}}')

  test.for([quoted, quotes])('%s keeps its JSON and every value', (format) => {
    const template = parseTemplate('WEBHOOK_FORMAT', format)
    for (const text of hostileTexts) {
      const task = exampleTask({ status: 'failed', app: text, author: text, project: text, status_reason: text })
      const { text: body, failure } = renderWebhookBody(template, 'failed', task)
      const value = plain(text)
      expect(failure).toBeUndefined()
      expect(JSON.parse(body)).toEqual({
        app: value,
        author: value,
        project: value,
        status: 'failed',
        reason: text.split('\n').map(plain).join('\n'),
      })
    }
  })

  test('values cannot exchange their places', () => {
    const task = exampleTask({ app: 'x\\', author: ',"y', status: 'failed' })
    const format = parseTemplate('WEBHOOK_FORMAT', '["{{.App}}","{{.Author}}","{{.Status}}"]')
    expect(JSON.parse(renderWebhookBody(format, 'failed', task).text)).toEqual(['x\\', ',"y', 'failed'])
  })
})

describe('WEBHOOK_FORMAT', () => {
  const render = (format: string, task = exampleTask()) =>
    renderWebhookBody(parseTemplate('WEBHOOK_FORMAT', format), 'succeeded', task)

  test("has argo-watcher's names", () => {
    const format =
      '{{.Id}} {{.App}} {{.Author}} {{.Project}} {{range .Images}}{{.Image}}:{{.Tag}}{{end}} {{.Status}} {{.StatusReason}} {{printf "%.2f" .Created}} {{.Timeout}}'
    const task = exampleTask({ created: 1_795_420_800.25, status_reason: 'one\ntwo\u0007', timeout: 900 })
    expect(render(format, task)).toEqual({
      text: `${task.id} shop ada store registry.example/shop:1.2.0 deployed one\ntwo 1795420800.25 900`,
      failure: undefined,
    })
  })

  test('says in progress of a deployment that began, though it ended since', () => {
    const template = parseTemplate('WEBHOOK_FORMAT', '{{.Status}}{{.StatusReason}}')
    expect(renderWebhookBody(template, 'started', exampleTask({ status_reason: 'x' })).text).toBe('in progress')
  })

  test.for([
    ['{{.Nope}}', "can't evaluate field Nope in type watcher.Task"],
    [' {{/* nothing */}} ', 'the text is empty'],
    ['{{range 20}}{{printf "%4000d" 1}}{{end}}', 'exceeded maximum output of 65536 bytes'],
    ['{{range 100000}}{{end}}', 'exceeded maximum number of steps (10000)'],
  ] as const)('%s gives the default body and says why', ([format, why]) => {
    const { text, failure } = render(format)
    expect(failure?.message).toContain(why)
    expect(JSON.parse(text)).toEqual({
      id: exampleTask().id,
      app: 'shop',
      author: 'ada',
      project: 'store',
      images: [{ image: 'registry.example/shop', tag: '1.2.0' }],
      status: 'deployed',
      message: '✓ shop 1.2.0 deployed to production · by ada · 48 s',
    })
  })

  test('escapes what would break its JSON, and leaves other text alone', () => {
    const task = exampleTask({ author: 'Ada "Countess" \\ Lovelace', status_reason: 'one\ntwo' })
    expect(render('{"by":"{{.Author}}","why":"{{.StatusReason}}"}', task).text).toBe(
      String.raw`{"by":"Ada \"Countess\" \\ Lovelace","why":"one\ntwo"}`,
    )
    expect(render('by={{.Author}}', task).text).toBe('by=Ada "Countess" \\ Lovelace')
  })

  test('gives the default body where neither way keeps its JSON', () => {
    const format = '{"by":"{{.Author}}"{{if gt (len .Author) 3}},"long":true{{end}}}'
    const { failure } = render(format, exampleTask({ author: 'a"b' }))
    expect(failure?.message).toContain('not JSON')
  })
})
