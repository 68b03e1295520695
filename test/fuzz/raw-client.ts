import { connect } from 'node:net'

export type RawAnswer = {
  /** 0: the server closed the connection without a word. */
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  readonly ms: number
}

/** Sends bytes as they are on a connection of their own; of an event stream only its beginning is read. */
export function sendRaw(port: number, bytes: Buffer, { isHead, limitMs }: { isHead: boolean; limitMs: number }) {
  const began = performance.now()
  return new Promise<RawAnswer>((resolve) => {
    let received: Buffer = Buffer.alloc(0)
    const socket = connect(port, '127.0.0.1')
    const finish = (answer: Omit<RawAnswer, 'ms'> | undefined) => {
      socket.destroy()
      resolve({ ...(answer ?? nothing), ms: performance.now() - began })
    }
    socket.setTimeout(limitMs, () => finish(parseAnswer(received, isHead, true)))
    socket.on('error', () => undefined) // told by what was received until then
    socket.on('close', () => finish(parseAnswer(received, isHead, true)))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const answer = parseAnswer(received, isHead, false)
      if (answer !== undefined) finish(answer)
    })
    socket.write(bytes)
  })
}

const nothing = { status: 0, headers: new Map<string, string>(), body: '' }

function parseAnswer(bytes: Buffer, isHead: boolean, isOver: boolean): Omit<RawAnswer, 'ms'> | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(first.split(' ')[1])
  const rest = bytes.subarray(end + 4)
  if (status >= 100 && status < 200) return parseAnswer(rest, isHead, isOver)
  const headers = new Map(lines.map((line) => splitAt(line, ':')))
  const body = isHead || status === 204 ? '' : bodyOf(rest, headers, isOver)
  return body === undefined ? undefined : { status, headers, body }
}

const splitAt = (line: string, sign: string): [string, string] => {
  const at = line.indexOf(sign)
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
}

/** Undefined while more of it must come. */
function bodyOf(bytes: Buffer, headers: ReadonlyMap<string, string>, isOver: boolean): string | undefined {
  const length = headers.get('content-length')
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
  if (length !== undefined && bytes.length >= Number(length)) return bytes.toString('utf8', 0, Number(length))
  if (isOver || isStream) return bytes.toString('utf8')
  return headers.get('transfer-encoding') === undefined ? undefined : unchunk(bytes)
}

function unchunk(bytes: Buffer): string | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (size === 0) return Buffer.concat(parts).toString('utf8')
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
    if (at > bytes.length) return undefined
  }
}
