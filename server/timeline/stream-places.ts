/** All streams of one replica. */
const mostInAll = 5_000

/** Counts open event streams, so that no client takes them all. A client is undefined where it is not known. */
export function createStreamPlaces(mostPerClient: number, mostTogether = mostInAll) {
  const taken = new Map<string, number>()
  let together = 0

  return {
    /** @returns how to give the place back, once; or undefined where there is none */
    take(client: string | undefined): (() => void) | undefined {
      const own = client === undefined ? 0 : (taken.get(client) ?? 0)
      if (together >= mostTogether || own >= mostPerClient) return undefined
      together += 1
      if (client !== undefined) taken.set(client, own + 1)
      return () => {
        together -= 1
        if (client === undefined) return
        const left = (taken.get(client) ?? 1) - 1
        if (left > 0) taken.set(client, left)
        else taken.delete(client)
      }
    },
  }
}
export type StreamPlaces = ReturnType<typeof createStreamPlaces>
