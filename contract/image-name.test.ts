import { expect, test } from 'vitest'
import { endsInTag, repositoryOf, splitReference } from './image-name.ts'

const sha256 = `sha256:${'ab'.repeat(32)}`

test.for<[string, boolean]>([
  ['nginx', false],
  ['host:5000/team/nginx', false],
  ['http://host/nginx', false],
  ['javascript:alert(1)', false],
  ['nginx:', false],
  ['nginx@home', false],
  ['nginx:1', true],
  ['host:5000/nginx:v1.2_3-4', true],
  ['host:5000', true],
  [`nginx@${sha256}`, true],
  [`host:5000/nginx:1@${sha256}`, true],
])('%s ends in a tag or digest: %s', ([image, expected]) => expect(endsInTag(image)).toBe(expected))

test.for([
  ['nginx', 'docker.io/library/nginx'],
  ['index.docker.io/nginx', 'docker.io/library/nginx'],
  ['team/app', 'docker.io/team/app'],
  ['Registry.Example/Team/app', 'registry.example/Team/app'],
  ['localhost/app', 'localhost/app'],
])('%s is %s', ([name = '', repository]) => expect(repositoryOf(name)).toBe(repository))

test.for([
  ['nginx', 'nginx', ''],
  ['nginx:1', 'nginx', '1'],
  ['host:5000/team/nginx', 'host:5000/team/nginx', ''],
  ['host:5000/team/nginx:v1', 'host:5000/team/nginx', 'v1'],
  [`host:5000/nginx:v1@${sha256}`, 'host:5000/nginx', 'v1'],
  [`host:5000/nginx@${sha256}`, 'host:5000/nginx', sha256],
])('%s is %s in version %s', ([reference = '', name, version]) =>
  expect(splitReference(reference)).toEqual({ name, version }),
)
