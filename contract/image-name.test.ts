import { expect, test } from 'vitest'
import { repositoryOf, tagIndexOf } from './image-name.ts'

test.for<[string, string | undefined]>([
  ['nginx', undefined],
  ['host:5000/team/nginx', undefined],
  ['http://host/nginx', undefined],
  ['nginx:1', ':1'],
  ['host:5000/nginx:1', ':1'],
  ['host:5000', ':5000'],
  ['nginx@sha256:ab', '@sha256:ab'],
  ['host:5000/nginx@sha256:ab', '@sha256:ab'],
  ['nginx:1@sha256:ab', ':1@sha256:ab'],
  ['a/b@sha256:c/d', '@sha256:c/d'],
])('behind the name of %s stands %s', ([image, tag]) => {
  const index = tagIndexOf(image)
  expect(index < 0 ? undefined : image.slice(index)).toBe(tag)
})

test.for([
  ['nginx', 'docker.io/library/nginx'],
  ['index.docker.io/nginx', 'docker.io/library/nginx'],
  ['team/app', 'docker.io/team/app'],
  ['Registry.Example/Team/app', 'registry.example/Team/app'],
  ['localhost/app', 'localhost/app'],
])('%s is %s', ([name = '', repository]) => expect(repositoryOf(name)).toBe(repository))
