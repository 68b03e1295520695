/** A unit stands after it. */
export const noBreak = '\u00a0'

/** "1,234" */
export const figure = (count: number): string => count.toLocaleString('en')
