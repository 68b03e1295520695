/** A request as it will stand on the wire. */
export type RequestDraft = {
  readonly method: string
  /** `{id}` stands for the id of a task; see {@link renderRequest}. */
  readonly path: string
  readonly query: readonly (readonly [string, string])[]
  readonly version: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer | undefined
  /** Header lines and body exactly like this, instead of a length and the body. */
  readonly framing?: string
}

/** The bytes of a request. `id` is put into the path. */
export function renderRequest(draft: RequestDraft, id: string): Buffer {
  const { method, path, query, version, headers, body, framing } = draft
  const parameters = query.map(([name, value]) => `${encodeURIComponent(name)}=${encode(value)}`).join('&')
  const target = path.replace('{id}', id) + (parameters === '' ? '' : `?${parameters}`)
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const start = `${method} ${target} ${version}\r\n${lines}`
  if (framing !== undefined) return Buffer.concat([Buffer.from(start, 'latin1'), Buffer.from(framing, 'latin1')])
  const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`
  return Buffer.concat([Buffer.from(`${start}${length}\r\n`, 'latin1'), body ?? Buffer.alloc(0)])
}

/** A lone surrogate has no percent-encoding; its bytes are sent as some clients do. */
const encode = (text: string) => (text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80')

export const withHeader = (draft: RequestDraft, name: string, value: string): RequestDraft => ({
  ...draft,
  headers: [...draft.headers, [name, value]],
})

export const hasHeader = (draft: RequestDraft, name: string): boolean =>
  draft.headers.some(([one]) => one.toLowerCase() === name.toLowerCase())

export const withoutHeader = (draft: RequestDraft, name: string): RequestDraft => ({
  ...draft,
  headers: draft.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase()),
})
