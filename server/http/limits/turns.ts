type Turn = () => void

/**
 * Lets one piece of work run at a time. Each address has a line of its own, and the addresses take turns: one that asks for
 * much waits for itself.
 */
export function createTurns() {
  const lines = new Map<string, Turn[]>()
  let isTaken = false

  const begin = (address: string) => {
    if (!isTaken) {
      isTaken = true
      return undefined
    }
    const line = lines.get(address) ?? []
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
    async take<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
      await begin(address)
      try {
        return await work()
      } finally {
        next()
      }
    },
  }
}
