/**
 * Whether a request's Accept header names `text/event-stream` (RFC 9110, section 12.5.1), with no less weight than JSON
 * has, by its own name or by a wildcard.
 */
export function acceptsEventStream(accept = ''): boolean {
  const ranges = new Map(accept.split(',').map(weighed))
  const stream = ranges.get('text/event-stream') ?? 0
  const json = ranges.get('application/json') ?? ranges.get('application/*') ?? ranges.get('*/*') ?? 0
  return stream > 0 && stream >= json
}

function weighed(range: string): readonly [type: string, weight: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return [type, weight === undefined ? 1 : Number(weight.slice('q='.length))]
}
