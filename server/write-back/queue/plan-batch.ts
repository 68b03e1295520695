import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { Cause } from '../../../contract/causes.ts'
import { editors, type FileKind } from '../edit/editors.ts'
import { FileEditError, invalidBecause, type OverrideEntry } from '../edit/file-edit.ts'
import type { FileRead } from '../git/history/read-tree-file.ts'
import type { FileCommit } from '../git/push/fast-import-stream.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'

export type PlannedWrite = { readonly taskId: string; readonly plan: WriteBackPlan }

/** What one push would do, by task. A task in none of the lists repeats one before it, and is planned again afterwards. */
export type BatchPlan = {
  readonly commits: readonly {
    readonly taskId: string
    readonly commit: FileCommit
    /** What its entries had before, by name; undefined: nothing. */
    readonly replaced: ReadonlyMap<string, string | undefined>
  }[]
  readonly unchanged: readonly string[]
  readonly refused: readonly {
    readonly taskId: string
    readonly cause: Cause
    readonly reason: string
  }[]
}

/** The files that have to be read before `planBatch`. */
export function filesToRead(writes: readonly PlannedWrite[]): readonly string[] {
  return [...new Set(writes.flatMap(({ plan }) => [...candidatesOf(plan), ...filesBeside(plan)]))]
}

const candidatesOf = ({ tool, file }: WriteBackPlan): readonly string[] => editors[tool].candidates(file)

/** A plan that 0.1.0 stored names none: then it is the one with the overrides for every application of the directory. */
function filesBeside({ file, filesBeside: named }: WriteBackPlan): readonly string[] {
  return (named ?? [path.posix.join(path.posix.dirname(file), '.argocd-source.yaml')]).filter((one) => one !== file)
}

type Change =
  | ({ readonly kind: 'changed' } & Pick<BatchPlan['commits'][number], 'commit' | 'replaced'>)
  | ({ readonly kind: 'refused' } & Pick<BatchPlan['refused'][number], 'cause' | 'reason'>)
  | { readonly kind: 'unchanged' | 'repeated' }

/** Applies the writes of each file in order, each on what the ones before it leave behind. */
export async function planBatch(
  writes: readonly PlannedWrite[],
  files: ReadonlyMap<string, FileRead>,
): Promise<BatchPlan> {
  const changes = new Map<string, Change>()
  const readBeside = entriesBesideOf(files)

  async function planFile(file: string, ofFile: readonly PlannedWrite[]): Promise<void> {
    const read = files.get(file) ?? { kind: 'absent' }
    if (read.kind === 'blocked') throw new FileEditError(`cannot be written: ${read.reason}`)
    const mode = read.kind === 'file' ? read.mode : '100644'
    let before = { text: textOf(read), isEdited: false }
    for (const { taskId, plan } of ofFile) {
      await turn() // an edit may take 0.2 s of processor time: other work goes on between two of them
      const edit = editors[plan.tool].set(before.text, plan.entries, readBeside(plan))
      const outdated = edit.kind === 'changed' ? whyOutdated(plan, edit.replaced) : undefined
      if (edit.kind === 'invalid') changes.set(taskId, refusal(file, edit))
      else if (outdated !== undefined)
        changes.set(taskId, refusal(file, { cause: 'rollback_outdated', reason: outdated }))
      else if (edit.kind === 'same') changes.set(taskId, { kind: before.isEdited ? 'repeated' : 'unchanged' })
      else {
        const commit = { path: file, mode, content: edit.text, message: plan.message }
        changes.set(taskId, { kind: 'changed', commit, replaced: edit.replaced })
        before = { text: edit.text, isEdited: true }
      }
    }
  }

  function refuseRest(file: string, ofFile: readonly PlannedWrite[], error: unknown): void {
    const invalid = invalidBecause(error)
    const rest = ofFile.filter(({ taskId }) => !changes.has(taskId))
    for (const { taskId } of rest) changes.set(taskId, refusal(file, invalid))
  }

  for (const [file, ofFile] of Map.groupBy(writes, ({ plan }) => locate(plan, files))) {
    const ambiguous = ofFile.filter(({ plan }) => presentOf(plan, files).length > 1)
    refuseRest(file, ambiguous, new FileEditError('is not the only kustomization of its directory'))
    const clear = ofFile.filter((write) => !ambiguous.includes(write))
    await planFile(file, clear).catch((error) => refuseRest(file, clear, error))
  }
  const decided = writes.map(({ taskId }) => ({ taskId, change: changes.get(taskId) }))
  return {
    commits: decided.flatMap(({ taskId, change }) =>
      change?.kind === 'changed' ? [{ taskId, commit: change.commit, replaced: change.replaced }] : [],
    ),
    unchanged: decided.flatMap(({ taskId, change }) => (change?.kind === 'unchanged' ? [taskId] : [])),
    refused: decided.flatMap(({ taskId, change }) =>
      change?.kind === 'refused' ? [{ taskId, cause: change.cause, reason: change.reason }] : [],
    ),
  }
}

