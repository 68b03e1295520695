import { expect, test } from 'vitest'
import { httpUrl } from './http-url.ts'

test.for([
  ['https://git.example/shop', 'https://git.example/shop'],
  ['HTTP://git.example', 'http://git.example/'],
  ['https://user:token@git.example/shop.git', 'https://git.example/shop.git'],
  ['javascript:alert(1)', undefined],
  [' java\nscript:alert(1)', undefined],
  ['data:text/html,<b>', undefined],
  ['vbscript:x', undefined],
  ['//git.example', undefined],
  ['/relative', undefined],
  ['git@git.example:shop/deployments.git', undefined],
  ['ssh://git@git.example/shop.git', undefined],
  ['', undefined],
  [undefined, undefined],
] as const)('the link for %s is %s', ([text, link]) => expect(httpUrl(text)).toBe(link))
