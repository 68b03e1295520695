import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { nodeEnvironment, nodeFlags } from '../../server/node-flags.mjs'
import { settingDefaults } from '../../server/settings/definitions.ts'
import { waysToGive } from '../../server/settings/setting-texts.ts'
import { checkout, commandOf, environmentOf, letIn, parseDockerfile, textsOf } from './dockerfile.ts'

const stages = parseDockerfile()
const [service] = stages.slice(-1)
if (!service) throw new Error('the Dockerfile has no stage')

test('the image is that of the service, which runs as a numeric user with the flags of node-flags.mjs', () => {
  expect(service.name).toBe('service')
  expect(textsOf(service, 'USER')).toEqual(['10001:10001'])
  expect(commandOf(service, 'CMD')).toEqual(['node', ...nodeFlags, 'server/main.ts'])
  expect(environmentOf(service)).toMatchObject({ ...nodeEnvironment, NODE_ENV: 'production' })
})

test('what is copied from the checkout is there, and let in by .dockerignore', () => {
  const sources = stages
    .flatMap((stage) => textsOf(stage, 'COPY'))
    .filter((text) => !text.startsWith('--from'))
    .flatMap((text) => text.split(' ').slice(0, -1))
  expect(sources.length).toBeGreaterThan(5)
  for (const source of sources) {
    expect(existsSync(`${checkout}${source}`), source).toBe(true)
    expect(letIn()).toContain(source)
  }
})

test('a stage is made from the base image, or from one before it', () => {
  const known = [/^\$\{NODE_IMAGE\}/.test(stages[0]?.from ?? '') ? (stages[0]?.from ?? '') : '']
  for (const stage of stages) {
    const others = textsOf(stage, 'COPY').flatMap((text) => /^--from=(\w+)/.exec(text)?.[1] ?? [])
    for (const from of [stage.from, ...others]) expect(known).toContain(from)
    known.push(stage.name)
  }
})

test('compose.yaml names settings only, and stages that there are', () => {
  const { services } = parse(readFileSync(`${checkout}compose.yaml`, 'utf8'))
  const known = [...settingDefaults.keys()].flatMap(waysToGive)
  for (const name of Object.keys(services.watcher.environment)) expect(known).toContain(name)
  for (const { build } of [services.simulator, services.watcher])
    expect(stages.map(({ name }) => name)).toContain(build.target)
})
