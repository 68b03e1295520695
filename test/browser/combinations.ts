/** How a page is looked at. */
export type Combination = { readonly scheme: 'light' | 'dark'; readonly width: number }

/** What the service has: an identity provider or none, and whether reading needs a credential. */
export type Kind = 'without a provider' | 'open reading' | 'closed reading'

export const everywhere: readonly Kind[] = ['open reading', 'without a provider', 'closed reading']
export const withProvider: readonly Kind[] = ['open reading', 'closed reading']

/** All of them. */
export const combinations: readonly Combination[] = (['light', 'dark'] as const).flatMap((scheme) =>
  [1440, 390, 320].map((width) => ({ scheme, width })),
)
