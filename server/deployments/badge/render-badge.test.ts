import { describe, expect, test } from 'vitest'
import { renderBadge } from './render-badge.ts'

const image = (tag: string, name = 'r/shop') => ({ image: name, tag })
const titleOf = (svg: string) => /<title>(.*)<\/title>/s.exec(svg)?.[1]
const groundOf = (svg: string) => /<rect [^>]*fill="([^"]+)"/.exec(svg)?.[1]
const widthOf = (svg: string) => Number(/<svg [^>]*width="(\d+)"/.exec(svg)?.[1])

describe('a badge', () => {
  test.for([
    { task: { status: 'deployed', images: [image('v1.2.3')] }, says: 'deployed v1.2.3', ground: '#1a7f37' },
    {
      task: { status: 'deployed', images: [image('v1.2.3'), image('v1.2.3', 'r/worker')] },
      says: 'deployed v1.2.3',
      ground: '#1a7f37',
    },
    {
      task: { status: 'deployed', images: [image('v1'), image('v2', 'r/worker')] },
      says: 'deployed 2 images',
      ground: '#1a7f37',
    },
    { task: { status: 'failed', images: [image('v1')] }, says: 'failed', ground: '#cf222e' },
    { task: { status: 'aborted', images: [image('v1')] }, says: 'aborted', ground: '#8a5d00' },
    { task: { status: 'in progress', images: [image('v1')] }, says: 'in progress', ground: '#0969da' },
    { task: undefined, says: 'unknown', ground: '#656d76' },
  ] as const)('says $says', ({ task, says, ground }) => {
    const svg = renderBadge(task)
    expect([titleOf(svg), groundOf(svg)]).toEqual([says, ground])
    expect(svg).toContain(`>${says}</text>`)
    expect(svg).toContain(`aria-label="${says}"`)
  })

  test.for([
    ['<script>', '&#60;script&#62;'],
    [`"onload='x'&`, '&#34;onload=&#39;x&#39;&#38;'],
    ['\u0000\uffff\ud800', '\ufffd\ufffd\ufffd'],
  ] as const)('escapes %j everywhere', ([tag, escaped]) => {
    const svg = renderBadge({ status: 'deployed', images: [image(tag)] })
    expect(svg.split(escaped)).toHaveLength(4)
    expect(svg.match(/<(?!\/?(?:svg|title|rect|text)\b)/)).toBeNull()
  })

  test('is as wide as its text, of which it shows the beginning', () => {
    const widths = ['v1', 'v1.2.3', 'WWWWWW', 'x'.repeat(40)].map((tag) =>
      widthOf(renderBadge({ status: 'deployed', images: [image(tag)] })),
    )
    expect(widths).toEqual(widths.toSorted((one, other) => one - other))
    const long = renderBadge({ status: 'deployed', images: [image('x'.repeat(255))] })
    expect(titleOf(long)).toBe(`deployed ${'x'.repeat(39)}…`)
    expect(widthOf(long)).toBeLessThan(400)
  })
})
