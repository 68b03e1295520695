import { once } from 'node:events'
import { createServer } from 'node:net'
import { freePort } from '../../launcher/embedded-postgres.mjs'

/**
 * A free port that no other test is given until this process ends. Else two that look at once may take the same one, and the
 * service that is late would seem ready because the other one answers.
 */
export async function claimPort(): Promise<number> {
  for (;;) {
    const port = await freePort()
    if (await claim(port)) return port
  }
}

/** By an abstract socket, whose name the kernel gives back; elsewhere than on Linux there are none, and no claims. */
async function claim(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true
  const holder = createServer().unref()
  holder.listen(`\0deployment-watcher-port-${port}`)
  return once(holder, 'listening').then(
    () => true,
    () => false,
  )
}
