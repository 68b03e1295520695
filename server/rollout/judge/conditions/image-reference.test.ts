import { describe, expect, test } from 'vitest'
import { imagesOf, isImageRunning, parseImageReference } from './image-reference.ts'

test.for([
  { text: 'nginx', repository: 'docker.io/library/nginx', tag: 'latest', digest: undefined },
  { text: 'team/app:v1', repository: 'docker.io/team/app', tag: 'v1', digest: undefined },
  { text: 'docker.io/nginx:1', repository: 'docker.io/library/nginx', tag: '1', digest: undefined },
  { text: 'index.docker.io/library/nginx:1', repository: 'docker.io/library/nginx', tag: '1', digest: undefined },
  { text: 'localhost:5000/app', repository: 'localhost:5000/app', tag: 'latest', digest: undefined },
  { text: 'reg.example:443/a/b:v1@sha256:abc', repository: 'reg.example:443/a/b', tag: 'v1', digest: 'sha256:abc' },
  { text: 'reg.example/a@sha256:abc', repository: 'reg.example/a', tag: undefined, digest: 'sha256:abc' },
])('$text is $repository, tag $tag, digest $digest', ({ text, ...parsed }) => {
  expect(parseImageReference(text)).toEqual(parsed)
})

describe('whether an image that runs is the one that was asked for', () => {
  test.for([
    { image: 'reg.example/shop', tag: 'v1', running: 'reg.example/shop:v1', is: true },
    { image: 'reg.example/shop', tag: 'v1', running: 'reg.example/shop:v1@sha256:abc', is: true },
    { image: 'reg.example/shop', tag: 'v1', running: 'reg.example/shop:v10', is: false },
    { image: 'reg.example/shop', tag: 'v1', running: 'reg.example/shop-worker:v1', is: false },
    { image: 'reg.example/shop', tag: 'v1', running: 'other.example/shop:v1', is: false },
    { image: 'reg.example/shop', tag: 'v1', running: 'reg.example/shop@sha256:abc', is: false },
    { image: 'reg.example/shop', tag: 'sha256:abc', running: 'reg.example/shop:v1@sha256:abc', is: true },
    { image: 'reg.example/shop', tag: 'sha256:abc', running: 'reg.example/shop:v1', is: false },
    { image: 'reg.example/shop', tag: 'v1@sha256:abc', running: 'reg.example/shop:v1@sha256:abc', is: true },
    { image: 'reg.example/shop', tag: 'v1@sha256:abc', running: 'reg.example/shop:v1', is: false },
    { image: 'reg.example/shop', tag: 'v1@sha256:abc', running: 'reg.example/shop@sha256:abc', is: false },
    { image: 'reg.example/shop', tag: 'v1@sha256:abc', running: 'reg.example/shop:v1@sha256:abd', is: false },
    { image: 'reg.example/shop', tag: 'v1@sha256:abc', running: 'reg.example/shop:v2@sha256:abc', is: false },
    { image: 'reg.example/shop', tag: '@sha256:abc', running: 'reg.example/shop@sha256:abc', is: false },
    { image: 'nginx', tag: 'latest', running: 'docker.io/library/nginx', is: true },
    { image: 'nginx', tag: '1.27', running: 'proxy.example/hub/nginx:1.27', is: true },
    { image: 'reg.example/shop', tag: 'v1', running: 'proxy.example/hub/reg.example/shop:v1', is: true },
    {
      image: 'proxy.example/hub/reg.example/shop',
      tag: 'v1',
      running: 'proxy.example/hub/reg.example/shop:v1',
      is: true,
    },
  ])('$image:$tag against $running is $is', ({ image, tag, running, is }) => {
    expect(isImageRunning({ image, tag }, [running], { registryProxy: 'https://proxy.example/hub/' })).toBe(is)
  })

  test('without the proxy setting a proxied image is another repository', () => {
    expect(imagesOf({ image: 'nginx' }, ['proxy.example/hub/nginx:1'], { registryProxy: undefined })).toEqual([])
  })
})
