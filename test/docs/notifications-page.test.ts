import { spawnSync } from 'node:child_process'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { parseConfig } from '../../server/config/parse-config.ts'
import { textOf } from './documents.ts'

const page = textOf('docs/notifications.md')
const blocksOf = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text)

const secret = `whsec_${Buffer.from('a key of these tests').toString('base64')}`
const [id, body] = ['7b0c9f6e', '{"type":"deployment.failed","name":"Größe"}']
const now = new Date()
const variables = {
  PATH: process.env.PATH,
  WEBHOOK_ID: id,
  WEBHOOK_TIMESTAMP: String(Math.floor(now.getTime() / 1_000)),
  WEBHOOK_SIGNATURE: `v1,AAAA ${new Webhook(secret).sign(id, now, body)}`,
  SECRET: secret,
}

test.for([
  ['js', process.execPath, ['--input-type=module', '-e']],
  ['python', 'python3', ['-c']],
  ['bash', 'bash', ['--norc', '-ec']],
] as const)('the code in %s verifies the signature of a library, and no other', ([language, program, args]) => {
  const [code = ''] = blocksOf(language)
  const run = (change: object, input = body) =>
    spawnSync(program, [...args, code], { env: { ...variables, ...change }, input, encoding: 'utf8' })
  expect(run({})).toMatchObject({ status: 0, stderr: '' })
  expect(run({}, `${body} `)).toMatchObject({ status: 1 })
  expect(run({ WEBHOOK_ID: 'other' })).toMatchObject({ status: 1 })
  expect(run({ SECRET: `whsec_${Buffer.from('another key').toString('base64')}` })).toMatchObject({ status: 1 })
})

test('each recipe is a valid configuration', () => {
  const recipes = blocksOf('yaml').filter((text) => text.startsWith('notifications:'))
  expect(recipes).toHaveLength(6)
  for (const recipe of recipes) expect(parseConfig(recipe, undefined)).not.toHaveProperty('issues')
})
