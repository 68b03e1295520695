import { aTask, startService, withoutLimits } from '../../test/support/service.ts'
import { inTurns } from './in-turns.ts'
import { startBenchPostgres } from './start-bench-postgres.ts'
import { startInstallation } from './start-installation.ts'

const deployToken = 'deploy-token-of-the-bench'
const submittedAtOnce = 16
/** Long enough that no task times out while the others are measured. */
const timeoutSeconds = 3_600

export type BenchWorld = Awaited<ReturnType<typeof startBenchWorld>>

/**
 * PostgreSQL, the simulator and the service, each in a process of its own, as a replica is run. PROFILE_DIR: the service
 * leaves a CPU profile there. `checkout`: of another version of the service, which is run instead of this one.
 */
export async function startBenchWorld(settings: Readonly<Record<string, string>> = withoutLimits, checkout?: string) {
  await using started = new AsyncDisposableStack()
  const postgres = started.use(await startBenchPostgres())
  const { remote: installation } = started.use(await startInstallation())
  const { argoUrl, argoToken, keyPath, knownHostsPath } = await installation.connection()
  const profile = process.env.PROFILE_DIR
  const service = started.use(
    await startService({
      databaseUrl: postgres.url,
      ...(checkout === undefined ? {} : { checkout }),
      settings: {
        ARGO_URL: argoUrl,
        ARGO_TOKEN: argoToken,
        WATCHER_DEPLOY_TOKEN: deployToken,
        SSH_KEY_PATH: keyPath,
        SSH_KNOWN_HOSTS: knownHostsPath,
        ...(profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` }),
        ...settings,
      },
    }),
  )
  started.defer(() => printProblems(service.logs()))
  const submit = async (app: string, image: string, tag: string, headers: Record<string, string>) => {
    const task = aTask({ app, images: [{ image, tag }], timeout: timeoutSeconds })
    const { status, body } = await service.submitTask(task, headers)
    if (status !== 202)
      throw new Error(`not accepted: ${status} ${JSON.stringify(body)}\n${service.logs().slice(-2_000)}`)
    return (body as { id: string }).id // checked by the status
  }
  const submitAll = (apps: readonly string[], tag: string, headers: Record<string, string>) =>
    inTurns(apps, submittedAtOnce, (app) => submit(app, `registry.example/${app}`, tag, headers))
  const stack = started.move()

  return {
    service,
    installation,
    argo: { url: argoUrl, token: argoToken },
    databaseUrl: postgres.url,
    submit,
    withToken: { 'Watcher-Deploy-Token': deployToken },
    /** Tasks whose tags the service commits. */
    deploy: (apps: readonly string[], tag: string) => submitAll(apps, tag, { 'Watcher-Deploy-Token': deployToken }),
    /** Tasks that only watch what somebody else has committed. */
    announce: (apps: readonly string[], tag: string) => submitAll(apps, tag, {}),
    /** One sample of /metrics; NaN where it is not there. */
    async metric(name: string): Promise<number> {
      const { body } = await service.request('/metrics')
      return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(String(body))?.[1] ?? Number.NaN)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Only where something went wrong: a measured service has nothing to report but its requests. */
async function printProblems(logs: string): Promise<void> {
  const problems = logs.split('\n').filter((line) => !/"level":(10|20|30)/.test(line))
  if (problems.some((line) => line !== '')) process.stderr.write(`${problems.slice(-20).join('\n')}\n`)
}
