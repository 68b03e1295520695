import type { Claim } from '../../server/deployments/task.ts'
import type { WriteBackPlan } from '../../server/write-back/plan/plan-write-back.ts'
import type { WriteBackOutcome } from '../../server/write-back/plan/write-back-outcome.ts'
import type { ExampleApplication } from './example-application.ts'
import type { ClockSide } from './history-clock.ts'
import type { HistoryGit } from './history-git.ts'
import type { TaskRecords, TaskRow } from './task-records.ts'

type WriteBackDeps = {
  readonly clock: ClockSide
  readonly git: HistoryGit
  readonly records: TaskRecords
  applicationOf(name: string): ExampleApplication
  tell(taskId: string, outcome: WriteBackOutcome): void
}

/** Commits tags to the repositories in memory, after the time that the script gives it. */
export function createMemoryWriteBack({ clock, git, records, applicationOf, tell }: WriteBackDeps) {
  const queued = new Set<string>()

  const push = (row: TaskRow, { app, entries }: WriteBackPlan): WriteBackOutcome => {
    const application = applicationOf(app)
    const tags = Object.fromEntries(entries.map(({ name, value }) => [name, value]))
    if (row.end !== undefined) return { kind: 'dropped' }
    if (row.script.push === 'is refused')
      return { kind: 'refused', cause: 'git_refused', reason: 'the Git host refuses the push' }
    const { repository } = application
    const wanted = { ...git.tagsOf(application), ...tags }
    if (git.holds(application, wanted))
      return { kind: 'unchanged', commit: git.head(repository), repository, branch: 'main' }
    return { kind: 'landed', commit: git.setTags(application, wanted), repository, branch: 'main' }
  }

  return {
    async queue(claim: Claim, plan: WriteBackPlan): Promise<boolean> {
      const row = records.rows.get(claim.taskId)
      if (row === undefined || !records.isHeld(claim) || row.end !== undefined) return false
      if (queued.has(row.id)) return true
      queued.add(row.id)
      clock.setTimer(row.script.pushDelayMs, () => {
        row.writeBackOutcome = push(row, plan)
        const outcome = row.writeBackOutcome
        clock.setTimer(40, () => tell(row.id, outcome))
      })
      return true
    },
  }
}
