import { severityOf } from '../cli/exit.ts'
import type { Outcome } from '../cli/follow/outcome.ts'
import { reportOf } from '../cli/output/report.ts'
import { exitCodes } from '../contract/exit-codes.ts'
import { oneLine } from '../contract/fields.ts'
import type { TaskRecord } from '../contract/task.ts'

type PageOf = (id: string) => string

/** The outputs of action.yml; empty where nothing is known. */
export type Outputs = Readonly<Record<'task-ids' | 'status' | 'cause' | 'url' | 'commit' | 'duration-seconds', string>>

const names = new Map<number, string>(Object.entries(exitCodes).map(([name, code]) => [code, name]))

/** The outcome that an exit code stands for, in words: `app not found`. */
export const nameOfExit = (code: number): string => (names.get(code) ?? String(code)).replaceAll('_', ' ')

/** The task, as far as it was read. */
const taskOf = (outcome: Outcome): TaskRecord | undefined => ('task' in outcome ? outcome.task : undefined)

export const idOf = (outcome: Outcome): string | undefined => (outcome.kind === 'ended' ? outcome.task.id : outcome.id)

const exitOf = (outcome: Outcome) => reportOf(outcome, () => '').exitCode

/** What went worst comes first. */
export const worstFirst = (outcomes: readonly Outcome[]): readonly Outcome[] =>
  outcomes.toSorted((one, other) => severityOf(exitOf(one)) - severityOf(exitOf(other)))

/** What later steps may ask; `exitCode` is that of the whole run. */
export function outputsOf(outcomes: readonly Outcome[], exitCode: number, pageOf: PageOf): Outputs {
  const [worst] = worstFirst(outcomes)
  const task = worst && taskOf(worst)
  const id = worst && idOf(worst)
  const ids = outcomes.map(idOf).filter((one) => one !== undefined)
  return {
    'task-ids': ids.join('\n'),
    status: nameOfExit(exitCode),
    cause: oneLine(task?.cause ?? ''),
    url: id === undefined ? '' : pageOf(id),
    commit: oneLine(task?.commit ?? ''),
    'duration-seconds': durationOf(outcomes),
  }
}

function durationOf(outcomes: readonly Outcome[]): string {
  const tasks = outcomes.map(taskOf).filter((task) => task !== undefined)
  if (tasks.length === 0) return ''
  const begun = Math.min(...tasks.map(({ created }) => created))
  const ended = Math.max(...tasks.map(({ updated }) => updated))
  return String(Math.round((ended - begun) * 10) / 10)
}
