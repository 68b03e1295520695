import { expect, test } from 'vitest'
import { escapeMarkdown, linkTo } from './markdown.ts'

test.for([
  ['a\n# b', 'a \\# b'],
  ['<b>[x](y)</b> `z`', '\\<b\\>\\[x\\](y)\\</b\\> \\`z\\`'],
  ['a | b', 'a \\| b'],
  ['https://x.example www.y.example', 'https\\://x.example www\\.y.example'],
  ['shop 1.1.0 → 1.2.0: 2 of 2 Pods', 'shop 1.1.0 → 1.2.0: 2 of 2 Pods'],
] as const)('%j stays a text', ([text, markdown]) => expect(escapeMarkdown(text)).toBe(markdown))

test.for([
  ['https://x.example/a?b=(c)', '[x](<https://x.example/a?b=(c)>)'],
  ['https://x.example/a> <b\n', '[x](<https://x.example/a%3E%20%3Cb>)'],
  ['javascript:alert(1)', ''],
  ['/relative', ''],
] as const)('a link to %j', ([address, link]) => expect(linkTo('x', address)).toBe(link))
