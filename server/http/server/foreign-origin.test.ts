import { describe, expect, test } from 'vitest'
import { isForeignHost, isForeignOrigin } from './foreign-origin.ts'

describe('a page of another origin', () => {
  test.for<[Record<string, string>, boolean]>([
    [{}, false],
    [{ origin: 'http://watcher.example' }, false],
    [{ origin: 'https://watcher.example' }, false],
    [{ origin: 'http://watcher.example', 'sec-fetch-site': 'same-origin' }, false],
    [{ origin: 'https://evil.example' }, true],
    [{ origin: 'null' }, true],
    [{ origin: '' }, true],
    [{ origin: 'https://watcher.example.evil.example' }, true],
    [{ origin: 'https://evilwatcher.example' }, true],
    [{ origin: 'https://sub.watcher.example' }, true],
    [{ origin: 'https://watcher.example:8443' }, true],
    [{ origin: 'https://watcher.example/' }, true],
    [{ origin: 'https://user@watcher.example' }, true],
    [{ origin: 'watcher.example' }, true],
    [{ 'sec-fetch-site': 'cross-site' }, true],
  ])('%j is foreign: %s', ([headers, foreign]) => {
    expect(isForeignOrigin({ host: 'watcher.example', ...headers }, undefined)).toBe(foreign)
  })

  test.for<[string, string, boolean]>([
    ['http://localhost:8080', 'localhost:8080', false],
    ['http://watcher.example', 'watcher.example:80', false],
    ['http://localhost:3000', 'localhost:8080', true],
    ['http://[::1]:8080', '[::1]:8080', false],
  ])('%s asking %s is foreign: %s', ([origin, host, foreign]) => {
    expect(isForeignOrigin({ host, origin }, undefined)).toBe(foreign)
  })

  test.for<[Record<string, string>, string, boolean]>([
    [{ 'sec-fetch-site': 'same-origin' }, 'watcher.example', false],
    [{ 'sec-fetch-site': 'same-origin' }, 'Watcher.example:443', false],
    [{ 'sec-fetch-site': 'same-origin' }, 'rebound.example', true],
    [{ 'sec-fetch-dest': 'script' }, 'rebound.example', true],
    [{ 'sec-fetch-mode': 'navigate' }, 'rebound.example', true],
    [{ origin: 'https://watcher.example' }, 'rebound.example', true],
    [{ origin: 'http://rebound.example' }, 'rebound.example', true],
    [{ origin: 'http://rebound.example' }, 'watcher.example:8443', true],
    [{ origin: 'http://rebound.example' }, '', true],
    [{}, 'watcher.svc:8080', false],
    [{ 'sec-fetch-mode': 'cors' }, 'watcher.svc:8080', false],
  ])('with PUBLIC_URL, a browser by %j at the host %s is at a foreign one: %s', ([headers, host, foreign]) => {
    expect(isForeignHost(headers, host, 'https://watcher.example')).toBe(foreign)
  })

  test.for<[string, boolean]>([
    ['https://watcher.example', false],
    ['http://watcher.example', true],
    ['https://inner.example', true],
  ])('with PUBLIC_URL, %s is foreign: %s', ([origin, foreign]) => {
    expect(isForeignOrigin({ host: 'inner.example', origin }, 'https://watcher.example/')).toBe(foreign)
  })
})
