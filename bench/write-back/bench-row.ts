const maxCellLength = 160

/** One line of the table. Without a bar it is told for comparison. */
export type BenchRow = {
  readonly what: string
  readonly found: string
  readonly bar?: string
  readonly isMet?: boolean
}

const show = (value: number) =>
  Number.isInteger(value) || Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) < 10 ? 2 : 1)

export const atMost = (what: string, value: number, bar: number, unit = '', note = ''): BenchRow => ({
  what,
  found: `${show(value)}${unit}${note === '' ? '' : ` (${note})`}`,
  bar: `<= ${show(bar)}${unit}`,
  isMet: value <= bar,
})

export const atLeast = (what: string, value: number, bar: number, unit = '', note = ''): BenchRow => ({
  what,
  found: `${show(value)}${unit}${note === '' ? '' : ` (${note})`}`,
  bar: `>= ${show(bar)}${unit}`,
  isMet: value >= bar,
})

export const exactly = (what: string, value: number, bar: number, note = ''): BenchRow => ({
  what,
  found: `${value}${note === '' ? '' : ` (${note})`}`,
  bar: `${bar}`,
  isMet: value === bar,
})

export const told = (what: string, found: string): BenchRow => ({ what, found })

/** What is wrong with a repository after a run; nothing may be. */
export const intact = (what: string, issues: readonly string[]): BenchRow => ({
  what: `${what}: fsck, one commit a task, files, foreign commits, no ref back`,
  found: issues.length === 0 ? 'intact' : issues.slice(0, 5).join('; '),
  bar: 'intact',
  isMet: issues.length === 0,
})

export const cellsOf = ({ what, found, bar = '', isMet }: BenchRow): readonly string[] => [
  what,
  found.slice(0, maxCellLength),
  bar,
  isMet === undefined ? '' : isMet ? 'met' : 'MISSED',
]
