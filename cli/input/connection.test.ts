import { describe, expect, test } from 'vitest'
import { argoWatcherVariables } from './argo-watcher-variables.ts'
import { connect, credentialOf } from './connection.ts'

const withServer = { ARGO_WATCHER_URL: 'http://old.example' }
const headersOf = (variables: Record<string, string>, token = true) =>
  credentialOf({ token }, variables, argoWatcherVariables(variables))?.headers

describe('the credential', () => {
  test.for([
    ['none', {}, undefined],
    ['a scoped token', { WATCHER_TOKEN: 'dwt_abc' }, { authorization: 'Bearer dwt_abc' }],
    ['a JWT', { WATCHER_TOKEN: 'a.b-c.d_e' }, { authorization: 'Bearer a.b-c.d_e' }],
    ['a static token', { WATCHER_TOKEN: 'demo' }, { 'watcher-deploy-token': 'demo' }],
    ['with the newline of a file', { WATCHER_TOKEN: ' demo\n' }, { 'watcher-deploy-token': 'demo' }],
    ['with its scheme', { WATCHER_TOKEN: 'Bearer a.b.c' }, { authorization: 'Bearer a.b.c' }],
    ["argo-watcher's", { ...withServer, ARGO_WATCHER_DEPLOY_TOKEN: 'old' }, { 'watcher-deploy-token': 'old' }],
    [
      "argo-watcher's JWT",
      { ...withServer, ARGO_WATCHER_DEPLOY_TOKEN: 'old', BEARER_TOKEN: 'x' },
      { authorization: 'Bearer x' },
    ],
    ['its own first', { ...withServer, WATCHER_TOKEN: 'demo', BEARER_TOKEN: 'x' }, { 'watcher-deploy-token': 'demo' }],
    ["argo-watcher's without its address", { BEARER_TOKEN: 'x', ARGO_WATCHER_DEPLOY_TOKEN: 'old' }, undefined],
  ] as const)('%s', ([, variables, headers]) => expect(headersOf(variables)).toEqual(headers))

  test('--no-token sends none', () => expect(headersOf({ WATCHER_TOKEN: 'demo' }, false)).toBeUndefined())
  test('one that no header can hold is refused without being shown', () => {
    expect(() => headersOf({ WATCHER_TOKEN: 'se cret' })).toThrow(
      /^WATCHER_TOKEN: must not hold blanks or control characters$/,
    )
  })
})

describe('the server', () => {
  const serverOf = (server: string | undefined, variables: Record<string, string> = {}) =>
    connect(
      { token: true, ...(server === undefined ? {} : { server }) },
      variables,
      argoWatcherVariables(variables),
      () => {},
    ).server.href

  test.for([
    ['https://watcher.example/', {}, 'https://watcher.example/'],
    ['https://watcher.example/path//?a#b', {}, 'https://watcher.example/path'],
    [undefined, { WATCHER_URL: 'http://own.example', ...withServer }, 'http://own.example/'],
    [undefined, withServer, 'http://old.example/'],
  ] as const)('%s', ([server, variables, href]) => expect(serverOf(server, variables)).toBe(href))

  test.for([
    [undefined, 'no server: give --server or set WATCHER_URL'],
    ['watcher.example', 'server watcher.example: must be an address such as https://watcher.example.com'],
    ['ftp://watcher.example', 'must be an address such as'],
    ['https://ada:pw@watcher.example', 'server: must not hold a user or a password'],
  ] as const)('%s is refused', ([server, message]) => expect(() => serverOf(server)).toThrow(message))

  test.for([
    ['/no/such/file', 'ENOENT'],
    [import.meta.filename, 'holds no PEM certificate'],
  ] as const)('--ca-file %s is refused', ([caFile, message]) =>
    expect(() => connect({ token: true, server: 'https://watcher.example', caFile }, {}, undefined, () => {})).toThrow(
      message,
    ),
  )
})
