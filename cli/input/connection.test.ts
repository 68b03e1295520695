import { describe, expect, test } from 'vitest'
import { argoWatcherVariables } from './argo-watcher-variables.ts'
import { connect } from './connection.ts'

const withServer = { ARGO_WATCHER_URL: 'http://old.example' }

describe('the server', () => {
  const serverOf = (server: string | undefined, variables: Record<string, string> = {}) =>
    connect(
      { token: true, ...(server === undefined ? {} : { server }) },
      variables,
      argoWatcherVariables(variables),
      () => {},
    ).http.server.href

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
