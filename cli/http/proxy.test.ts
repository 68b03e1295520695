import { expect, test } from 'vitest'
import { proxyFor } from './proxy.ts'

const proxy = 'http://proxy.example:3128'

test.for([
  ['none is set', 'https://watcher.example', {}, undefined],
  ['https', 'https://watcher.example', { HTTPS_PROXY: proxy }, 'proxy.example:3128'],
  ['lower case wins', 'https://watcher.example', { HTTPS_PROXY: proxy, https_proxy: 'http://other:1' }, 'other:1'],
  ['without a scheme', 'https://watcher.example', { HTTPS_PROXY: 'proxy.example:3128' }, 'proxy.example:3128'],
  ['of the other scheme', 'http://watcher.example', { HTTPS_PROXY: proxy }, undefined],
  ['http', 'http://watcher.example', { HTTP_PROXY: proxy }, 'proxy.example:3128'],
  ['empty', 'https://watcher.example', { HTTPS_PROXY: '' }, undefined],
  ['exempt by name', 'https://watcher.example', { HTTPS_PROXY: proxy, NO_PROXY: 'a, watcher.example' }, undefined],
  ['exempt by domain', 'https://watcher.team.example', { HTTPS_PROXY: proxy, NO_PROXY: '.team.example' }, undefined],
  ['exempt with a star', 'https://watcher.team.example', { HTTPS_PROXY: proxy, NO_PROXY: '*.team.example' }, undefined],
  [
    'only a part of a name',
    'https://nowatcher.example',
    { HTTPS_PROXY: proxy, NO_PROXY: 'watcher.example' },
    'proxy.example:3128',
  ],
  ['all exempt', 'https://watcher.example', { HTTPS_PROXY: proxy, NO_PROXY: '*' }, undefined],
  [
    'this port exempt',
    'https://watcher.example:8443',
    { HTTPS_PROXY: proxy, NO_PROXY: 'watcher.example:8443' },
    undefined,
  ],
  [
    'another port exempt',
    'https://watcher.example',
    { HTTPS_PROXY: proxy, NO_PROXY: 'watcher.example:8443' },
    'proxy.example:3128',
  ],
  [
    'the usual port exempt',
    'https://watcher.example',
    { HTTPS_PROXY: proxy, NO_PROXY: 'watcher.example:443' },
    undefined,
  ],
  ['exempt by network', 'https://10.1.2.3', { HTTPS_PROXY: proxy, no_proxy: '10.0.0.0/8' }, undefined],
  [
    'another network',
    'https://10.1.2.3',
    { HTTPS_PROXY: proxy, no_proxy: '192.168.0.0/16,10.0.0.0/99' },
    'proxy.example:3128',
  ],
  ['exempt IPv6', 'https://[::1]:8443', { HTTPS_PROXY: proxy, no_proxy: '::1' }, undefined],
] as const)('%s', ([, address, variables, host]) => {
  expect(proxyFor(new URL(address), variables)?.host).toBe(host)
})

test.for(['http://pro xy:pass', 'socks5://pass.example:1080', 'http://ada:%zzpass@proxy.example'])(
  '%s is refused, and not repeated',
  (text) => {
    const message = 'HTTPS_PROXY: must be an address such as http://proxy.example.com:3128'
    expect(() => proxyFor(new URL('https://watcher.example'), { HTTPS_PROXY: text })).toThrow(
      expect.objectContaining({ message, code: 2 }),
    )
  },
)
