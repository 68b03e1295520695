import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepPorts, keptPorts } from './kept-ports.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kept-ports-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function aTakenPort() {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { port, close: () => new Promise((resolve) => server.close(resolve)) }
}

test('a folder that was never started in has no ports', async () => {
  expect(await keptPorts(folder)).toEqual({})
})

test('the ports of the last start are used again, unless somebody else took one meanwhile', async () => {
  const [taken, free] = [await aTakenPort(), await aTakenPort()]
  await free.close()
  await keepPorts(folder, { argo: taken.port, ssh: free.port })
  expect(await keptPorts(folder)).toEqual({ ssh: free.port })
  await taken.close()
  expect(await keptPorts(folder)).toEqual({ argo: taken.port, ssh: free.port })
})

test('a file that was cut off counts as none', async () => {
  await writeFile(join(folder, 'ports.json'), '{"argo":80')
  expect(await keptPorts(folder)).toEqual({})
})
