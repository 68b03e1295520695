import { connect } from 'node:net'

/** Sends bytes as they are on a connection of its own, and gives all that came until the server closed it. */
export function rawExchange(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    let answer = ''
    socket.on('data', (part) => (answer += part))
    socket.on('error', () => undefined) // told by what was received until then
    socket.on('close', () => resolve(answer))
    socket.write(request, 'latin1')
  })
}
