import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

type Package = { version: string; resolved?: string; integrity?: string; dev?: boolean; optional?: boolean }
const { packages }: { packages: Record<string, Package> } = JSON.parse(read('package-lock.json'))
const installed = Object.entries(packages).filter(([path]) => path !== '')

test('T47 no package runs a script when it is installed', () => {
  expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true')
})

test('T47 each package is pinned to its content, and none comes from elsewhere than a registry', () => {
  const elsewhere = ({ resolved = 'https://' }: Package) => !resolved.startsWith('https://')
  expect(installed.filter(([, one]) => one.integrity === undefined || elsewhere(one))).toEqual([])
})

test('T47 the service itself needs at most 25 packages directly and 150 in all', () => {
  expect(Object.keys(JSON.parse(read('package.json')).dependencies).length).toBeLessThanOrEqual(25)
  expect(installed.filter(([, { dev, optional }]) => !dev && !optional).length).toBeLessThanOrEqual(150)
})
