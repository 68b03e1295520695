import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { cancelCommand, submitCommand } from '../../web/src/deployments/equivalent-command.ts'

/** What a shell makes of a command, in place of curl. */
const argumentsOf = (command: string) =>
  execFileSync('/bin/sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${command}`], { env: { TOKEN: 't' } })
    .toString()
    .trimEnd()
    .split('\n')

test('the command to cancel names the task', () => {
  expect(argumentsOf(cancelCommand('https://watcher.example', `a'b $(id)`))).toEqual([
    '--fail-with-body',
    '-X',
    'DELETE',
    '-H',
    'Authorization: Bearer t',
    "https://watcher.example/api/v1/tasks/a'b%20%24(id)",
  ])
})

test('the command to submit hands the task on as it is, whatever callers wrote into it', () => {
  const task = { app: `it's $(id) \`id\` "x" \\`, author: 'ada', project: 'shop', images: [{ image: 'a', tag: '!1' }] }
  const [, , header, , type, , body, address] = argumentsOf(submitCommand('https://watcher.example', task))
  expect([header, type, address]).toEqual([
    'Authorization: Bearer t',
    'Content-Type: application/json',
    'https://watcher.example/api/v1/tasks',
  ])
  expect(JSON.parse(body ?? '')).toEqual(task)
})
