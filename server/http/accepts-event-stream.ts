/** Whether a request's Accept header asks for `text/event-stream` (RFC 9110, section 12.5.1), and not with a weight of 0. */
export function acceptsEventStream(accept = ''): boolean {
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
