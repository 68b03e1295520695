/** How a page is looked at. */
export type Combination = { readonly scheme: 'light' | 'dark'; readonly width: number }

/** What the service has: an identity provider or none, and whether reading needs a credential. */
export type Kind = 'without a provider' | 'open reading' | 'closed reading'

export const everywhere: readonly Kind[] = ['open reading', 'without a provider', 'closed reading']
export const withProvider: readonly Kind[] = ['open reading', 'closed reading']

const combinations: readonly Combination[] = (['light', 'dark'] as const).flatMap((scheme) =>
  [1440, 390, 320].map((width) => ({ scheme, width })),
)
const triesAll = process.env.BROWSER_COMBINATIONS === 'all'

/**
 * Where one flow is tried, or one page looked at: in all combinations with BROWSER_COMBINATIONS=all; else in the first of
 * its kinds, and there in one combination, which changes from row to row.
 */
export function combinationsOf(kinds: readonly Kind[], kind: Kind, row: number): readonly Combination[] {
  if (triesAll) return kinds.includes(kind) ? combinations : []
  return kinds[0] === kind ? combinations.slice(row % combinations.length).slice(0, 1) : []
}
