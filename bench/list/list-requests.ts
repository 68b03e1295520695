import { renderTaskCursor } from '../../contract/task.ts'
import { appName, imageName, randomRank } from '../support/load-history.ts'

const below = (count: number) => Math.floor(Math.random() * count)
const secondsAgo = (days: number) => Math.floor(Date.now() / 1000 - days * 86_400)

const app = () => `app=${appName(randomRank())}`
const author = () => `author=author-${below(60)}`
const project = () => `project=project-${below(40)}`
const badStatuses = ['failed', 'aborted', 'cancelled', 'app%20not%20found']
const bad = () => `status=${badStatuses[below(badStatuses.length)]}`
const offset = () => `offset=${below(10_000)}`
const search = (part: string) => `search=${encodeURIComponent(part)}`
const hex = (characters: number) => crypto.randomUUID().replaceAll('-', '').slice(-characters)
const aWeek = () => {
  const from = below(350) + 8
  return `from_timestamp=${secondsAgo(from)}&to_timestamp=${secondsAgo(from - 7)}`
}
const randomMs = () => Date.now() - below(360 * 86_400_000)
/** The page behind some moment of the year, as one comes to it by many cursors. */
const deep = () => `cursor=${renderTaskCursor({ createdMs: randomMs(), id: crypto.randomUUID() })}`
const together =
  (...parts: (() => string)[]) =>
  () =>
    parts.map((part) => part()).join('&')

/** What is asked of the list, each time with other values; as often of an application as the history has it. */
export const listRequests: Readonly<Record<string, () => string>> = {
  'no filter': () => '',
  'no filter, cursor': deep,
  'no filter, offset': offset,
  app,
  'app, cursor': together(app, deep),
  'app, offset': together(app, offset),
  author,
  project,
  'status deployed': () => 'status=deployed',
  'status in progress': () => 'status=in%20progress',
  'status bad': bad,
  'a week': aWeek,
  'app, status bad': together(app, bad),
  'app, status deployed': together(app, () => 'status=deployed'),
  'app, a week': together(app, aWeek),
  'author, status bad': together(author, bad),
  'project, status bad': together(project, bad),
  'status bad, a week': together(bad, aWeek),
  'app, author': together(app, author),
  'app, author, status bad': together(app, author, bad),
  'project, author': together(project, author),
  'search application': () => search(appName(randomRank())),
  'search application, cursor': together(() => search(appName(randomRank())), deep),
  'search author': () => search(`author-${below(60)}`),
  'search image': () => search(imageName(randomRank())),
  'search image:tag': () => search(`${imageName(randomRank())}:v1.${below(1_000_000)}`),
  'search tag': () => search(`v1.${below(1_000_000)}`),
  'search registry': () => search('registry.example'),
  'search id or commit': () => search(hex(8)),
  'search absent': () => search(crypto.randomUUID()),
  'search 3 of an id': () => search(hex(3)),
  'search 2 of an id': () => search(hex(2)),
  'search image, part of tag': () => search(`${imageName(randomRank())}:v1`),
  'search part of old tags': () => search(`v1.${below(90) + 10}`),
  'search 2 absent': () => search('zq'),
  'app, search tag': together(app, () => search(`v1.${below(1_000)}`)),
  'status bad, search application': together(bad, () => search(appName(randomRank()))),
}

/** What is asked of many tasks at once. */
export const overviewRequests: Readonly<Record<string, () => string>> = {
  // A window that was not requested lately is not in memory.
  'summary of 20 to 39 days': () => `apps/summary?days=${20 + below(20)}`,
  counts: () => 'tasks/counts',
  'counts, app': () => `tasks/counts?${app()}`,
  'counts, project': () => `tasks/counts?${project()}`,
  'counts, author': () => `tasks/counts?${author()}`,
  'counts, search application': () => `tasks/counts?${search(appName(randomRank()))}`,
  'counts, search id or commit': () => `tasks/counts?${search(hex(8))}`,
  names: () => 'tasks/names?field=app',
  'names, search': () => `tasks/names?field=app&search=${below(500)}`,
  'names, search absent': () => 'tasks/names?field=author&search=zq',
  'history of 1 day': () => 'history?days=1',
  'history of 7 days': () => 'history?days=7',
  'history of 30 days': () => 'history?days=30',
  'history of 90 days': () => 'history?days=90&tz=Europe/Berlin',
  'history of 90 days, app': () => `history?days=90&${app()}`,
  'history of 90 days, project': () => `history?days=90&${project()}`,
}
