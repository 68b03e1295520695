import { type CiName, ciOf, type Variables } from '../input/ci-defaults.ts'

/** How a CI marks up its log. */
export type Markup = {
  readonly mask: (secret: string) => string
  readonly begin: (title: string) => string
  readonly end: () => string
  /** An annotation for the one failure that matters most. */
  readonly error: (title: string, message: string) => string
  /** Text on a line of its own, which the CI takes for nothing else. */
  readonly line: (text: string) => string
}

const none = () => ''

/** GitHub reads `##[`, Azure Pipelines `##vso[` anywhere in a line as a command, TeamCity `##teamcity[` at its beginning. */
const withoutMarks = (text: string) => text.replace(/##(?=\w*\[)/g, '## ')

const plainMarkup: Markup = { mask: none, begin: none, end: none, error: none, line: withoutMarks }

/** The runner reads `::` behind blanks as a command too. */
export const githubMarkup: Markup = {
  mask: (secret) => `::add-mask::${escapeData(secret)}`,
  begin: (title) => `::group::${escapeData(title)}`,
  end: () => '::endgroup::',
  error: (title, message) => `::error title=${escapeProperty(title)}::${escapeData(message)}`,
  line(text) {
    const harmless = withoutMarks(text)
    return /^\s*::/.test(harmless) ? `| ${harmless}` : harmless
  },
}

const escapeData = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const escapeProperty = (text: string) => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

const section = 'deployment_watcher'

/** https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections */
const gitlabMarkup = (now: () => number): Markup => {
  const mark = (kind: string, text: string) => `\x1b[0K${kind}:${Math.floor(now())}:${section}\r\x1b[0K${text}`
  return { ...plainMarkup, begin: (title) => mark('section_start', title), end: () => mark('section_end', '') }
}

export function markupOf(ci: CiName | undefined): Markup {
  if (ci === 'github') return githubMarkup
  return ci === 'gitlab' ? gitlabMarkup(() => Date.now() / 1_000) : plainMarkup
}

/** A text outside the progress and the reports, which may hold words of others: the CI takes no line of it for a command. */
export const harmless = (text: string, variables: Variables): string =>
  text
    .split(/\r\n?|\n/)
    .map(markupOf(ciOf(variables)).line)
    .join('\n')
