import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Neither the selectors of what it finds nor a second look at the style sheets, which take a quarter of its time. */
const options = `resultTypes: ['violations'], iframes: false, selectors: false, preload: false,
  rules: { 'target-size': { enabled: true } }`

/** What axe finds on a page: the rule and the elements. Pages have no frames, and passes are not reported. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  return page.evaluate<string[]>(`
    axe.run(document, { ${options} })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`)
}

/** How far a page can be scrolled sideways, in pixels. */
export const sidewaysScroll = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
