import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

type Algorithm = 'RS256' | 'ES256' | 'PS256' | 'EdDSA'
type Answer = 'well' | 'away' | 'redirect' | 'too much' | 'no json' | 'another issuer' | 'http keys'
export type TokenIssuer = Awaited<ReturnType<typeof startTokenIssuer>>

/**
 * An issuer of ID tokens as the CIs are: discovery, keys and their rotation, on a loopback address.
 * @param serve what else this host answers; false: nothing there
 */
export async function startTokenIssuer(
  serve: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
) {
  let answer: Answer = 'well'
  let keys: JWK[] = []
  let current: { readonly kid: string; readonly alg: Algorithm; readonly key: CryptoKey }
  let rotations = 0
  const calls: string[] = []

  async function rotate(alg: Algorithm = 'RS256'): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(alg)
    const kid = `key-${++rotations}`
    current = { kid, alg, key: privateKey }
    keys = [{ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }]
  }
  await rotate()

  const server = createServer((request, response) => {
    if (serve(request, response)) return
    calls.push(request.url ?? '')
    if (answer === 'away') return void request.socket.destroy()
    if (answer === 'redirect') return void response.writeHead(302, { location: `${url}/elsewhere` }).end()
    if (answer === 'no json') return void response.end('<html>')
    if (answer === 'too much') return void response.end(JSON.stringify({ keys, padding: 'x'.repeat(256 * 1024) }))
    const document = {
      issuer: answer === 'another issuer' ? 'https://evil.example' : url,
      jwks_uri: answer === 'http keys' ? 'http://keys.example/keys' : `${url}/keys`,
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url === '/keys' ? { keys } : document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url,
    kid: () => current.kid,
    /** Paths that were asked for. */
    calls: () => [...calls],
    answer(how: Answer) {
      answer = how
    },
    /** Makes another key the only one. */
    rotate,
    publish(key: JWK) {
      keys = [key]
    },
    /** An ID token with exactly these claims. */
    sign: (claims: object, header: object = {}): Promise<string> => {
      const whole = { alg: current.alg, typ: 'JWT', kid: current.kid, ...header }
      return new SignJWT({ ...claims }).setProtectedHeader(whole).sign(current.key, { crit: { x: true } })
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
