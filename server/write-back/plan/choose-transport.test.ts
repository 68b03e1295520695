import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { chooseTransport } from './choose-transport.ts'
import { parseRepositoryAddress } from './repository-address.ts'

const knownHosts = () => 'other.example,git.example ssh-ed25519 AAAA\n# a comment\n'
const key = { sshKeyPath: '/keys/id', knownHostsPath: '/keys/known_hosts', knownHosts }
const noKey = { sshKeyPath: undefined, knownHostsPath: undefined, knownHosts: () => '' }
const token = { user: 'bot', password: 'token' }

const hashed = (host: string) => {
  const salt = Buffer.alloc(20, 7)
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(host).digest('base64')} ssh-ed25519 AAAA`
}

const transport = (text: string, settings: (typeof key | typeof noKey) & { appHost?: string }, ...hosts: string[]) => {
  const address = parseRepositoryAddress(text)
  const gitCredentials = () => new Map(hosts.map((host) => [host, token]))
  return address && chooseTransport(address, { appHost: undefined, ...settings, gitCredentials })?.text
}

describe('a push uses a transport for which a key or a token is set (product: write-back)', () => {
  const spellings = [
    'git@git.example:team/deploy',
    'ssh://git@git.example:22/team/deploy',
    'https://git.example/team/deploy',
  ]

  test.for(spellings)('%s stays as it is where its own has one', (text) => {
    expect(transport(text, key, 'git.example')).toBe(text)
  })
  test.for(spellings)('%s goes over SSH where only a key is set', (text) => {
    const expected = text.startsWith('https') ? 'git@git.example:team/deploy.git' : text
    expect(transport(text, key, 'other.example')).toBe(expected)
  })
  test.for(spellings)('%s goes over https where only a token is set', (text) => {
    const expected = text.startsWith('https') ? text : 'https://git.example/team/deploy.git'
    expect(transport(text, noKey, 'git.example')).toBe(expected)
  })
  test.for(spellings)('%s has none where nothing is set', (text) => {
    expect(transport(text, noKey, 'other.example')).toBeUndefined()
  })
  test.for([
    { knows: 'git.example ssh-ed25519 AAAA', is: true },
    { knows: 'GIT.example ssh-ed25519 AAAA', is: true },
    { knows: '|1|4cGxLIbMDjPMnDCSmpLJRS85v/k=|dPcRGqX94KTRS2NmsYM6zwm00aM= ssh-ed25519 AAAA', is: false },
    { knows: hashed('git.example'), is: true },
    { knows: 'git.example.org ssh-ed25519 AAAA', is: false },
    { knows: '', is: false },
  ])('an https address goes over SSH only to a known host: $knows', ({ knows, is }) => {
    const settings = { ...key, knownHosts: () => knows }
    expect(transport('https://git.example/team/deploy', settings) !== undefined).toBe(is)
  })
  test.for([
    { text: 'ssh://git@git.example:2222/team/deploy', settings: noKey, host: 'git.example' },
    { text: 'alice@git.example:team/deploy', settings: noKey, host: 'git.example' },
    { text: 'https://git.example:8443/team/deploy', settings: key, host: 'git.example' },
  ])('$text has no other one', ({ text, settings, host }) => {
    expect(transport(text, settings, host)).toBeUndefined()
  })
  test.for([
    ['git.example', 'https://git.example/team/deploy', 'https://git.example/team/deploy'],
    ['git.example', 'https://git.example:443/team/deploy', 'https://git.example:443/team/deploy'],
    ['git.example:8443', 'https://git.example:8443/team/deploy', 'https://git.example:8443/team/deploy'],
    ['git.example', 'git@git.example:team/deploy', 'https://git.example/team/deploy.git'],
    ['git.example', 'https://git.example:8443/team/deploy', undefined],
    ['git.example', 'https://evil.example/team/deploy', undefined],
  ] as const)('the GitHub App of %s serves %s over %s', ([appHost, text, expected]) => {
    expect(transport(text, { ...noKey, appHost })).toBe(expected)
  })
  test.for([
    { text: 'https://git.example:8443/team/deploy', host: 'git.example:8443' },
    { text: 'https://git.example/team/deploy', host: 'git.example:443' },
    { text: 'https://git.example:443/team/deploy', host: 'git.example' },
  ])('the token of $host is for $text', ({ text, host }) => {
    expect(transport(text, noKey, host)).toBe(text)
  })
})
