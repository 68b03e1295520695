import { useThrottledValue } from '@mantine/hooks'

const announceEveryMs = 10_000

/** Words for a polite live region: they change at most every 10 s. */
export const useThrottledText = (words: string): string => useThrottledValue(words, announceEveryMs)
