import type { Outcome } from '../../cli/follow/outcome.ts'
import { reportOf } from '../../cli/output/report.ts'
import { spanOf, titleOf } from '../../cli/output/words.ts'
import type { TaskRecord } from '../../contract/task.ts'
import type { TaskEvent } from '../../contract/task-event.ts'
import {
  boundedLine,
  renderBlame,
  renderImpact,
  renderRole,
  renderSentence,
} from '../../contract/text/render-diagnosis.ts'
import { idOf, worstFirst } from '../outputs.ts'
import { gateTable } from './gate-table.ts'
import { escapeMarkdown, linkTo } from './markdown.ts'

/** GitHub takes 1 MiB of a step; what follows are deployments that went better. */
const maxDeployments = 20

type Told = {
  readonly events: readonly TaskEvent[]
  readonly pageOf: (id: string) => string
}

/** The summary of a job, in Markdown: a section for each deployment, what went worst first. */
export function renderSummary(outcomes: readonly Outcome[], told: Told): string {
  if (outcomes.length === 0) return renderRefusal('interrupted before anything was submitted')
  const sections = worstFirst(outcomes)
    .slice(0, maxDeployments)
    .map((outcome) => sectionOf(outcome, told))
  const more = outcomes.length - sections.length
  return [...sections, ...(more > 0 ? [`And ${more} more.`] : [])].join('\n\n')
}

/** Of a run that deployed nothing. */
export const renderRefusal = (message: string): string => `### Not deployed\n\nReason: ${escapeMarkdown(message)}`

function sectionOf(outcome: Outcome, { events, pageOf }: Told): string {
  const { heading, points, table, links } = partsOf(outcome, events)
  const id = idOf(outcome)
  const details = id === undefined ? [] : [linkTo('Details', pageOf(id))]
  return [
    `### ${escapeMarkdown(heading)}`,
    points.map((point) => `- ${escapeMarkdown(boundedLine(point))}`).join('\n'),
    table.join('\n'),
    [...details, ...links].filter((link) => link !== '').join(' · '),
  ]
    .filter((block) => block !== '')
    .join('\n\n')
}

/** The heading and the points hold texts of others; the table and the links are Markdown. */
type Parts = Readonly<Record<'points' | 'table' | 'links', readonly string[]>> & { readonly heading: string }

function partsOf(outcome: Outcome, events: readonly TaskEvent[]): Parts {
  switch (outcome.kind) {
    case 'ended': {
      const { task } = outcome
      return {
        heading: `${titleOf(task)}: ${task.status} after ${spanOf(task.updated - task.created)}`,
        points: pointsOf(task),
        table: gateTable(
          task,
          events.filter(({ task_id: id }) => id === task.id),
        ),
        links: (task.diagnosis?.links ?? []).map(({ url }) => linkTo('Application', url)),
      }
    }
    case 'submitted':
      return { heading: `${outcome.app}: submitted`, points: [], table: [], links: [] }
    case 'interrupted':
      return { heading: `${outcome.app}: interrupted before its verdict`, points: [], table: [], links: [] }
    case 'rejected':
    case 'gave_up': {
      const { title, lines } = reportOf(outcome, () => '')
      const app = outcome.kind === 'rejected' ? outcome.app : (outcome.task?.app ?? 'a task')
      return { heading: `${app}: ${title}`, points: lines.slice(0, 2), table: [], links: [] }
    }
  }
}

function pointsOf(task: TaskRecord): readonly string[] {
  const { status, cause, diagnosis, status_reason: reason = '', similar_apps: similar = [] } = task
  if (diagnosis === undefined) return reason === '' ? [] : [`Reason: ${reason.split('\n')[0]}`]
  const impact = status === 'deployed' ? '' : renderImpact(diagnosis.impact, cause)
  const points = [
    labelled('Reason: ', renderSentence(status, diagnosis, task.updated)),
    status === 'deployed' ? '' : renderBlame(diagnosis),
    labelled('Impact: ', impact),
    labelled('Similar names: ', similar.join(', ')),
    ...diagnosis.next_steps.map(({ actor, text }) => `Next step (${renderRole(actor)}): ${text}`),
  ]
  return points.filter((point) => point !== '')
}

const labelled = (label: string, text: string) => (text === '' ? '' : label + text)
