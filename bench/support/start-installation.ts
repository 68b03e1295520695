import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Installation, InstallationAnswer, InstallationRequest } from './simulated-installation.ts'

const main = fileURLToPath(new URL('./simulated-installation.ts', import.meta.url))

/** The same calls, answered by another process. */
type Remote = {
  [Name in keyof Installation]: (
    ...args: Parameters<Installation[Name]>
  ) => Promise<Awaited<ReturnType<Installation[Name]>>>
}

/** The simulator in a process of its own; it goes when this one does. */
export async function startInstallation() {
  const child = fork(main, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (cause: Error) => void }>()
  let lastId = 0
  child.on('message', ({ id, result, error }: InstallationAnswer) => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(result)
    else call?.reject(new Error(`the simulator failed: ${error}`))
  })
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the simulator ended with ${code}`))
  })
  const call = (name: keyof Installation, args: readonly unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      lastId += 1
      waiting.set(lastId, { resolve, reject })
      const request: InstallationRequest = { id: lastId, name, args }
      child.send(request)
    })
  const remote = new Proxy(
    {},
    {
      get: (_, name) =>
        typeof name === 'string' ? (...args: unknown[]) => call(name as keyof Installation, args) : undefined,
    },
  ) as Remote // every property is a call of that name

  return {
    remote,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
