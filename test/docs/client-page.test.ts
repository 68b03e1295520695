import { expect, test } from 'vitest'
import { runClient } from '../support/run-client.ts'
import { textOf } from './documents.ts'

const commands = ['deploy', 'wait', 'status', 'list', 'cancel', 'lock status', 'lock set', 'lock release', 'version']

test('docs/client.md has each command and each flag of the program, and no other', async () => {
  const page = textOf('docs/client.md')
  const helps = await Promise.all(commands.map((command) => runClient([...command.split(' '), '--help'])))
  const flags = new Set(helps.flatMap(({ stdout }) => stdout.match(/--[a-z][a-z-]*/g) ?? []))
  const described = new Set(page.match(/--[a-z][a-z-]*/g))
  for (const command of commands) expect(page).toContain(`| \`${command}`)
  expect([...flags].filter((flag) => !described.has(flag))).toEqual([])
  expect([...described].filter((flag) => !flags.has(flag))).toEqual(['--version'])
})
