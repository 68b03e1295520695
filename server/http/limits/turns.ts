import { HttpError } from '../request-errors.ts'

/** Of one address, while others have their turn. */
const maxWaiting = 10

type Turn = () => void

export type Turns = {
  /** Does the work in its turn. @throws {HttpError} 429 where too much of the same address waits already */
  take<Result>(address: string, work: () => Promise<Result>): Promise<Result>
}

/**
 * Lets one piece of work run at a time. Each address has a line of its own, and the addresses take turns: one that asks for
 * much waits for itself.
 */
export function createTurns(): Turns {
  const lines = new Map<string, Turn[]>()
  let isTaken = false

  const begin = (address: string) => {
    if (!isTaken) {
      isTaken = true
      return undefined
    }
    const line = lines.get(address) ?? []
    if (line.length >= maxWaiting) throw tooManyAnswers()
    lines.set(address, line)
    return new Promise<void>((resolve) => line.push(resolve))
  }

  const next = () => {
    const [first] = lines
    if (first === undefined) {
      isTaken = false
      return
    }
    const [address, line] = first
    const turn = line.shift()
    lines.delete(address)
    if (line.length > 0) lines.set(address, line) // behind all others
    turn?.()
  }

  return {
    async take(address, work) {
      await begin(address)
      try {
        return await work()
      } finally {
        next()
      }
    },
  }
}

const tooManyAnswers = () =>
  new HttpError(429, 'too many large responses are pending for one address', { 'Retry-After': '1' })
