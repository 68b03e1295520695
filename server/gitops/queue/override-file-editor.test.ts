import { expect, onTestFinished, test } from 'vitest'
import { createOverrideFileEditor } from './override-file-editor.ts'

function anEditor() {
  const editor = createOverrideFileEditor()
  onTestFinished(() => editor[Symbol.asyncDispose]())
  return editor
}

const own = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `p${at}.tag`, value: 'v2' }))
const small = { text: 'a: 1\n', own: own(1), inherited: [], tool: 'helm' as const }
const always = () => true

test('T19 many changes to a large file end after 2 s of processor time, and the next file is edited', async () => {
  const editor = anEditor()
  const text = `${Array.from({ length: 30_000 }, (_, at) => `key${at}: "text ${at}"`).join('\n')}\n`
  const slow = editor.merge({ text, own: own(50), inherited: [], tool: 'helm' }, always)
  const next = editor.merge(small, always)
  expect(await slow).toEqual({ kind: 'exhausted', reason: 'takes more than 2s to edit: make it smaller' })
  expect(await next).toMatchObject({ kind: 'changed' })
})

test('a file that is legal but large is edited, however busy the machine is', async () => {
  const text = `helm:\n  valueFiles:\n${'    - "a value file of this application"\n'.repeat(10_000)}`
  expect(await anEditor().merge({ ...small, text }, always)).toMatchObject({ kind: 'changed' })
})

test('a nested file is refused by a reader of shared parameters too', async () => {
  const text = '['.repeat(100)
  expect(await anEditor().readEntries({ text, tool: 'helm' }, always)).toEqual({
    kind: 'invalid',
    reason: 'is nested too deeply',
  })
})

test('what waits at the end is postponed, and so is what comes after it', async () => {
  const editor = anEditor()
  const answers = [editor.merge(small, always), editor.readEntries({ text: '', tool: 'helm' }, always)]
  await editor[Symbol.asyncDispose]()
  expect(await Promise.all([...answers, editor.merge(small, always)])).toEqual(Array(3).fill({ kind: 'postponed' }))
})
