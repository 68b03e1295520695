type Payload = Record<string, unknown> & { readonly grantId?: string; readonly uid?: string }

/** What the provider stores, kept over its restarts, as a real one's database is. The names are the package's. */
export function createKeptStorage() {
  const stored = new Map<string, { payload: Payload; untilMs: number }>()
  const find = (key: string) => {
    const one = stored.get(key)
    return one && Date.now() < one.untilMs ? one.payload : undefined
  }
  return class KeptStorage {
    readonly kind: string
    constructor(kind: string) {
      this.kind = kind
    }
    async upsert(id: string, payload: Payload, expiresIn = 86_400) {
      stored.set(`${this.kind} ${id}`, { payload, untilMs: Date.now() + expiresIn * 1000 })
    }
    async find(id: string) {
      return find(`${this.kind} ${id}`)
    }
    async findByUid(uid: string) {
      return [...stored.values()].find(({ payload }) => payload.uid === uid)?.payload
    }
    async consume(id: string) {
      const payload = find(`${this.kind} ${id}`)
      if (payload) payload.consumed = Math.floor(Date.now() / 1000)
    }
    async destroy(id: string) {
      stored.delete(`${this.kind} ${id}`)
    }
    async revokeByGrantId(grantId: string) {
      for (const [key, { payload }] of stored) if (payload.grantId === grantId) stored.delete(key)
    }
  }
}
