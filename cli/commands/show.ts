import { exitCodes } from '../../contract/exit-codes.ts'
import { oneLine } from '../../contract/fields.ts'
import type { TaskRecord } from '../../contract/task.ts'
import type { Credential } from '../credential/credential.ts'
import { ExitError } from '../exit.ts'
import { type Api, createApi, isOver, RefusedError } from '../http/api.ts'
import { NoAnswerError } from '../http/connection-errors.ts'
import type { ConnectionFlags } from '../input/connection.ts'
import { jsonLine, renderJson } from '../output/json.ts'
import { harmless } from '../output/markup.ts'
import { reportOf } from '../output/report.ts'
import { spanOf, timeOf, titleOf } from '../output/words.ts'
import manifest from '../package.json' with { type: 'json' }
import type { Run } from '../run.ts'
import { openConnection } from './open-connection.ts'

type Flags = ConnectionFlags & { readonly output: 'text' | 'json' }

/** `status`. */
export const runStatus = (id: string, flags: Flags, run: Run): Promise<number> =>
  asking(flags, run, async (api) => {
    const { task } = await api.task(id, run.interrupted)
    showTask(task, flags, api, run)
  })

/** `cancel`. */
export const runCancel = (id: string, flags: Flags, run: Run): Promise<number> =>
  asking(flags, run, async (api) => {
    const { task } = await api.cancel(id, run.interrupted)
    showTask(task, flags, api, run)
  })

function showTask(task: TaskRecord, { output }: Flags, api: Api, { stdout, variables }: Run): void {
  if (output === 'json') return void stdout.write(renderJson([{ kind: 'ended', task }], api.pageOf))
  const { lines } = isOver(task) ? reportOf({ kind: 'ended', task }, api.pageOf) : { lines: [] }
  const words = isOver(task)
    ? `${task.status} in ${spanOf(task.updated - task.created)}`
    : oneLine(task.progress ?? task.status)
  for (const line of lines.length > 0 ? lines : [`${titleOf(task)}: ${words}`, `Details: ${api.pageOf(task.id)}`])
    stdout.write(`${harmless(line, variables)}\n`)
}

type ListFlags = Flags &
  Readonly<Record<'app' | 'project' | 'environment' | 'author' | 'status' | 'search' | 'limit', string | undefined>>

/** `list`. */
export const runList = (flags: ListFlags, run: Run): Promise<number> =>
  asking(flags, run, async (api) => {
    const { app, project, environment, author, status, search, limit } = flags
    const filter = Object.entries({ app, project, environment, author, status, search, limit })
    const given = Object.fromEntries(filter.filter((entry): entry is [string, string] => entry[1] !== undefined))
    const tasks = await api.list(given, run.interrupted)
    if (flags.output === 'json') return void run.stdout.write(jsonLine({ tasks }))
    const rows = tasks.map((task) => [task.id, timeOf(task.created), task.status, titleOf(task), oneLine(task.author)])
    for (const line of columns(rows)) run.stdout.write(`${harmless(line, run.variables)}\n`)
  })

/** Pads each column to its widest text. */
function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** `version`. The client's is said although the service does not answer. */
export async function runVersion(flags: ConnectionFlags, run: Run): Promise<number> {
  run.stdout.write(`deployment-watcher ${manifest.version}\n`)
  if (flags.server === undefined && !run.variables.WATCHER_URL && !run.variables.ARGO_WATCHER_URL)
    return exitCodes.deployed
  return asking({ ...flags, output: 'text' }, run, async (api) => {
    run.stdout.write(`service ${await api.version(run.interrupted)} at ${api.address}\n`)
  })
}

/** Asks the service once, as the pipeline or with `user`. Its refusals and a missing answer end the run with their exit code. */
export async function asking(
  flags: Flags,
  run: Run,
  ask: (api: Api) => Promise<void>,
  user?: Credential,
): Promise<number> {
  const { http, credentials, advise } = openConnection(flags, run)
  try {
    const { headers = {} } = user ?? (await credentials.current()) ?? {}
    await ask(createApi({ http, headers: async () => headers }))
    return exitCodes.deployed
  } catch (error) {
    if (run.interrupted.aborted) throw new ExitError(exitCodes.interrupted, 'interrupted')
    if (error instanceof NoAnswerError) throw new ExitError(exitCodes.unreachable, error.message)
    if (!(error instanceof RefusedError)) throw error
    const code = exitOfRefusal(error.status)
    const advice = code === exitCodes.not_authorized && user === undefined ? [advise(false)] : []
    throw new ExitError(code, [error.message, ...advice].map(oneLine).join('\n'))
  } finally {
    http.close()
  }
}

function exitOfRefusal(status: number): number {
  if (status === 401 || status === 403) return exitCodes.not_authorized
  return status === 404 ? exitCodes.gave_up : exitCodes.rejected
}
