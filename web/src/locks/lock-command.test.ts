import { expect, test } from 'vitest'
import { lockCommand } from './lock-command.ts'

test('the command carries the reason through a shell, whatever it holds', () => {
  const command = lockCommand('http://127.0.0.1:8080', false, `it's "$HOME" $(id)`)
  expect(command.split('\n').at(-1)).toBe(String.raw`  -d '{"reason":"it'\''s \"$HOME\" $(id)"}'`)
})

test('the command of a locked service releases it', () => {
  expect(lockCommand('http://127.0.0.1:8080', true, 'OPS-1')).toBe(
    'curl --fail-with-body -X DELETE http://127.0.0.1:8080/api/v1/deploy-lock \\\n  -H "Oidc-Authorization: Bearer $TOKEN"',
  )
})
