import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { taskTrailer } from '../../server/write-back/plan/commit-message.ts'
import { runGit } from '../../simulator/git-host/run-git.ts'

type Expected = {
  /** The tip before the run. */
  readonly since: string
  /** The override file of every task that was told that its commit landed, by task. */
  readonly landed: ReadonlyMap<string, string>
  readonly foreign: readonly string[]
}

type LoggedCommit = { readonly sha: string; readonly tasks: readonly string[]; readonly files: readonly string[] }

/** What the Git host itself says after a run. */
export async function verifyRepository(directory: string, { since, landed, foreign }: Expected): Promise<string[]> {
  const commits = await commitsSince(directory, since)
  const known = new Set(foreign)
  const ours = commits.filter(({ tasks }) => tasks.length > 0)
  const byTask = Map.groupBy(
    ours.flatMap((commit) => commit.tasks.map((task) => ({ task, commit }))),
    ({ task }) => task,
  )
  const present = new Set(commits.map(({ sha }) => sha))
  return [
    ...(await fsck(directory)),
    ...[...landed.keys()].filter((task) => !byTask.has(task)).map((task) => `no commit of task ${task}`),
    ...[...byTask].flatMap(([task, found]) => (found.length > 1 ? [`${found.length} commits of task ${task}`] : [])),
    ...[...byTask.keys()].filter((task) => !landed.has(task)).map((task) => `a commit of ${task}, which was told none`),
    ...ours
      .filter(({ tasks, files }) => tasks.length !== 1 || files.length !== 1 || files[0] !== landed.get(tasks[0] ?? ''))
      .map(({ sha, files }) => `${sha} changes ${files.join(', ')}`),
    ...commits.filter(({ sha, tasks }) => tasks.length === 0 && !known.has(sha)).map(({ sha }) => `${sha} of nobody`),
    ...foreign.filter((sha) => !present.has(sha)).map((sha) => `the foreign commit ${sha} is gone`),
    ...(await movesBack(directory)),
  ]
}

export const tipOf = async (directory: string) => (await runGit(directory, ['rev-parse', 'refs/heads/main'])).trim()

/** Oldest first. */
export async function commitsSince(directory: string, since: string): Promise<readonly LoggedCommit[]> {
  const format = `--format=%x01%H%x02%(trailers:key=${taskTrailer},valueonly,separator=%x20)%x02`
  const log = await runGit(directory, ['log', '--reverse', '--name-only', format, `${since}..refs/heads/main`])
  return log
    .split('\x01')
    .slice(1)
    .map((entry) => {
      const [sha = '', tasks = '', files = ''] = entry.split('\x02')
      return { sha, tasks: wordsOf(tasks), files: wordsOf(files) }
    })
}

/** How often the branch was moved by a push, since the repository was made. */
export async function pushesTo(directory: string): Promise<number> {
  return (await readMoves(directory)).filter(({ by }) => by.startsWith('push')).length
}

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== '')

async function fsck(directory: string): Promise<string[]> {
  return runGit(directory, ['fsck', '--strict', '--no-dangling', '--no-progress']).then(
    () => [],
    (error: unknown) => [String(error).slice(0, 300)],
  )
}

/** Every commit is on one line, so a move forwards is one to a later commit. */
async function movesBack(directory: string): Promise<string[]> {
  const line = (await runGit(directory, ['rev-list', '--reverse', 'refs/heads/main'])).split('\n')
  const place = new Map(line.map((sha, at) => [sha, at]))
  return (await readMoves(directory)).flatMap(({ from, to }) =>
    (place.get(from) ?? -1) < (place.get(to) ?? -1) ? [] : [`main moved from ${from} to ${to}`],
  )
}

async function readMoves(directory: string) {
  const log = await readFile(path.join(directory, 'logs', 'refs', 'heads', 'main'), 'utf8').catch(() => '')
  return log.split('\n').flatMap((entry) => {
    const [head = '', by = ''] = entry.split('\t')
    const [from = '', to = ''] = head.split(' ')
    return to === '' || /^0+$/.test(from) ? [] : [{ from, to, by }]
  })
}
