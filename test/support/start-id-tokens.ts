import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The endpoint of a runner that gives a job its ID tokens. `issue` gets the audience that the job asks for. */
export async function startIdTokens(issue: (audience: string) => string) {
  const requestToken = 'request-token-of-the-job'
  const audiences: string[] = []
  const server = createServer(({ url = '', headers }, response) => {
    if (headers.authorization?.toLowerCase() !== `bearer ${requestToken}`) return void response.writeHead(401).end()
    const audience = new URL(url, 'http://runner').searchParams.get('audience') ?? ''
    audiences.push(audience)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ value: issue(audience) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    /** Of a job that has the permission for ID tokens. */
    variables: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken,
    },
    audiences: audiences as readonly string[],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
