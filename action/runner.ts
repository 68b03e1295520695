import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import type { Variables } from '../cli/input/ci-defaults.ts'
import { githubMarkup } from '../cli/output/markup.ts'
import type { Run } from '../cli/run.ts'
import { oneLine } from '../contract/fields.ts'

type Environment = Pick<Run, 'variables' | 'stdout'>

/**
 * Tells the runner what a step has to say, by the files that it names and by commands in the log.
 * Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function createRunner({ variables, stdout }: Environment) {
  /** What a runner has no file for is left out. */
  const append = (variable: string, text: string) => {
    const file = variables[variable]
    if (file) appendFileSync(file, text)
  }
  /** No value can hold the end of its own block. */
  const appendValue = (variable: string, name: string, value: string) => {
    const end = `end_${randomUUID()}`
    append(variable, `${name}<<${end}\n${value}\n${end}\n`)
  }
  const say = (text: string) => void stdout.write(`${githubMarkup.line(oneLine(text))}\n`)
  return {
    say,
    setOutput: (name: string, value: string) => appendValue('GITHUB_OUTPUT', name, value),
    /** Ids of tasks that a cancelled job leaves behind, for {@link tasksLeft} in `post`. The last call counts. */
    leaveTasks: (ids: readonly string[]) => appendValue('GITHUB_STATE', leftTasks, ids.join(',')),
    /** Marks the step, so that the same program knows `post`. */
    begin: () => appendValue('GITHUB_STATE', begun, 'true'),
    summarize: (markdown: string) => append('GITHUB_STEP_SUMMARY', `${markdown}\n`),
    /** Says why the step fails, as an annotation too. */
    fail(title: string, message: string): void {
      say(message)
      stdout.write(`${githubMarkup.error(title, oneLine(message))}\n`)
    },
  }
}

const begun = 'begun'
const leftTasks = 'tasks'

/** What a step keeps with GITHUB_STATE comes back in these variables. */
const stateOf = (variables: Variables, name: string) => variables[`STATE_${name}`] ?? ''

export const isPost = (variables: Variables): boolean => stateOf(variables, begun) !== ''

export const tasksLeft = (variables: Variables): readonly string[] =>
  stateOf(variables, leftTasks)
    .split(',')
    .filter((id) => id !== '')
