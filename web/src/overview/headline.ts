import type { History } from '../../../contract/history.ts'
import { duration } from '../ui/duration.ts'
import { figure } from '../ui/figure.ts'

const words = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten']
const counted = (count: number): string => words[count] ?? figure(count)

export type Headline = {
  /** Said in the colour of a failure. */
  readonly bad: string | undefined
  readonly rest: string
}

/** What is wrong, then what happens; one sentence each, with counts up to ten in words. */
export function headlineOf(attention: number, rollingOut: number, applications: number): Headline {
  const rolls = rollingOut === 1 ? 'One is rolling out.' : `${counted(rollingOut)} are rolling out.`
  if (attention > 0) {
    const bad =
      attention === 1 ? 'One application needs attention.' : `${counted(attention)} applications need attention.`
    return { bad, rest: rollingOut === 0 ? 'Nothing is rolling out.' : rolls }
  }
  const well =
    applications === 0
      ? 'No deployment yet.'
      : applications === 1
        ? 'The application is well.'
        : `All ${figure(applications)} applications are well.`
  return { bad: undefined, rest: `${well} ${rollingOut === 0 ? 'Nothing is rolling out.' : rolls}` }
}

/** For the title of the document: what matters first. */
export function titleOf(attention: number, rollingOut: number): string {
  if (attention > 0) return `✕ ${attention} · Overview`
  return rollingOut > 0 ? `${rollingOut} rolling out · Overview` : 'Overview'
}

/** "38 deployed today. Median 1 min 42 s, 11 s faster than yesterday." */
export function todaySentence({ total, before }: Pick<History, 'total' | 'before'>): string {
  const deployed = `${(total.counts.deployed ?? 0).toLocaleString('en')} deployed today.`
  if (total.durations === undefined) return deployed
  const median = `Median ${duration(total.durations.median_seconds)}`
  if (before.durations === undefined) return `${deployed} ${median}.`
  const faster = Math.round(before.durations.median_seconds) - Math.round(total.durations.median_seconds)
  const beside =
    faster === 0 ? 'as yesterday' : `${duration(Math.abs(faster))} ${faster > 0 ? 'faster' : 'slower'} than yesterday`
  return `${deployed} ${median}, ${beside}.`
}
