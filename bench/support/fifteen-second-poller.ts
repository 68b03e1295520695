import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

const intervalMs = 15_000

const PolledApplication = z.object({
  status: z.object({
    sync: z.object({ status: z.string() }),
    health: z.object({ status: z.string() }),
    summary: z.object({ images: z.array(z.string()).optional() }),
  }),
})

/**
 * The usual way to watch a rollout, modelled: two reads at the start, then one 15 s after each answer, each asking for a
 * refresh. @returns when it knew
 */
export async function pollUntilDeployed(
  argo: { readonly url: string; readonly token: string },
  app: string,
  image: string,
): Promise<number> {
  const read = async () => {
    const answer = await fetch(`${argo.url}/api/v1/applications/${app}?refresh=normal`, {
      headers: { authorization: `Bearer ${argo.token}` },
    })
    const { status } = PolledApplication.parse(await answer.json())
    const { sync, health, summary } = status
    return sync.status === 'Synced' && health.status === 'Healthy' && (summary.images ?? []).includes(image)
  }
  await read()
  while (!(await read())) await delay(intervalMs)
  return Date.now()
}
