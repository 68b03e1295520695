import { ApiError } from './api-error.ts'

type Labels = Readonly<Record<string, string>>

/** Reads `a=b,c!=d,e,!f,g in (h,i)`; an issue is answered with 500, as the real server does. */
export function parseLabelSelector(text: string, context: string): (labels: Labels) => boolean {
  const requirements =
    text === '' ? [] : text.split(/,(?![^(]*\))/).map((part) => parseRequirement(part.trim(), context))
  return (labels) => requirements.every((matches) => matches(labels))
}

function parseRequirement(part: string, context: string): (labels: Labels) => boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(part)
  if (set) {
    const [, key = '', how, list = ''] = set
    const values = list.split(',').map((value) => value.trim())
    return (labels) => values.includes(labels[key] ?? '') === (how === 'in')
  }
  if (/===/.test(part)) {
    throw new ApiError(2, `${context}: unable to parse requirement: found '=', expected: identifier`)
  }
  const [, key = '', operator, value = ''] = /^([^!=]+)(==|=|!=)(.*)$/.exec(part) ?? []
  if (operator) return (labels) => (labels[key] === value) !== (operator === '!=')
  if (part.startsWith('!')) return (labels) => !Object.hasOwn(labels, part.slice(1))
  return (labels) => Object.hasOwn(labels, part)
}
