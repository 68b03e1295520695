import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { nodeEnvironment, nodeFlags } from '../../server/node-flags.mjs'
import { settingDefaults } from '../../server/settings/definitions.ts'
import { variableNames } from '../../server/settings/setting-texts.ts'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

test('the image starts the service with the flags and the environment of node-flags.mjs', () => {
  const dockerfile = read('Dockerfile')
  const [, command = ''] = /^CMD (.+)\n$/m.exec(dockerfile.slice(dockerfile.indexOf('AS service'))) ?? []
  expect(JSON.parse(command)).toEqual(['node', ...nodeFlags, 'server/main.ts'])
  for (const [name, value] of Object.entries(nodeEnvironment)) expect(dockerfile).toContain(` ${name}=${value} `)
})

test('the image has the client by the name of its package', () => {
  const { bin } = JSON.parse(read('cli/package.json'))
  for (const [name, file] of Object.entries(bin))
    expect(read('Dockerfile')).toContain(`RUN ln -s /app/cli/${file} /usr/local/bin/${name}\n`)
})

test('compose.yaml names settings only', () => {
  const known = [...settingDefaults.keys()].flatMap(variableNames)
  for (const name of Object.keys(parse(read('compose.yaml')).services.watcher.environment))
    expect(known).toContain(name)
})
