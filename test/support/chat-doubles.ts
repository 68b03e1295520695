import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Post = {
  readonly channel: string
  readonly text: string
  readonly thread: string | undefined
  readonly edits: number
}

/**
 * Slack's, Mattermost's and Teams' ways in, with their documented limits: a message a second for each channel, 50 blocks of 3,000
 * characters, posts of 16,383 characters, cards of 28 KB.
 */
export async function startChatDoubles() {
  const posts = new Map<string, Post>()
  const cards: string[] = []
  const refusals: string[] = []
  let last = Number.NEGATIVE_INFINITY
  let mode: 'well' | 'down' = 'well'

  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const answer = (status: number, value: object, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
    if (mode === 'down') return answer(503, {})
    const path = request.url ?? ''
    if (path === '/teams') {
      if (Buffer.byteLength(body) > 28 * 1024) refusals.push('card of more than 28 KB')
      cards.push(body)
      return answer(202, {})
    }
    if (request.headers.authorization !== 'Bearer xoxb-token')
      return answer(path.startsWith('/slack') ? 200 : 401, { ok: false, error: 'invalid_auth' })
    const fields = JSON.parse(body)
    if (path.startsWith('/mattermost/api/v4/posts')) {
      if (String(fields.message).length > 16_383) refusals.push('post of more than 16,383 characters')
      const [, edited] = /posts\/(\w+)\/patch$/.exec(path) ?? []
      if (edited !== undefined && !posts.has(edited)) return answer(404, {})
      const id = edited ?? `post${posts.size + 1}`
      write(id, { channel: fields.channel_id, text: fields.message, thread: fields.root_id })
      return answer(edited === undefined ? 201 : 200, { id })
    }
    const now = performance.now()
    if (now - last < 1_000) return answer(429, { ok: false, error: 'ratelimited' }, { 'retry-after': '1' })
    last = now
    const blocks = [
      ...(fields.blocks ?? []),
      ...(fields.attachments ?? []).flatMap((one: { blocks: object[] }) => one.blocks),
    ]
    if (blocks.length > 50) refusals.push('more than 50 blocks')
    for (const block of blocks)
      if ((block.text?.text ?? '').length > 3_000) refusals.push('block of more than 3,000 characters')
    if (path.endsWith('chat.update') && !posts.has(fields.ts))
      return answer(200, { ok: false, error: 'message_not_found' })
    const ts = path.endsWith('chat.update') ? fields.ts : `${posts.size + 1}.0`
    write(ts, { channel: fields.channel, text: fields.text, thread: fields.thread_ts })
    return answer(200, { ok: true, channel: fields.channel, ts })
  })
  type Written = { readonly channel?: string; readonly text: string; readonly thread?: string }
  const write = (id: string, { channel, text, thread }: Written) => {
    const before = posts.get(id)
    posts.set(id, {
      channel: channel ?? before?.channel ?? '',
      text,
      thread: thread ?? before?.thread,
      edits: (before?.edits ?? -1) + 1,
    })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    slackUrl: `${address}/slack`,
    mattermostUrl: `${address}/mattermost`,
    teamsUrl: `${address}/teams`,
    posts: (channel: string) => [...posts.values()].filter((post) => post.channel.toLowerCase() === channel),
    cards: () => [...cards],
    /** Limits that were broken. */
    refusals: () => [...refusals],
    be(how: 'well' | 'down') {
      mode = how
    },
    forget: () => posts.clear(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
