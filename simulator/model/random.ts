/** A number in [0, 1), like Math.random. */
export type Random = () => number

export type Range = readonly [least: number, most: number]

/** The same numbers for the same seed (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pickFrom(random: Random, [least, most]: Range): number {
  return least + random() * (most - least)
}

export function randomName(random: Random, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')
}

export const kubernetesAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

export function randomUuid(random: Random): string {
  const hex = randomName(random, '0123456789abcdef', 30)
  const variant = '89ab'[Math.floor(random() * 4)]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-${variant}${hex.slice(15, 18)}-${hex.slice(18, 30)}`
}
