/** How a page is looked at. */
export type Combination = { readonly scheme: 'light' | 'dark'; readonly width: number }

type FlowCombination = Combination & { readonly looks: readonly Combination[] }

/** What the service has: an identity provider or none, and whether reading needs a credential. */
export type Kind = 'without a provider' | 'open reading' | 'closed reading'

export const everywhere: readonly Kind[] = ['open reading', 'without a provider', 'closed reading']
export const withProvider: readonly Kind[] = ['open reading', 'closed reading']

const combinations: readonly Combination[] = (['light', 'dark'] as const).flatMap((scheme) =>
  [1440, 390, 320].map((width) => ({ scheme, width })),
)
const triesAll = process.env.BROWSER_COMBINATIONS === 'all'

/**
 * Where one page is looked at: in all combinations with BROWSER_COMBINATIONS=all; else in the first of its kinds, and there in
 * one combination, which changes from row to row.
 */
export function combinationsOf(kinds: readonly Kind[], kind: Kind, row: number): readonly Combination[] {
  if (triesAll) return kinds.includes(kind) ? combinations : []
  return kinds[0] === kind ? combinations.slice(row % combinations.length).slice(0, 1) : []
}

/** Where one flow is tried: at each width once, in changing schemes; what it shows is looked at in both. */
export function flowCombinationsOf(kinds: readonly Kind[], kind: Kind, row: number): readonly FlowCombination[] {
  const looks = combinationsOf(kinds, kind, row)
  if (!triesAll) return looks.map((look) => ({ ...look, looks }))
  return looks
    .filter((_, index) => index % 2 === 0)
    .map((look) => ({ ...look, looks: looks.filter(({ width }) => width === look.width) }))
}
