/** A little less than allowed: the tag is added. */
const bytes = 255 * 1024
/** As many lines and indicators as a file may have. */
const indicators = 4_900

const filled = (text: string) => `${text}# ${'x'.repeat(Math.max(0, bytes - text.length - 3))}\n`
const levels = Array.from(
  { length: 12 },
  (_, at) => `a${at}: &a${at} [${Array(12).fill(at === 0 ? 'x' : `*a${at - 1}`)}]\n`,
)

/** Override files of nearly 256 KiB: rejected before they are parsed, or as expensive to parse as one may be. */
export const hostileFiles: readonly string[] = [
  filled(levels.join('')),
  filled(`x: &a 1\ny: [${'*a,'.repeat(indicators / 2)}*a]\n`),
  `x: ${'['.repeat(bytes - 4)}\n`,
  filled(`x: ${'['.repeat(60)}${'1,'.repeat(indicators - 200)}1${']'.repeat(60)}\n`),
  `x: [${'1,'.repeat(bytes / 2 - 4)}1]\n`,
  filled(`x: [${'1,'.repeat(indicators - 100)}1]\n`),
  filled(`x:\n${'- 1\n'.repeat(indicators / 2 - 10)}`),
  `x: 1\n${'\n'.repeat(bytes - 8)}`,
  `x: 1\n${' '.repeat(bytes - 8)}`,
  filled(`x: 1\n${'\n'.repeat(indicators)}`),
  `x: ${':'.repeat(bytes - 8)}\n`,
  filled(`${'a: '.repeat(indicators)}\n`),
  filled(`x: "${'a\n'.repeat(indicators - 10)}`),
  filled(`x: ${'\n,'.repeat(indicators / 2 - 10)}\n`),
]
