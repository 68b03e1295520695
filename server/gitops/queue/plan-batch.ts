import path from 'node:path'
import type { FileCommit } from '../git/fast-import-stream.ts'
import type { FileRead } from '../git/read-tree-file.ts'
import type { HelmParameter } from '../plan/application-source.ts'
import { mergeOverrideFile } from '../plan/merge-override-file.ts'
import { OverrideFileError, parametersOf, parseOverrideFile } from '../plan/parse-override-file.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'

export type PlannedWrite = { readonly taskId: string; readonly plan: WriteBackPlan }

/** What one push would do, by task. A task in none of the lists repeats one before it and is looked at again afterwards. */
export type BatchPlan = {
  readonly commits: readonly { readonly taskId: string; readonly commit: FileCommit }[]
  readonly unchanged: readonly string[]
  readonly refused: readonly { readonly taskId: string; readonly reason: string }[]
}

/** The files that have to be read before `planBatch`. */
export function filesToRead(writes: readonly PlannedWrite[]): readonly string[] {
  return [...new Set(writes.flatMap(({ plan }) => [plan.file, sharedFileOf(plan.file)]))]
}

/** Overrides for every application of a directory: its parameters are hidden by those of the application's own file. */
function sharedFileOf(file: string): string {
  return path.posix.join(path.posix.dirname(file), '.argocd-source.yaml')
}

/** Applies the writes in order, each on what the ones before it leave behind. */
export function planBatch(writes: readonly PlannedWrite[], files: ReadonlyMap<string, FileRead>): BatchPlan {
  const commits: { taskId: string; commit: FileCommit }[] = []
  const unchanged: string[] = []
  const refused: { taskId: string; reason: string }[] = []
  const written = new Map<string, FileCommit>()
  for (const { taskId, plan } of writes) {
    const before = written.get(plan.file)
    const result = changeOf(plan, before, files)
    if (result.kind === 'refused') refused.push({ taskId, reason: result.reason })
    else if (result.kind === 'changed') {
      written.set(plan.file, result.commit)
      commits.push({ taskId, commit: result.commit })
    } else if (!before) unchanged.push(taskId)
  }
  return { commits, unchanged, refused }
}

type Change = { kind: 'changed'; commit: FileCommit } | { kind: 'same' } | { kind: 'refused'; reason: string }

function changeOf(plan: WriteBackPlan, before: FileCommit | undefined, files: ReadonlyMap<string, FileRead>): Change {
  try {
    const read = files.get(plan.file) ?? { kind: 'absent' }
    if (read.kind === 'blocked')
      return { kind: 'refused', reason: `the override file cannot be written: ${read.reason}` }
    const mode = before?.mode ?? (read.kind === 'file' ? read.mode : '100644')
    const text = before?.content ?? textOf(read)
    const merged = mergeOverrideFile(text, plan.parameters, inheritedBy(plan, files))
    if (merged.kind === 'invalid') return { kind: 'refused', reason: `the override file ${plan.file} ${merged.reason}` }
    if (merged.kind === 'same') return { kind: 'same' }
    return { kind: 'changed', commit: { path: plan.file, mode, content: merged.text, message: plan.message } }
  } catch (error) {
    if (!(error instanceof OverrideFileError)) throw error
    return { kind: 'refused', reason: `the override file ${plan.file}: ${error.message}` }
  }
}

/** The directory's shared overrides win over the source's own parameters, as the delivery controller reads them later. */
function inheritedBy(plan: WriteBackPlan, files: ReadonlyMap<string, FileRead>): readonly HelmParameter[] {
  const sharedFile = sharedFileOf(plan.file)
  const inherited = new Map(plan.sourceParameters.map((parameter) => [parameter.name, parameter]))
  const shared = sharedFile === plan.file ? undefined : files.get(sharedFile)
  if (shared?.kind !== 'file') return [...inherited.values()]
  for (const [name, parameter] of sharedParameters(sharedFile, shared)) inherited.set(name, { name, ...parameter })
  return [...inherited.values()]
}

function sharedParameters(file: string, read: FileRead) {
  try {
    return parametersOf(parseOverrideFile(textOf(read) ?? ''))
  } catch (cause) {
    if (!(cause instanceof OverrideFileError)) throw cause
    throw new OverrideFileError(`${file} beside it ${cause.message}`, { cause })
  }
}

function textOf(read: FileRead): string | undefined {
  if (read.kind !== 'file') return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(read.content)
  } catch (cause) {
    throw new OverrideFileError('is not UTF-8', { cause })
  }
}
