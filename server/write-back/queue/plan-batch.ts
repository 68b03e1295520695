import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { FileRead } from '../git/history/read-tree-file.ts'
import type { FileCommit } from '../git/push/fast-import-stream.ts'
import type { OverrideEntry, SourceTool } from '../plan/application-source.ts'
import { mergeOverrideFile } from '../plan/merge-override-file.ts'
import { type OverrideEntries, OverrideFileError, readEntries } from '../plan/parse-override-file.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'

export type PlannedWrite = { readonly taskId: string; readonly plan: WriteBackPlan }

/** What one push would do, by task. A task in none of the lists repeats one before it, and is planned again afterwards. */
export type BatchPlan = {
  readonly commits: readonly { readonly taskId: string; readonly commit: FileCommit }[]
  readonly unchanged: readonly string[]
  readonly refused: readonly { readonly taskId: string; readonly reason: string }[]
}

/** The files that have to be read before `planBatch`. */
export function filesToRead(writes: readonly PlannedWrite[]): readonly string[] {
  return [...new Set(writes.flatMap(({ plan }) => [plan.file, sharedFileOf(plan.file)]))]
}

/** Overrides for every application of a directory: its lists are hidden by those of the application's own file. */
function sharedFileOf(file: string): string {
  return path.posix.join(path.posix.dirname(file), '.argocd-source.yaml')
}

type Change =
  | { readonly kind: 'changed'; readonly commit: FileCommit }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unchanged' | 'repeated' }

/** Applies the writes of each file in order, each on what the ones before it leave behind. */
export async function planBatch(
  writes: readonly PlannedWrite[],
  files: ReadonlyMap<string, FileRead>,
): Promise<BatchPlan> {
  const changes = new Map<string, Change>()
  const readShared = sharedEntriesOf(files)

  async function planFile(file: string, ofFile: readonly PlannedWrite[]): Promise<void> {
    const read = files.get(file) ?? { kind: 'absent' }
    if (read.kind === 'blocked') throw new OverrideFileError(`cannot be written: ${read.reason}`)
    const mode = read.kind === 'file' ? read.mode : '100644'
    let before = { text: textOf(read), isEdited: false }
    for (const { taskId, plan } of ofFile) {
      await turn() // an edit may take 0.2 s of processor time: other work goes on between two of them
      const { tool, entries: own } = plan
      const merged = mergeOverrideFile(before.text, own, inheritedBy(plan, readShared(file, tool)), tool)
      if (merged.kind === 'invalid') changes.set(taskId, refusal(file, merged.reason))
      else if (merged.kind === 'same') changes.set(taskId, { kind: before.isEdited ? 'repeated' : 'unchanged' })
      else {
        const commit = { path: file, mode, content: merged.text, message: plan.message }
        changes.set(taskId, { kind: 'changed', commit })
        before = { text: merged.text, isEdited: true }
      }
    }
  }

  function refuseRest(file: string, ofFile: readonly PlannedWrite[], error: unknown): void {
    if (!(error instanceof OverrideFileError)) throw error
    const rest = ofFile.filter(({ taskId }) => !changes.has(taskId))
    for (const { taskId } of rest) changes.set(taskId, refusal(file, error.message))
  }

  for (const [file, ofFile] of Map.groupBy(writes, ({ plan }) => plan.file)) {
    await planFile(file, ofFile).catch((error) => refuseRest(file, ofFile, error))
  }
  const decided = writes.map(({ taskId }) => ({ taskId, change: changes.get(taskId) }))
  return {
    commits: decided.flatMap(({ taskId, change }) =>
      change?.kind === 'changed' ? [{ taskId, commit: change.commit }] : [],
    ),
    unchanged: decided.flatMap(({ taskId, change }) => (change?.kind === 'unchanged' ? [taskId] : [])),
    refused: decided.flatMap(({ taskId, change }) =>
      change?.kind === 'refused' ? [{ taskId, reason: change.reason }] : [],
    ),
  }
}

const refusal = (file: string, reason: string): Change => ({
  kind: 'refused',
  reason: `the override file ${file} ${reason}`,
})

/** What the shared file beside a file sets, read once for each folder and tool. */
function sharedEntriesOf(files: ReadonlyMap<string, FileRead>) {
  const reads = new Map<string, OverrideEntries | OverrideFileError>()

  function read(sharedFile: string, tool: SourceTool): OverrideEntries | OverrideFileError {
    const found = files.get(sharedFile)
    if (found?.kind !== 'file') return new Map()
    try {
      const result = readEntries(textOf(found) ?? '', tool)
      if (result.kind === 'entries') return result.entries
      throw new OverrideFileError(result.reason)
    } catch (cause) {
      if (!(cause instanceof OverrideFileError)) throw cause
      return new OverrideFileError(`cannot be edited: ${sharedFile} beside it ${cause.message}`, { cause })
    }
  }

  return (file: string, tool: SourceTool): OverrideEntries => {
    const sharedFile = sharedFileOf(file)
    if (sharedFile === file) return new Map()
    const key = `${tool} ${sharedFile}`
    const found = reads.get(key) ?? read(sharedFile, tool)
    reads.set(key, found)
    if (found instanceof OverrideFileError) throw found
    return found
  }
}

/** The directory's shared overrides win over the source's own, as the delivery controller reads them later. */
function inheritedBy(plan: WriteBackPlan, shared: OverrideEntries): readonly OverrideEntry[] {
  const inherited = new Map(plan.sourceEntries.map((entry) => [entry.name, entry]))
  for (const [name, entry] of shared) inherited.set(name, { name, ...entry })
  return [...inherited.values()]
}

function textOf(read: FileRead): string | undefined {
  if (read.kind !== 'file') return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(read.content)
  } catch (cause) {
    throw new OverrideFileError('is not UTF-8', { cause })
  }
}
