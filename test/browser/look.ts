import { expect } from 'vitest'
import type { OpenedPage } from '../support/browser.ts'
import { findViolations, sidewaysScroll } from '../support/find-violations.ts'
import type { Combination } from './combinations.ts'

/** Requires of the page, as it is, that axe finds nothing and nothing scrolls sideways. */
export async function lookAt({ page }: OpenedPage, combinations: readonly Combination[]): Promise<void> {
  const found: string[] = []
  for (const { scheme, width } of combinations) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 900 })
    const issues = [...(await findViolations(page)), ...((await sidewaysScroll(page)) > 0 ? ['scrolls sideways'] : [])]
    found.push(...issues.map((issue) => `${scheme}, ${width} px: ${issue}`))
  }
  expect(found).toEqual([])
}

/** Requires that the browser objected to nothing but what was to come, and asked only the service. */
export function expectQuiet({ complaints, outside }: OpenedPage, expected = /^$/): void {
  expect({ complaints: complaints.filter((text) => !expected.test(text)), outside }).toEqual({
    complaints: [],
    outside: [],
  })
}
