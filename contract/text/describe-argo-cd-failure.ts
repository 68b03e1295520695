import { argoCdFault } from './argo-cd-fault.ts'
import { parseRejection } from './parse-rejection.ts'
import { innermostErrors, plainWords } from './plain-words.ts'

/** The message that decided, without what Argo CD puts round it. */
export function describeArgoCdFailure(message: string): string {
  const rejected = parseRejection(message.replace(end, ''))
  if (rejected !== undefined && rejected.by !== 'other')
    return rejected.words.startsWith('by ') ? `rejected ${rejected.words}` : rejected.words
  const text = withoutFrame(message)
  if (argoCdFault(message) === 'repo_server') return `the repo server of Argo CD does not answer${networkError(text)}`
  for (const [pattern, words] of plainer) if (pattern.test(text)) return text.replace(pattern, words)
  // A chain of Go errors keeps its end; what tools print has its point in front.
  return /^failed /i.test(text) ? innermostErrors(text, 90) : text
}

const networkError = (text: string) => {
  const found = /connection refused|no such host|deadline exceeded|i\/o timeout|server misbehaving/.exec(text)?.[0]
  return found === undefined ? '' : `: ${found}`
}

const plainer: readonly (readonly [RegExp, string])[] = [
  [/^([A-Z]\w*)[\w.]* "([^"]*)" is invalid: (.*)$/, '$1 $2: $3'],
  [/^.*could not find (\S+) for requested resource.*$/, 'the cluster has no kind $1'],
  [/^failed to discover server resources for group version (\S+):.*$/, 'the cluster has no kind of $1'],
  [
    /^.* is forbidden: User "[^"]*" cannot (\w+) resource "([^"]*)".* in the namespace "([^"]*)".*$/,
    'Argo CD may not $1 $2 in the namespace $3',
  ],
  [/^.* is forbidden: User "[^"]*" cannot (\w+) resource "([^"]*)".*$/, 'Argo CD may not $1 $2'],
  [
    /^.*namespace '([^']+)' do not match any of the allowed destinations in project '([^']+)'.*$/,
    'AppProject $2 does not allow namespace $1 of this cluster',
  ],
  [/^.*unable to resolve '([^']*)' to a commit SHA.*$/, 'the repository has no branch, tag or commit $1'],
]

/** What stands round every such message, and says nothing of this one. */
const frame: readonly RegExp[] = [
  /^Failed last sync attempt to \[?[^\]:]*\]?: /,
  /^one or more objects failed to apply, reason: /,
  /^one or more synchronization tasks are not valid: /,
  /^Failed to load target state: /,
  /^failed to generate manifest for source \d+ of \d+: /,
  /^error when (?:patching|creating|replacing|applying) "[^"]*": /,
  /^Internal error occurred: (?=failed calling)/,
  /^failed to execute helm template command: /,
  /^failed running helm: `[^`]*` failed exit status \d+: (?:Error: )?/,
  /^`?kustomize build [^`]*`? failed exit status \d+: (?:Error: )?/,
  /^error getting app source type: /,
  /^error while parsing source parameters: (?:<path to cached source>\/)?/,
]
const end =
  /\.? (?:\(retried \d+ times\)|Retrying attempt #\d+ at \S+?|Use --debug flag to render out invalid YAML)\.?$/

function withoutFrame(message: string): string {
  const text = plainWords(message)
    .replace(end, '')
    .replace(/: Invalid value: .*: (?=[^:]*$)/, ': ')
    .replace(/ executing "[^"]*" at </, ' at <')
  const inner = frame.reduce((rest, pattern) => rest.replace(pattern, ''), text)
  return inner === text ? inner : withoutFrame(inner)
}