const presentOf = (plan: WriteBackPlan, files: ReadonlyMap<string, FileRead>): readonly string[] =>
  candidatesOf(plan).filter((file) => (files.get(file)?.kind ?? 'absent') !== 'absent')

/** The file that is there, or would be made. */
const locate = (plan: WriteBackPlan, files: ReadonlyMap<string, FileRead>): string =>
  presentOf(plan, files)[0] ?? plan.file

/** A rollback takes back what the failed task set, and nothing that came after it. */
function whyOutdated({ entries, expected = [] }: WriteBackPlan, replaced: ReadonlyMap<string, string | undefined>) {
  const found = ({ name, value }: { readonly name: string; readonly value: string }) =>
    replaced.has(name)
      ? replaced.get(name)
      : entries.find((entry) => entry.name === name && entry.value === value)?.value
  const other = expected.find((entry) => found(entry) !== entry.value)
  return other && `has ${other.name} ${found(other) ?? 'not at all'}, not ${other.value} of the failed deployment`
}

const refusal = (file: string, { cause, reason }: Pick<BatchPlan['refused'][number], 'cause' | 'reason'>): Change => ({
  kind: 'refused',
  cause,
  reason: `the file ${file} ${reason}`,
})

/** What the files beside that of a plan set, each read once. */
function entriesBesideOf(files: ReadonlyMap<string, FileRead>) {
  const reads = new Map<string, readonly OverrideEntry[] | FileEditError>()

  function read(file: string, tool: FileKind): readonly OverrideEntry[] | FileEditError {
    const found = files.get(file)
    if (found?.kind !== 'file') return []
    try {
      return editors[tool].entriesBeside(textOf(found) ?? '')
    } catch (cause) {
      const { reason } = invalidBecause(cause)
      return new FileEditError(`cannot be edited: ${file} beside it ${reason}`, { cause })
    }
  }

  function entriesOf(file: string, tool: FileKind): readonly OverrideEntry[] {
    const key = `${tool} ${file}`
    const found = reads.get(key) ?? read(file, tool)
    reads.set(key, found)
    if (found instanceof FileEditError) throw found
    return found
  }

  /** They win over the source's own, as the delivery controller reads them later. */
  return (plan: WriteBackPlan): readonly OverrideEntry[] => {
    const inherited = new Map(plan.sourceEntries.map((entry) => [entry.name, entry]))
    for (const file of filesBeside(plan)) {
      for (const entry of entriesOf(file, plan.tool)) inherited.set(entry.name, entry)
    }
    return [...inherited.values()]
  }
}

function textOf(read: FileRead): string | undefined {
  if (read.kind !== 'file') return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(read.content)
  } catch (cause) {
    throw new FileEditError('is not UTF-8', { cause })
  }
}
